# SPDX-License-Identifier: Apache-2.0
"""Protection options and cell areas, read and checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from resil.errors import ResilError
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.toml_file import parse_toml, read_toml

KINDS = ("ff", "macro", "sram")
CELL_KINDS = ("ff", "sram")
STATUSES = ("measured", "modelled", "assumed")
_TURNS_INTO = ("due", "corrected")
# Where an option is offered: to the storage of a block where units are blocks; to groups of flip-flops and to
# memories, of any units; to a block or the NPU as a copy of it; to the NPU as a mechanism.
UNITS = ("block", "group", "memory", "whole_block", "npu")
WATCHDOG, ERROR_FLAG = "watchdog", "error_flag"
# What can be built: mechanisms of groups, and of the whole NPU.
_BUILT = (*Mechanism, WATCHDOG)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OF_PARTS = {"group", "memory"}
_AREAS = ("block_area", "ff_area", "sram_area", "cells_area")


class ProtectionError(ResilError):
    """Options or results from which no protection can be planned; the message says what to do."""


@dataclass(frozen=True, slots=True)
class CellArea:
    """Area of one storage cell.

    Attributes:
        kind: "ff" or "sram"; flip-flops inside SRAM macros have no cell that can be chosen.
        area: In `unit`.
        unit: "GE" or "um2".
        status: "measured", "modelled" or "assumed".
        source: Citation.
    """

    kind: str
    area: float
    unit: str
    status: str
    source: str


@dataclass(frozen=True, slots=True)
class ProtectionOption:
    """A way to protect a block. Areas are multiples; factors and coverage are shares from 0 to 1.

    Attributes:
        name: Unique.
        title: For people.
        protects: Kinds of storage that it acts on; empty for no protection.
        raw_factor: Share of the upset rate of the protected bits that remains.
        coverage: Share of their remaining hazardous failures that is detected or corrected.
        turns_into: What those become: "due" or "corrected".
        status: "measured", "modelled" or "assumed".
        source: Citation.
        block_area: Added area as a multiple of the block's.
        ff_area: Added area as a multiple of that of the block's flip-flops.
        sram_area: Added area as a multiple of that of the block's memories.
        raw_factor_low: Least that the factor may be; None for the factor itself. Likewise the next three.
        raw_factor_high: Most that it may be.
        coverage_low: Least that the coverage may be.
        coverage_high: Most that it may be.
        builds: Mechanism of `resil.rtl_harness.redundancy` that its RTL has; "" if none can be built.
        units: Where it is offered, out of `UNITS`.
        added_bits: Storage bits that it adds to each protected one.
        cells_area: Added area as a multiple of that of one flip-flop, once.
        limit_factor: Of a watchdog: its limit as a multiple of the longest operation; 0 for other options.
        permanent: It covers bits that are stuck as it covers upsets of them, and a copy of a block its logic,
            too: what stays wrong is compared, voted on or corrected each time.
        ways: Of parity: how many neighbours lie under parity bits of their own; no key of the file, see
            `OptionSet.for_clusters`.
    """

    name: str
    title: str
    protects: tuple[str, ...]
    raw_factor: float
    coverage: float
    turns_into: str
    status: str
    source: str
    block_area: float = 0.0
    ff_area: float = 0.0
    sram_area: float = 0.0
    raw_factor_low: float | None = None
    raw_factor_high: float | None = None
    coverage_low: float | None = None
    coverage_high: float | None = None
    builds: str = ""
    units: tuple[str, ...] = ("block",)
    added_bits: float = 0.0
    cells_area: float = 0.0
    limit_factor: float = 0.0
    permanent: bool = False
    ways: int = 1

    @property
    def shown_by_rtl(self) -> bool:
        """Whether RTL can show what it does: hardened cells are a constraint, which no injection sees."""
        return self.builds not in ("", Mechanism.HARDENED)

    def raw_share(self, kind: str) -> float:
        """Return the share of the upset rate of bits of that kind that remains."""
        return self.raw_factor if kind in self.protects else 1.0

    def raw_share_at(self, kind: str, *, weak: bool) -> float:
        """Return the most that `raw_share` may be (the weak end of its range), or the least."""
        end = self.raw_factor_high if weak else self.raw_factor_low
        return self._or(end, self.raw_factor) if kind in self.protects else 1.0

    def residual_share(self, kind: str, hazardous: Collection[str]) -> float:
        """Return the share of the hazardous FIT of bits of that kind that remains.

        Detection helps nothing where a detected failure is itself hazardous.
        """
        return self._residual(kind, hazardous, self.raw_factor, self.coverage)

    def worst_residual_share(self, kind: str, hazardous: Collection[str]) -> float:
        """Return the most that `residual_share` may be, at the weak ends of factor and coverage."""
        weak_factor = self._or(self.raw_factor_high, self.raw_factor)
        return self._residual(kind, hazardous, weak_factor, self._or(self.coverage_low, self.coverage))

    def best_residual_share(self, kind: str, hazardous: Collection[str]) -> float:
        """Return the least that `residual_share` may be, at the strong ends of factor and coverage."""
        strong_factor = self._or(self.raw_factor_low, self.raw_factor)
        return self._residual(kind, hazardous, strong_factor, self._or(self.coverage_high, self.coverage))

    def _residual(self, kind: str, hazardous: Collection[str], factor: float, coverage: float) -> float:
        if kind not in self.protects:
            return 1.0
        helps = self.turns_into == "corrected" or "due" not in hazardous
        return factor * (1.0 - coverage if helps else 1.0)

    @staticmethod
    def _or(end: float | None, value: float) -> float:
        return value if end is None else end

    def misses(self, size: int) -> bool:
        """Whether what it builds may neither correct nor report a cluster of so many bits."""
        return self.builds in tuple(Mechanism) and Mechanism(self.builds).misses(size, self.ways)

    def corrects(self, size: int) -> bool:
        """Whether a cluster of so many bits does no harm though nobody reacts to alarms."""
        return self.turns_into == "corrected" and not self.misses(size) and not self.only_reports(size)

    def only_reports(self, size: int) -> bool:
        """Whether it corrects smaller clusters, and one of so many bits is a detected failure."""
        return self.builds == Mechanism.SECDED and size == 2

    def interleaved(self, ways: int) -> ProtectionOption:
        """Return parity with so many parity bits in turn; other options as they are.

        Each further one is as many bits as the first, of the area of the bits that it guards: flip-flops in
        groups of eight took 0.11 and 0.09 for the second and third by synthesis, and 0.125 is counted.
        """
        if ways < 2 or self.builds not in (Mechanism.PARITY, Mechanism.MEMORY_PARITY):
            return self
        more = self.added_bits * (ways - 1)
        areas = {key: getattr(self, key) + more for key in ("ff_area", "sram_area") if getattr(self, key)}
        return replace(self, ways=ways, added_bits=self.added_bits + more, **areas)

    def area_added(self, block: float, flip_flops: float, memories: float) -> float:
        """Return the added area from the areas of the block, its flip-flops and its memories."""
        return self.block_area * block + self.ff_area * flip_flops + self.sram_area * memories


@dataclass(frozen=True, slots=True)
class OptionSet:
    """All options and cell areas in use.

    Attributes:
        options: By name, in the order of the file; "none" is always there.
        cells: Area of a storage cell, by kind and unit.
        leave_out: Registers, memories or blocks whose units are offered nothing, by path.
        own: Names of options that the user's file has.
    """

    options: Mapping[str, ProtectionOption]
    cells: Mapping[tuple[str, str], CellArea]
    leave_out: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()

    def may_be_built(self, option: ProtectionOption) -> bool:
        """Whether an option is offered where RTL is to be built: what RTL shows, and what the user names."""
        return option.shown_by_rtl or (bool(option.builds) and option.name in self.own)

    def for_clusters(self, clusters: Sequence[float]) -> OptionSet:
        """Return the options as they are built where upsets flip several neighbours: parity bits in turn.

        Args:
            clusters: Part of the upsets that flip 1, 2, ... bits.
        """
        largest = max((size for size, share in enumerate(clusters, start=1) if share > 0.0), default=1)
        return replace(self, options={n: o.interleaved(largest) for n, o in self.options.items()})


def load_options(user_file: Path | None = None) -> OptionSet:
    """Return the options of the package, changed by a file of the user's own.

    Args:
        user_file: Options and cells that replace those of the same name or are added; its top-level list
            `exclude` names options to leave out, `leave_out` storage that is offered none.

    Raises:
        ProtectionError: a file cannot be read or is wrong; the message names file, table and key.
    """
    shipped = files("resil.protection") / "options.toml"
    base = _parse(parse_toml(shipped.read_text(), shipped.name), "options.toml of the package")
    options, cells = dict(base.options), dict(base.cells)
    leave_out: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    if user_file is not None:
        own, excluded = _read(user_file)
        leave_out, named = own.leave_out, frozenset(own.options)
        options.update(own.options)
        cells.update(own.cells)
        for name in excluded:
            if name not in options or name == "none":
                others = ", ".join(other for other in options if other != "none")
                raise ProtectionError(
                    f"{user_file}: exclude names {name!r}; it may name any of {others}", "exclude"
                )
            del options[name]
    return OptionSet(options, cells, leave_out, named)


def _read(file: Path) -> tuple[OptionSet, tuple[str, ...]]:
    try:
        _, document = read_toml(file, "file of protection options")
    except HarnessError as error:
        raise ProtectionError(str(error), "file") from None
    own = _parse(document, str(file))
    excluded = _names(document, "exclude", "option names", file)
    return replace(own, leave_out=_names(document, "leave_out", "paths", file)), excluded


def _names(document: Mapping[str, Any], key: str, what: str, file: Path) -> tuple[str, ...]:
    found = document.get(key, [])
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ProtectionError(f"{file}: {key} needs to be a list of {what}, found {found!r}", key)
    return tuple(found)


def _parse(document: Mapping[str, Any], where: str) -> OptionSet:
    unknown = sorted(set(document) - {"option", "cell", "exclude", "leave_out"})
    if unknown:
        raise ProtectionError(
            f"{where}: unknown key {', '.join(unknown)}: the keys are [[option]], [[cell]], exclude and "
            "leave_out",
            unknown[0],
        )
    options: dict[str, ProtectionOption] = {}
    for table in _tables(document, "option", where):
        option = _option(table, where)
        if option.name in options:
            raise ProtectionError(f"{where}: option {option.name} is there twice: rename one", "name")
        options[option.name] = option
    cells = [_cell(table, where) for table in _tables(document, "cell", where)]
    return OptionSet(options, {(cell.kind, cell.unit): cell for cell in cells})


def _tables(document: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    tables = document.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ProtectionError(f"{where}: {key} needs to be tables: write [[{key}]] above each", key)
    return tables


def _option(table: Mapping[str, Any], where: str) -> ProtectionOption:
    spot = f"{where}, option {table.get('name', '?')}"
    values = _fields(ProtectionOption, table, spot)
    protects = values["protects"]
    if not isinstance(protects, list) or any(kind not in KINDS for kind in protects):
        raise ProtectionError(
            f"{spot}: protects needs to be a list of {', '.join(KINDS)}, found {protects!r}", "protects"
        )
    units = values.get("units", ["block"])
    if not isinstance(units, list) or not units or any(unit not in UNITS for unit in units):
        raise ProtectionError(
            f"{spot}: units needs to be a list of {', '.join(UNITS)}, found {units!r}", "units"
        )
    option = ProtectionOption(**{**values, "protects": tuple(protects), "units": tuple(units)})
    if option.name != "none" and not set(_AREAS) & set(table):
        raise ProtectionError(
            f"{spot}: has no area, and would be free: give one of {', '.join(_AREAS)} (0 if it takes none)",
            "area",
        )
    if not _NAME.fullmatch(option.name):
        raise ProtectionError(
            f"{spot}: name needs to be 1 to 64 letters, digits and . _ -, the first no sign, found "
            f"{option.name!r}: rename it (a + joins the names of options in reports)",
            "name",
        )
    if option.block_area and _OF_PARTS & set(option.units):
        raise ProtectionError(
            f"{spot}: block_area is of an option of blocks, and units names {', '.join(option.units)}, of "
            "which it would be no area: give ff_area or sram_area, or another option for them",
            "block_area",
        )
    if "macro" in protects and (option.ff_area or option.raw_factor < 1.0):
        raise ProtectionError(
            f"{spot}: protects names macro, whose flip-flops lie inside SRAM macros: no other cell can be "
            "chosen for them; leave macro out, or give an option with raw_factor = 1 and no ff_area",
            "protects.macro",
        )
    for key in ("raw_factor", "coverage"):
        value, low, high = (getattr(option, key + end) for end in ("", "_low", "_high"))
        if value > 1.0:
            raise ProtectionError(f"{spot}: {key} is a share from 0 to 1, found {value}", key)
        if (low is not None and low > value) or (high is not None and not value <= high <= 1.0):
            raise ProtectionError(
                f"{spot}: expected {key}_low <= {key} <= {key}_high <= 1, found {low}, {value}, {high}", key
            )
    if option.builds not in ("", *_BUILT):
        raise ProtectionError(
            f"{spot}: builds is one of {', '.join(_BUILT)}, or not there, found {option.builds!r}", "builds"
        )
    if beyond := [kind for kind in protects if kind not in _reach(option.builds)]:
        raise ProtectionError(
            f"{spot}: protects names {', '.join(beyond)}, and what it builds, {option.builds}, reaches "
            f"{', '.join(_reach(option.builds))} alone: leave {', '.join(beyond)} to another option",
            "builds.protects",
        )
    if (option.name == WATCHDOG) != bool(option.limit_factor) or 0.0 < option.limit_factor < 1.0:
        raise ProtectionError(
            f"{spot}: limit_factor is at least 1 of the option {WATCHDOG}, and not there of others, found "
            f"{option.limit_factor:g}",
            "limit_factor",
        )
    if option.turns_into not in _TURNS_INTO:
        raise ProtectionError(
            f"{spot}: turns_into is one of {', '.join(_TURNS_INTO)}, found {option.turns_into!r}",
            "turns_into",
        )
    if option.name == "none" and (option.protects or option.area_added(1.0, 1.0, 1.0) > 0.0):
        raise ProtectionError(f"{spot}: the option none protects nothing and adds no area", "none")
    return option


def _reach(builds: str) -> tuple[str, ...]:
    """Return the kinds of storage that a built mechanism acts on."""
    if builds in ("", WATCHDOG, Mechanism.LOCKSTEP):
        return KINDS
    return ("macro", "sram") if Mechanism(builds).of_memories else ("ff",)


def _cell(table: Mapping[str, Any], where: str) -> CellArea:
    spot = f"{where}, cell {table.get('kind', '?')}"
    cell = CellArea(**_fields(CellArea, table, spot))
    if cell.kind not in CELL_KINDS:
        raise ProtectionError(f"{spot}: kind is one of {', '.join(CELL_KINDS)}, found {cell.kind!r}", "kind")
    return cell


def _fields(
    record: type[ProtectionOption] | type[CellArea], table: Mapping[str, Any], spot: str
) -> dict[str, Any]:
    """Check presence and type of every key of a table, and its status and source."""
    known = {f.name: f for f in fields(record) if f.name != "ways"}
    unknown = sorted(set(table) - set(known))
    if unknown:
        near = get_close_matches(unknown[0], known, n=1)
        hint = f'did you mean "{near[0]}"? ' if near else ""
        raise ProtectionError(
            f"{spot}: unknown key {', '.join(unknown)}: {hint}the keys are {', '.join(known)}", unknown[0]
        )
    values: dict[str, Any] = {}
    for name, f in known.items():
        if name not in table:
            if f.default is MISSING:
                raise ProtectionError(f"{spot}: missing key {name}: add it", name)
            continue
        value = table[name]
        if f.type in ("float", "float | None"):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and 0.0 <= value <= sys.float_info.max):
                raise ProtectionError(f"{spot}: {name} needs to be a number >= 0, found {value!r}", name)
            value = float(value)
        elif f.type == "bool" and not isinstance(value, bool):
            raise ProtectionError(f"{spot}: {name} needs to be true or false, found {value!r}", name)
        elif f.type == "str" and (not isinstance(value, str) or not value.strip()):
            raise ProtectionError(
                f"{spot}: {name} needs to be a text that is not empty, found {value!r}", name
            )
        values[name] = value
    if values["status"] not in STATUSES:
        raise ProtectionError(
            f"{spot}: status is one of {', '.join(STATUSES)}, found {values['status']!r}", "status"
        )
    return values
