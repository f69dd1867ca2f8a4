# SPDX-License-Identifier: Apache-2.0
"""Base rates of permanent faults, read from their data file with ranges and sources."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from resil.stats.errors import StatsError
from resil.stats.technology import STATUSES
from resil.stats.units import raw_rate

QUANTITIES = {"ff": "flip_flop", "macro": "flip_flop", "sram": "sram", "logic": "pin"}
_KEY_OF = {
    "flip_flop": "permanent_flip_flop_fit",
    "sram": "permanent_sram_fit_per_mbit",
    "pin": "permanent_logic_fit",
    "bridge": "permanent_bridge_fit",
}
_KEYS = ("quantity", "value", "low", "high", "unit", "status", "source")


@dataclass(frozen=True, slots=True)
class PermanentEntry:
    """The rate at which storage of one kind, or a pin of a cell, gets stuck, at either value.

    Attributes:
        quantity: `flip_flop`, `sram`, `pin` or `bridge`.
        value: In `unit`.
        low: What it may be at least, in `unit`.
        high: What it may be at most.
        unit: As `resil.stats.units.raw_rate` names it.
        status: `measured`, `modelled` or `assumed`.
        source: Citation.
    """

    quantity: str
    value: float
    low: float
    high: float
    unit: str
    status: str
    source: str


@dataclass(frozen=True, slots=True)
class PermanentRates:
    """A process with the base rates of its permanent faults.

    Attributes:
        name: As campaigns name the technology.
        node: For people.
        entries: All figures.
        logic: The quantity of faults in logic: "pin", or "bridge".
    """

    name: str
    node: str
    entries: tuple[PermanentEntry, ...]
    logic: str = "pin"

    def fit_per_bit(self, kind: str) -> float:
        """Return the rate at which one bit gets stuck, at 0 or at 1, in FIT; `kind` is one of `QUANTITIES`.

        Raises:
            StatsError: there is no figure for that kind, or no such kind.
        """
        return self._per_bit(kind)[1]

    def range_of(self, kind: str) -> tuple[float, float]:
        """Return the least and the largest that the rate of one bit may be, in FIT; StatsError likewise."""
        low, _, high = self._per_bit(kind)
        return low, high

    def status_of(self, kind: str) -> str:
        """Return the status of the figure of a kind of storage."""
        self.fit_per_bit(kind)
        return next(e.status for e in self.entries if e.quantity == self._quantity(kind))

    def _quantity(self, kind: str) -> str:
        return self.logic if kind == "logic" else QUANTITIES[kind]

    def with_overrides(
        self,
        flip_flop_fit: float | None = None,
        sram_fit_per_mbit: float | None = None,
        source: str = "given by the user",
        logic_fit: float | None = None,
    ) -> PermanentRates:
        """Return the rates with figures of the user's own, which have no range, in place of the data file's.

        Raises:
            StatsError: a rate is negative or not finite.
        """
        entries = self.entries
        for quantity, value, unit in (
            ("flip_flop", flip_flop_fit, "FIT/flip-flop"),
            ("sram", sram_fit_per_mbit, "FIT/Mbit"),
            ("pin", logic_fit, "FIT/pin"),
        ):
            if value is not None:
                raw_rate(value, unit)
                own = PermanentEntry(quantity, value, value, value, unit, "assumed", source)
                entries = (*(e for e in entries if e.quantity != quantity), own)
        return replace(self, entries=entries)

    def of_bridges(self, fit: float | None = None, source: str = "given by the user") -> PermanentRates:
        """Return the rates with that of a pair of nets in place of that of a pin.

        Args:
            fit: Of the user's own, or None for the data file's.
            source: Where that comes from.

        Raises:
            StatsError: The rate is negative or not finite.
        """
        own = [e for e in self.entries if e.quantity == "bridge"]
        if fit is not None:
            raw_rate(fit, "FIT/pair")
            own = [PermanentEntry("bridge", fit, fit, fit, "FIT/pair", "assumed", source)]
        kept = (e for e in self.entries if e.quantity not in ("pin", "bridge"))
        return replace(self, entries=(*kept, *own), logic="bridge")

    def of_pins(self) -> PermanentRates:
        """Return the rates without that of a pair of nets."""
        return replace(self, entries=tuple(e for e in self.entries if e.quantity != "bridge"), logic="pin")

    def _per_bit(self, kind: str) -> tuple[float, float, float]:
        if kind not in QUANTITIES:
            raise StatsError(f"storage is of kind {', '.join(QUANTITIES)}, found {kind!r}", "kind")
        for e in self.entries:
            if e.quantity == self._quantity(kind):
                low, value, high = (raw_rate(v, e.unit).per_bit for v in (e.low, e.value, e.high))
                return low, value, high
        key = _KEY_OF[self._quantity(kind)]
        raise StatsError(
            f"technology {self.name} has no rate of permanent faults for kind {kind}: give {key} in the "
            "campaign's [technology] table",
            key,
        )


def load_permanent(name: str, file: Path | None = None) -> PermanentRates:
    """Return the permanent rates of the technology of that name; none, if the file does not know it.

    A technology without figures is no error until a rate is asked of it: a campaign can give its own.

    Args:
        name: As in `resil.stats.technology`.
        file: Another data file than the package's.

    Raises:
        StatsError: the file cannot be read, is not TOML, or an entry is wrong; the message names both.

    Examples:
        >>> load_permanent("finfet-16nm").fit_per_bit("ff")
        8.16e-05
    """
    where = str(file) if file else "permanent.toml of the package"
    try:
        text = file.read_text() if file else (files("resil.stats") / "data" / "permanent.toml").read_text()
        tables = tomllib.loads(text).get("technology", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StatsError(f"{where}: expected a readable TOML file, found: {error}", "file") from error
    for table in tables:
        spot = f"{where}, technology {table.get('name', '?')}"
        _only(table, ("name", "node", "entry"), spot)
        entries = tuple(_entry(entry, spot) for entry in table["entry"])
        if len({e.quantity for e in entries}) != len(entries):
            raise StatsError(f"{spot}: each quantity may be there once: remove one", "quantity")
        if table["name"] == name:
            return PermanentRates(name, str(table["node"]), entries)
    return PermanentRates(name, "", ())


def _entry(table: Mapping[str, Any], spot: str) -> PermanentEntry:
    spot = f"{spot}, entry {table.get('quantity', '?')}"
    _only(table, _KEYS, spot)
    numbers = [table[key] for key in ("low", "value", "high")]
    if any(isinstance(n, bool) or not isinstance(n, int | float) for n in numbers):
        raise StatsError(f"{spot}: low, value and high need to be numbers, found {numbers}", "value")
    if sorted(numbers) != numbers:
        raise StatsError(f"{spot}: expected low <= value <= high, found {numbers}: correct them", "value")
    if table["quantity"] not in _KEY_OF:
        raise StatsError(f"{spot}: quantity needs to be one of {', '.join(_KEY_OF)}", "quantity")
    if table["status"] not in STATUSES:
        raise StatsError(
            f"{spot}: status needs to be one of {', '.join(STATUSES)}, found {table['status']!r}",
            "status",
        )
    if not str(table["source"]).strip():
        raise StatsError(
            f"{spot}: a figure needs a source, found an empty one: cite where it comes from", "source"
        )
    try:
        for number in numbers:
            raw_rate(number, str(table["unit"]))
    except StatsError as error:
        raise StatsError(f"{spot}: {error}", error.field) from error
    return PermanentEntry(**{key: table[key] for key in _KEYS})


def _only(table: Mapping[str, Any], keys: tuple[str, ...], spot: str) -> None:
    missing, unknown = [k for k in keys if k not in table], sorted(set(table) - set(keys))
    if missing:
        raise StatsError(f"{spot}: missing {', '.join(missing)}: add it", missing[0])
    if unknown:
        raise StatsError(
            f"{spot}: unknown key {', '.join(unknown)}: the keys are {', '.join(keys)}", unknown[0]
        )
