# SPDX-License-Identifier: Apache-2.0
"""The list of fault sites: a row per bit, and the sums per block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from resil.bench.bench import Area, Bench
from resil.errors import ResilError
from resil.files import read_parquet, write_file
from resil.record.csv_cells import csv_column
from resil.record.typed import Amount, Count, Typed
from resil.reports.table import Column, Table
from resil.rtl_harness.design.sites import KINDS as STORAGE_KINDS
from resil.rtl_harness.design.sites import Hardware, SiteTable
from resil.rtl_harness.logic.sites import LOGIC, NoSite, PinTable

UNASSIGNED = "(no block)"
# Of storage, and of cells, which are there if the campaign is about logic.
KINDS = (*map(str, STORAGE_KINDS), "logic")
_PLACE = re.compile(r"\[(\d+)\]")
_ALIKE = 4
# Kinds of storage in the words of reports.
STORAGE = {
    "ff": "flip-flops",
    "macro": "flip-flops in SRAM macros",
    "sram": "SRAM bits",
    "weights": "bits of weights in memory outside the NPU",
    "activations": "bits of activations in memory outside the NPU",
    "logic": "pins of cells",
}


def site_word(kind: str, model: str) -> str:
    """Return what the sites of a kind are called where faults of a model strike them."""
    return "bridges between nets" if kind == "logic" and model == "bridge" else STORAGE[kind]


class BlockSites(Typed):
    """Fault sites and area of a block; areas in the survey's unit."""

    block: str
    """Its name."""
    ff_bits: Count
    """Flip-flops that synthesis leaves, those inside SRAM macros apart."""
    macro_bits: Count
    """Flip-flops inside SRAM macros."""
    sram_bits: Count
    """SRAM bits that it leaves."""
    ff_bits_source: Count
    """Flip-flop bits of the source code."""
    macro_bits_source: Count
    """Those inside SRAM macros."""
    sram_bits_source: Count
    """SRAM bits of the source code."""
    logic_area: Amount
    """Of all but SRAM."""
    sram_area: Amount
    """Of its SRAM."""


class SiteSurvey(Typed):
    """What `resil sites` prints."""

    target: str
    """Its name."""
    blocks: tuple[BlockSites, ...]
    """In the order of the target's block map."""
    total: BlockSites
    """The sum of all blocks."""
    area_unit: str
    """Unit of the areas."""
    unmapped: tuple[str, ...]
    """Storage that is no fault site, each with the reason."""
    unmapped_sites: Count
    """How many these are."""
    warnings: tuple[str, ...]
    """Remarks of elaboration and synthesis."""
    titles: Mapping[str, str]
    """Blocks in words; a block may have none."""


def block_name(block: str) -> str:
    """Return the name that reports give to a block; storage outside all blocks has one too."""
    return block or UNASSIGNED


def no_bits() -> dict[str, int]:
    """Return no bits of each kind of storage."""
    return dict.fromkeys(KINDS, 0)


def block_bits(
    sites: SiteTable, blocks: tuple[str, ...], *, source: bool = False
) -> dict[str, dict[str, int]]:
    """Return the bits of each kind in each block; blocks without any are there, with zeros.

    Args:
        sites: All storage bits.
        blocks: Of the target's block map.
        source: Count all bits of the source code, not what is hardware.
    """
    bits = {block: no_bits() for block in blocks}
    for index, element in enumerate(sites.elements):
        own = bits.setdefault(block_name(element.block), no_bits())
        own[element.kind] += element.bits if source else sites.present(index)
    return bits


