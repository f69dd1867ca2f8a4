# SPDX-License-Identifier: Apache-2.0
"""Raw upset rates of technologies, read from the data file with their sources."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from resil.stats.errors import StatsError
from resil.stats.units import RawRate, raw_rate

STATUSES = ("measured", "modelled", "assumed")
SRAM_QUANTITIES = ("sram_neutron", "sram_alpha")
KINDS = ("ff", "macro", "sram", "weights", "activations")
# Flip-flops inside a memory macro have the rate of other flip-flops: no figures of their own are known.
# Memory outside the design is taken for SRAM of the same technology, for want of figures of its own.
_QUANTITIES_OF = {
    "ff": ("flip_flop",),
    "macro": ("flip_flop",),
    "sram": SRAM_QUANTITIES,
    "weights": SRAM_QUANTITIES,
    "activations": SRAM_QUANTITIES,
}
_QUANTITIES = (*SRAM_QUANTITIES, "flip_flop", "multi_cell_bits")


@dataclass(frozen=True, slots=True)
class TechnologyFigure:
    """One figure of a technology.

    Attributes:
        quantity: `sram_neutron`, `sram_alpha`, `flip_flop` (raw rates) or `multi_cell_bits`.
        value: In `unit`.
        unit: As `resil.stats.units.raw_rate` names it, or `bits`.
        status: `measured`, `modelled` or `assumed`.
        source: Citation.
        low: Lower end of what the figure may be, in `unit`; None where no range is known.
        high: Its upper end.
    """

    quantity: str
    value: float
    unit: str
    status: str
    source: str
    low: float | None = None
    high: float | None = None

    @property
    def rate(self) -> RawRate:
        """The figure as a typed raw rate; StatsError if it is none."""
        return raw_rate(self.value, self.unit)


class RateEntry(Protocol):
    """One figure of a technology: a rate with its range, unit, status and source."""

    @property
    def quantity(self) -> str:
        """What it is the figure of."""
        ...

    @property
    def value(self) -> float:
        """In `unit`."""
        ...

    @property
    def low(self) -> float | None:
        """Lower end of what it may be; None where no range is known."""
        ...

    @property
    def high(self) -> float | None:
        """Its upper end."""
        ...

    @property
    def unit(self) -> str:
        """As `resil.stats.units.raw_rate` names it, or `bits`."""
        ...

    @property
    def status(self) -> str:
        """`measured`, `modelled` or `assumed`."""
        ...

    @property
    def source(self) -> str:
        """Citation."""
        ...


class RawRates(Protocol):
    """How often a fault of one kind strikes a storage bit: upsets, or permanent faults."""

    @property
    def name(self) -> str:
        """As campaigns name the technology."""
        ...

    @property
    def node(self) -> str:
        """For people."""
        ...

    def fit_per_bit(self, kind: str) -> float:
        """Return the raw rate of one bit in FIT; `kind` is `ff`, `macro` or `sram`."""
        ...

    def range_of(self, kind: str) -> tuple[float, float]:
        """Return the lowest and highest raw rate of one bit in FIT, as far as ranges are known."""
        ...

    def status_of(self, kind: str) -> str:
        """Return the weakest status among the figures of a kind of storage."""
        ...

    @property
    def entries(self) -> Sequence[RateEntry]:
        """All figures."""
        ...


@dataclass(frozen=True, slots=True)
class Technology:
    """A process with its raw upset rates.

    Attributes:
        name: As campaigns name it.
        node: For people.
        entries: All figures.
    """

    name: str
    node: str
    entries: tuple[TechnologyFigure, ...]

    def fit_per_bit(self, kind: str) -> float:
        """Return the raw rate of one bit in FIT; `kind` is one of `KINDS`.

        Raises:
            StatsError: the technology has no figure for that kind, or there is no such kind.
        """
        wanted = _QUANTITIES_OF.get(kind)
        if wanted is None:
            raise StatsError(f"storage is of kind {', '.join(KINDS)}, found {kind!r}", "kind")
        found = [e.rate.per_bit for e in self.entries if e.quantity in wanted]
        if not found:
            key = "flip_flop_fit" if kind in ("ff", "macro") else "sram_fit_per_mbit"
            raise StatsError(
                f"technology {self.name} has no raw rate for kind {kind}: "
                f"give {key} in the campaign's [technology] table",
                key,
            )
        return sum(found)

    def range_of(self, kind: str) -> tuple[float, float]:
        """Return the lowest and highest raw rate of one bit in FIT, as far as ranges are known.

        Raises:
            StatsError: as `fit_per_bit`.

        Examples:
            >>> lo, hi = load_technology("finfet-16nm").range_of("ff")
            >>> lo < load_technology("finfet-16nm").fit_per_bit("ff") < hi
            True
        """
        self.fit_per_bit(kind)
        found = [e for e in self.entries if e.quantity in _QUANTITIES_OF[kind]]
        low, high = (
            sum(raw_rate(e.value if end is None else end, e.unit).per_bit for e, end in ends)
            for ends in ([(e, e.low) for e in found], [(e, e.high) for e in found])
        )
        return low, high

    def status_of(self, kind: str) -> str:
        """Return the weakest status among the figures of a kind of storage, "assumed" being the weakest."""
        found = (e.status for e in self.entries if e.quantity in _QUANTITIES_OF[kind])
        return max(found, key=STATUSES.index)

    def with_overrides(
        self,
        flip_flop_fit: float | None = None,
        sram_fit_per_mbit: float | None = None,
        source: str = "given by the user",
        flip_flop_range: tuple[float, float] | None = None,
        sram_range: tuple[float, float] | None = None,
    ) -> Technology:
        """Return the technology with figures of the user's own in place of the data file's.

        Args:
            flip_flop_fit: FIT of one flip-flop; None keeps the figure.
            sram_fit_per_mbit: FIT of 10^6 SRAM bits from all causes; None keeps the figures.
            source: Where they come from.
            flip_flop_range: Lowest and highest FIT of one flip-flop.
            sram_range: Lowest and highest FIT of 10^6 SRAM bits.

        Raises:
            StatsError: a rate is negative or not finite.
        """
        entries = self.entries
        if flip_flop_fit is not None:
            ends = flip_flop_range or (None, None)
            own = TechnologyFigure("flip_flop", flip_flop_fit, "FIT/flip-flop", "assumed", source, *ends)
            entries = (*(e for e in entries if e.quantity != own.quantity), own)
        if sram_fit_per_mbit is not None:
            ends = sram_range or (None, None)
            own = TechnologyFigure(
                "sram_neutron", sram_fit_per_mbit, "FIT/Mbit", "assumed", f"{source}, all causes", *ends
            )
            entries = (*(e for e in entries if e.quantity not in SRAM_QUANTITIES), own)
        for entry in entries:
            if entry.quantity != "multi_cell_bits":
                raw_rate(entry.value, entry.unit)
        return replace(self, entries=entries)


def load_technology(name: str, file: Path | None = None) -> Technology:
    """Return the technology of that name.

    Args:
        name: As in the data file.
        file: A data file of the user's own; None for the one of the package.

    Raises:
        StatsError: no such technology (the message lists them), or the file cannot be read or is wrong.

    Examples:
        >>> round(1e6 * load_technology("finfet-16nm").fit_per_bit("sram"), 6)
        20.2
    """
    known = load_technologies(file)
    if name not in known:
        raise StatsError(f"no technology is named {name!r}: choose one of {', '.join(known)}", "name")
    return known[name]


def load_technologies(file: Path | None = None) -> Mapping[str, Technology]:
    """Return all technologies of a data file by name, in the order of the file.

    Raises:
        StatsError: the file cannot be read, is not TOML, or an entry is wrong; the message names file and
            entry.
    """
    where = str(file) if file else "technology.toml of the package"
    try:
        text = file.read_text() if file else (files("resil.stats") / "data" / "technology.toml").read_text()
        tables = tomllib.loads(text).get("technology", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StatsError(f"{where}: expected a readable TOML file, found: {error}", "file") from error
    technologies: dict[str, Technology] = {}
    for table in tables:
        technology = _technology(table, where)
        if technology.name in technologies:
            raise StatsError(f"{where}: technology {technology.name} is there twice: rename one", "name")
        technologies[technology.name] = technology
    if not technologies:
        raise StatsError(f"{where}: expected at least one [[technology]] table, found none", "technology")
    return technologies


def _technology(table: Mapping[str, Any], where: str) -> Technology:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise StatsError(f"{where}: every [[technology]] needs a name, found {name!r}", "name")
    spot = f"{where}, technology {name}"
    _only(table, ("name", "node", "entry"), spot)
    entries = tuple(_entry(entry, spot) for entry in table["entry"])
    quantities = [e.quantity for e in entries]
    if len(set(quantities)) != len(quantities):
        raise StatsError(
            f"{spot}: each quantity may be there once, found {', '.join(quantities)}", "quantity"
        )
    return Technology(name, str(table["node"]), entries)


def _entry(table: Mapping[str, Any], spot: str) -> TechnologyFigure:
    spot = f"{spot}, entry {table.get('quantity', '?')}"
    _only(table, ("quantity", "value", "unit", "status", "source"), spot, ("low", "high"))
    value, low, high = (_number(table, key, spot) for key in ("value", "low", "high"))
    assert value is not None
    if (low is None) != (high is None) or (low is not None and not low <= value <= (high or 0.0)):
        raise StatsError(
            f"{spot}: low <= value <= high, or neither, are needed, found {low}, {value}, {high}",
            "value",
        )
    unit, status, source = (str(table[key]) for key in ("unit", "status", "source"))
    entry = TechnologyFigure(str(table["quantity"]), value, unit, status, source, low, high)
    if entry.quantity not in _QUANTITIES:
        raise StatsError(f"{spot}: quantity needs to be one of {', '.join(_QUANTITIES)}", "quantity")
    if entry.status not in STATUSES:
        raise StatsError(
            f"{spot}: status needs to be one of {', '.join(STATUSES)}, found {entry.status!r}", "status"
        )
    if not entry.source.strip():
        raise StatsError(
            f"{spot}: a figure needs a source, found an empty one: cite where it comes from", "source"
        )
    try:
        if entry.quantity != "multi_cell_bits":
            raw_rate(entry.value, entry.unit)
    except StatsError as error:
        raise StatsError(f"{spot}: {error}", error.field) from error
    return entry


def _number(table: Mapping[str, Any], key: str, spot: str) -> float | None:
    value = table.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise StatsError(f"{spot}: {key} needs to be a number, found {value!r}", key)
    return None if value is None else float(value)


def _only(table: Mapping[str, Any], keys: tuple[str, ...], spot: str, optional: tuple[str, ...] = ()) -> None:
    missing, unknown = [k for k in keys if k not in table], sorted(set(table) - {*keys, *optional})
    if missing:
        raise StatsError(f"{spot}: missing {', '.join(missing)}: add it", missing[0])
    if unknown:
        raise StatsError(
            f"{spot}: unknown key {', '.join(unknown)}: the keys are {', '.join(keys)}", unknown[0]
        )
