"""Raw upset rates of technologies, read from the data file with their sources."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from stats.errors import StatsError
from stats.units import RawRate, raw_rate

STATUSES = ("measured", "modelled", "assumed")
SRAM_QUANTITIES = ("sram_neutron", "sram_alpha")
_QUANTITIES = (*SRAM_QUANTITIES, "flip_flop", "multi_cell_bits")


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure of a technology.

    Attributes:
        quantity: `sram_neutron`, `sram_alpha`, `flip_flop` (raw rates) or `multi_cell_bits`.
        value: In `unit`.
        unit: As `stats.units.raw_rate` names it, or `bits`.
        status: `measured`, `modelled` or `assumed`.
        source: Citation.
    """

    quantity: str
    value: float
    unit: str
    status: str
    source: str

    @property
    def rate(self) -> RawRate:
        """The figure as a typed raw rate; StatsError if it is none."""
        return raw_rate(self.value, self.unit)


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
    entries: tuple[Entry, ...]

    def fit_per_bit(self, kind: str) -> float:
        """Return the raw rate of one bit in FIT; `kind` is `ff` or `sram`.

        Raises:
            StatsError: the technology has no figure for that kind, or there is no such kind.
        """
        wanted = {"ff": ("flip_flop",), "sram": SRAM_QUANTITIES}.get(kind)
        if wanted is None:
            raise StatsError(f"storage is of kind 'ff' or 'sram', found {kind!r}")
        found = [e.rate.per_bit for e in self.entries if e.quantity in wanted]
        if not found:
            key = "flip_flop_fit" if kind == "ff" else "sram_fit_per_mbit"
            raise StatsError(
                f"technology {self.name} has no raw rate for kind {kind}: "
                f"give {key} in the campaign's [technology] table"
            )
        return sum(found)

    def with_overrides(
        self,
        flip_flop_fit: float | None = None,
        sram_fit_per_mbit: float | None = None,
        source: str = "given by the user",
    ) -> Technology:
        """Return the technology with figures of the user's own in place of the data file's.

        Args:
            flip_flop_fit: FIT of one flip-flop; None keeps the figure.
            sram_fit_per_mbit: FIT of 10^6 SRAM bits from all causes; None keeps the figures.
            source: Where they come from.

        Raises:
            StatsError: a rate is negative or not finite.
        """
        entries = self.entries
        if flip_flop_fit is not None:
            own = Entry("flip_flop", flip_flop_fit, "FIT/flip-flop", "assumed", source)
            entries = (*(e for e in entries if e.quantity != own.quantity), own)
        if sram_fit_per_mbit is not None:
            own = Entry("sram_neutron", sram_fit_per_mbit, "FIT/Mbit", "assumed", f"{source}, all causes")
            entries = (*(e for e in entries if e.quantity not in SRAM_QUANTITIES), own)
        for entry in entries:
            if entry.quantity != "multi_cell_bits":
                raw_rate(entry.value, entry.unit)
        return replace(self, entries=entries)

    def as_dict(self) -> dict[str, Any]:
        """Return name, node and entries as plain values, as `summary.json` holds them."""
        return {"name": self.name, "node": self.node, "entries": [asdict(e) for e in self.entries]}


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
        raise StatsError(f"no technology is named {name!r}: choose one of {', '.join(known)}")
    return known[name]


def load_technologies(file: Path | None = None) -> Mapping[str, Technology]:
    """Return all technologies of a data file by name, in the order of the file.

    Raises:
        StatsError: the file cannot be read, is not TOML, or an entry is wrong; the message names file and
            entry.
    """
    where = str(file) if file else "technology.toml of the package"
    try:
        text = file.read_text() if file else (files("stats") / "data" / "technology.toml").read_text()
        tables = tomllib.loads(text).get("technology", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StatsError(f"{where}: expected a readable TOML file, found: {error}") from error
    technologies: dict[str, Technology] = {}
    for table in tables:
        technology = _technology(table, where)
        if technology.name in technologies:
            raise StatsError(f"{where}: technology {technology.name} is there twice: rename one")
        technologies[technology.name] = technology
    if not technologies:
        raise StatsError(f"{where}: expected at least one [[technology]] table, found none")
    return technologies


def _technology(table: Mapping[str, Any], where: str) -> Technology:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise StatsError(f"{where}: every [[technology]] needs a name, found {name!r}")
    spot = f"{where}, technology {name}"
    _only(table, ("name", "node", "entry"), spot)
    entries = tuple(_entry(entry, spot) for entry in table["entry"])
    quantities = [e.quantity for e in entries]
    if len(set(quantities)) != len(quantities):
        raise StatsError(f"{spot}: each quantity may be there once, found {', '.join(quantities)}")
    return Technology(name, str(table["node"]), entries)


def _entry(table: Mapping[str, Any], spot: str) -> Entry:
    spot = f"{spot}, entry {table.get('quantity', '?')}"
    _only(table, ("quantity", "value", "unit", "status", "source"), spot)
    value = table["value"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise StatsError(f"{spot}: value needs to be a number, found {value!r}")
    unit, status, source = (str(table[key]) for key in ("unit", "status", "source"))
    entry = Entry(str(table["quantity"]), float(value), unit, status, source)
    if entry.quantity not in _QUANTITIES:
        raise StatsError(f"{spot}: quantity needs to be one of {', '.join(_QUANTITIES)}")
    if entry.status not in STATUSES:
        raise StatsError(f"{spot}: status needs to be one of {', '.join(STATUSES)}, found {entry.status!r}")
    if not entry.source.strip():
        raise StatsError(f"{spot}: a figure needs a source, found an empty one: cite where it comes from")
    try:
        if entry.quantity != "multi_cell_bits":
            raw_rate(entry.value, entry.unit)
    except StatsError as error:
        raise StatsError(f"{spot}: {error}") from error
    return entry


def _only(table: Mapping[str, Any], keys: tuple[str, ...], spot: str) -> None:
    missing, unknown = [k for k in keys if k not in table], sorted(set(table) - set(keys))
    if missing:
        raise StatsError(f"{spot}: missing {', '.join(missing)}: add it")
    if unknown:
        raise StatsError(f"{spot}: unknown key {', '.join(unknown)}: the keys are {', '.join(keys)}")