def whole(bits: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return the bits of each kind in all blocks."""
    return {kind: sum(own[kind] for own in bits.values()) for kind in KINDS}


def counts_text(sites: SiteTable) -> str:
    """Say how many bits of each kind there are in the source code, and how many are hardware."""
    bits, source = whole(block_bits(sites, ())), whole(block_bits(sites, (), source=True))
    names = {**STORAGE, "ff": "flip-flop bits", "macro": "flip-flop bits in SRAM macros"}
    always = ("ff", "sram")
    return ", ".join(
        f"{bits[kind]:,} {name}"
        + ("" if bits[kind] == source[kind] else f" of {source[kind]:,} in the source")
        for kind, name in names.items()
        if kind in always or source[kind]
    )


class SiteNames:
    """Finds sites by their names, which `Site.name` gives them.

    Args:
        sites: Of a design.
    """

    def __init__(self, sites: SiteTable) -> None:
        self._sites = sites
        # A bridge is an element for each way in which its nets act on one another.
        self._elements: dict[str, list[int]] = {}
        for index, element in enumerate(sites.elements):
            self._elements.setdefault(element.path, []).append(index)

    def site(self, name: str) -> int:
        """Return the number of the site of a name.

        Raises:
            ResilError: There is none.
        """
        for path in _paths(name):
            for index in self._elements.get(path, ()):
                if (found := self._within(index, name)) is not None:
                    return found
        raise ResilError(
            f"--site: expected a name as resil sites CAMPAIGN.toml --csv FILE lists them, found {name!r}"
            + self._hint(name),
            "--site",
        )

    def _within(self, index: int, name: str) -> int | None:
        element, first = self._sites.elements[index], self._sites.offsets[index]
        if name[len(element.path)] == "/":
            pins = range(first, first + element.bits)
            return next((site for site in pins if self._sites[site].name == name), None)
        *words, bit = [-1, *map(int, _PLACE.findall(name, len(element.path)))]
        word = words[-1] - element.first_word if len(words) > 1 else 0
        place = element.lsb - bit if element.ascending else bit - element.lsb
        site = first + word * element.width + place
        there = 0 <= place < element.width and 0 <= word < element.depth
        return site if there and self._sites[site].name == name else None

    def _hint(self, name: str) -> str:
        """Say which name is alike: a bit of a register, or a pin of a cell."""
        for path in (name, *_paths(name)):
            for index in self._elements.get(path, ())[:1]:
                first = self._sites.offsets[index]
                shown = range(first, first + min(self._sites.elements[index].bits, _ALIKE))
                return f"; {path} has {', '.join(self._sites[site].name for site in shown)}"
        return ""


def _paths(name: str) -> Iterator[str]:
    """Yield the paths that a name may begin with: up to a pin, a bit, or a word and a bit."""
    for mark in ("/", "["):
        path = name
        for _ in range(2):
            path, found, _ = path.rpartition(mark)
            if found:
                yield path


def site_named(sites: SiteTable, name: str) -> int:
    """Return the number of the site of a name; `SiteNames` is for many.

    Raises:
        ResilError: There is none.
    """
    return SiteNames(sites).site(name)


def survey(bench: Bench) -> SiteSurvey:
    """Count the fault sites of `bench` and synthesise its area."""
    area = bench.area()
    bits = block_bits(bench.sites, bench.blocks)
    source = block_bits(bench.sites, bench.blocks, source=True)
    blocks = tuple(_block_sites(name, n, source[name], area.of(name)) for name, n in bits.items())
    total = _block_sites("total", whole(bits), whole(source), area.total)
    return SiteSurvey(
        target=bench.target_name,
        blocks=blocks,
        total=total,
        area_unit=area.unit,
        unmapped=bench.unmapped,
        unmapped_sites=len(bench.unmapped),
        warnings=(*bench.warnings, *area.notes),
        titles=bench.titles,
    )


def _block_sites(name: str, bits: Mapping[str, int], source: Mapping[str, int], area: Area) -> BlockSites:
    return BlockSites(
        block=name,
        ff_bits=bits["ff"],
        macro_bits=bits["macro"],
        sram_bits=bits["sram"],
        ff_bits_source=source["ff"],
        macro_bits_source=source["macro"],
        sram_bits_source=source["sram"],
        logic_area=area.logic,
        sram_area=area.sram,
    )


def survey_text(found: SiteSurvey, width: int | None = None) -> str:
    """Return the survey as lines for a person; `width` as of `Table.text`."""
    unit = found.area_unit
    heads = ("ff bits", "in source", "macro bits", "sram bits", f"logic {unit}", f"sram {unit}")
    rows = tuple(
        (
            f"{row.block} {found.titles.get(row.block, '')}".rstrip(),
            *(f"{bits:,}" for bits in (row.ff_bits, row.ff_bits_source, row.macro_bits, row.sram_bits)),
            *(f"{area:,.0f}" for area in (row.logic_area, row.sram_area)),
        )
        for row in (*found.blocks, found.total)
    )
    columns = (Column("block", numeric=False), *map(Column, heads))
    lines = [
        f"unmapped sites: {found.unmapped_sites}",
        *(f"  {reason}" for reason in found.unmapped),
        *(f"note: {warning}" for warning in found.warnings),
    ]
    table = Table(f"Fault sites of {found.target}", columns, rows, totals=1)
    return "\n".join([table.text(width), *lines])


def site_rows(sites: SiteTable, rtl: Mapping[str, str] | None = None) -> pa.Table:
    """Return a row per bit of the source code.

    Args:
        sites: All bits.
        rtl: Of a netlist, which register of the RTL each element is called after, by path. None of RTL: then
            there is no such column.

    Its number, path, word and bit as the source counts them, kind, block, register class, of a cell the pin,
    what it is in hardware (`Hardware` of `resil.rtl_harness.design.sites`), and of duplicates the number of
    the bit that stands for it. Then a row for what is left out of a netlist's sites, which has no number, -1,
    and the reason in place of what it is in hardware.
    """
    elements = sites.elements
    counts = np.array([e.bits for e in elements], dtype=np.int64)
    owner = np.repeat(np.arange(len(elements), dtype=np.int32), counts)
    within = np.arange(sites.size, dtype=np.int64) - np.repeat(
        np.array(sites.offsets[:-1], dtype=np.int64), counts
    )
    width = np.array([e.width for e in elements], dtype=np.int64)[owner]
    word = within // width + np.array([e.first_word for e in elements], dtype=np.int64)[owner]
    step = np.array([-1 if e.ascending else 1 for e in elements], dtype=np.int64)[owner]
    bit = np.array([e.lsb for e in elements], dtype=np.int64)[owner] + step * (within % width)

    def column(values: list[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(owner), pa.array(values, pa.string()))

    found = pa.table(
        {
            "site": np.arange(sites.size, dtype=np.int64),
            "path": column([e.path for e in elements]),
            "word": word,
            "bit": bit,
            "kind": column([e.kind for e in elements]),
            "block": column([block_name(e.block) for e in elements]),
            "register_class": column([e.register_class for e in elements]),
            **({} if rtl is None else {"rtl_register": column([rtl.get(e.path, "") for e in elements])}),
            **_pins(sites),
            **_hardware(sites),
        }
    )
    left_out = no_sites(sites)
    return pa.concat_tables([found, _left_out(left_out, found.schema)]) if left_out else found


def no_sites(sites: SiteTable) -> tuple[NoSite, ...]:
    """Return what is left out of the sites of a netlist."""
    return sites.no_sites if isinstance(sites, PinTable) else ()


def _left_out(left_out: Sequence[NoSite], schema: pa.Schema) -> pa.Table:
    """Return the rows of what has no sites."""
    rows = [
        {
            **{"site": -1, "path": own.path, "word": 0, "bit": own.bit, "kind": LOGIC},
            **{"block": block_name(own.block), "register_class": "", "pin": own.pin or None},
            **{"hardware": own.reason, "same_as": None},
        }
        for own in left_out
    ]
    return pa.table(
        {one.name: pa.array([row[one.name] for row in rows]).cast(one.type) for one in schema}, schema=schema
    )


def _pins(sites: SiteTable) -> dict[str, pa.Array]:
    """Return the column `pin` of a design whose cells have sites: the name in the cell, null of storage."""
    if not isinstance(sites, PinTable) or not sites.pin_names:
        return {}
    known = [*dict.fromkeys(sites.pin_names)]
    number = {name: place for place, name in enumerate(known)}
    of_storage = sites.size - len(sites.pin_names)
    found = pa.array([*(None,) * of_storage, *(number[name] for name in sites.pin_names)], pa.int32())
    return {"pin": pa.DictionaryArray.from_arrays(found, pa.array(known, pa.string()))}


def _hardware(sites: SiteTable) -> dict[str, pa.Array]:
    names = [hardware.value for hardware in Hardware]
    found = np.zeros(sites.size, dtype=np.int32)
    same = np.full(sites.size, -1, dtype=np.int64)
    for run in sites.absent:
        found[run.first : run.end] = names.index(run.hardware.value)
        if run.same_as is not None:
            same[run.first : run.end] = np.arange(run.same_as, run.same_as + run.bits)
    dictionary = pa.DictionaryArray.from_arrays(pa.array(found), pa.array(names, pa.string()))
    return {"hardware": dictionary, "same_as": pa.array(same, mask=same < 0)}


def write_parquet(sites: SiteTable, path: Path, rtl: Mapping[str, str] | None = None) -> None:
    """Write `site_rows` as Parquet; a file that holds just that is left as it is."""
    rows = site_rows(sites, rtl)
    if _holds(path, rows):
        return
    write_file(
        path, lambda temporary: pq.write_table(rows, temporary, compression="zstd", store_schema=False)
    )


def write_csv(sites: SiteTable, path: Path, rtl: Mapping[str, str] | None = None) -> None:
    """Write `site_rows` as CSV."""
    rows = site_rows(sites, rtl)
    plain = pa.table({name: csv_column(_plain(rows[name])) for name in rows.column_names})
    write_file(path, lambda temporary: pacsv.write_csv(plain, temporary))


def _holds(path: Path, rows: pa.Table) -> bool:
    try:
        found = read_parquet(path)
    except (OSError, ValueError, pa.ArrowException):
        return False
    return found.column_names == rows.column_names and all(
        _plain(found[name]).equals(_plain(rows[name])) for name in rows.column_names
    )


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
