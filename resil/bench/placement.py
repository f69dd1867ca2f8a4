# SPDX-License-Identifier: Apache-2.0
"""Positions of cells, and which storage bits are neighbours on the die."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from resil.bench.site_list import SiteNames
from resil.campaign.clusters import LARGEST
from resil.campaign.placement_settings import PlacementSettings
from resil.errors import CampaignError, ResilError
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.plain_file import listed_lines, read_cell

_SHOWN = 8
# Nearest cells that are looked at, so that of equally distant ones the order is that of the sites.
_LOOKED_AT = 24
_UNITS = re.compile(r"\bUNITS\s+DISTANCE\s+MICRONS\s+(\d+)\s*;")
_SECTION = re.compile(r"\bCOMPONENTS\s+(\d+)\s*;(.*?)\bEND\s+COMPONENTS\b", re.DOTALL)
_COMPONENT = re.compile(r"-\s+(\S+)\s+(\S+)(.*)", re.DOTALL)
_PLACED = re.compile(r"\+\s*(?:PLACED|FIXED|COVER)\s*\(\s*(-?\d+)\s+(-?\d+)\s*\)")
# What synthesis hangs on the name of a register: its own word, or the type of the flip-flop.
_TYPE = re.compile(r"\$_[A-Za-z0-9_]+_$")
_REG = re.compile(r"_reg(?=(?:_\d+)*$)")


@dataclass(frozen=True)
class Placed:
    """A site table whose upsets of several bits flip neighbours.

    Attributes:
        sites: With neighbours.
        text: What is known of it, in a sentence or two, for reports.
        warnings: What has no position.
    """

    sites: SiteTable
    text: str
    warnings: tuple[str, ...]


class _Neighbours(Mapping[int, tuple[int, ...]]):
    """Neighbours by distance of what has a position; of the rest the next bits of the word."""

    def __init__(self, sites: SiteTable, placed: Mapping[int, tuple[int, ...]]) -> None:
        self._sites = sites
        self._placed = placed

    def __getitem__(self, site: int) -> tuple[int, ...]:
        if site in self._placed:
            return self._placed[site]
        last = min(site + LARGEST, site + self._sites.room(site))
        found = []
        for own in range(site + 1, last):
            if self._sites.hardware(own) is not None:
                break
            found.append(own)
        return tuple(found)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._sites.size))

    def __len__(self) -> int:
        return self._sites.size


def placed(sites: SiteTable, settings: PlacementSettings, dut: str, kinds: Sequence[str]) -> Placed:
    """Return the sites with the neighbours that a placement gives them.

    Args:
        sites: Of the design.
        settings: The file, and how far an upset reaches.
        dut: Instance that is the design; names in the file begin below it.
        kinds: Of storage that is struck.

    Raises:
        CampaignError: The file cannot be read, a site has two positions, or most flip-flops have none.
    """
    positions = _positions(sites, settings.file, dut)
    order = sorted(positions)
    near = _nearest(order, np.array([positions[own] for own in order], float), settings.reach_um)
    table = replace(sites, neighbours=_Neighbours(sites, near))
    flops = [
        own
        for index, e in enumerate(sites.elements)
        if e.kind in ("ff", "macro")
        for own in _present(sites, index)
    ]
    without = [own for own in flops if own not in positions]
    if 2 * len(without) > len(flops):
        names = ", ".join(sites[own].name for own in without[:_SHOWN])
        raise CampaignError(
            f"{settings.file}: expected positions of the flip-flops, found none of {len(without):,} of "
            f"{len(flops):,} ({names}); give a placement of this design, with the names of resil "
            "sites --csv or "
            "those of its registers",
            "faults.placement",
        )
    warnings: tuple[str, ...] = ()
    if without:
        names = ", ".join(sites[own].name for own in without[:_SHOWN])
        warnings = (
            f"{len(without):,} of {len(flops):,} flip-flops have no position in "
            f"{settings.file.name} ({names}): "
            "an upset of several bits there flips the next bits of the word",
        )
    return Placed(table, _text(table, settings, [*kinds], len(positions)), warnings)


def _present(sites: SiteTable, index: int) -> Iterator[int]:
    for first, count, _ in sites.pieces(index):
        yield from range(first, first + count)


def _nearest(order: Sequence[int], at: np.ndarray, reach: float) -> dict[int, tuple[int, ...]]:
    """Return of each site the nearest others within reach, by distance and then by number."""
    if len(order) < 2:
        return {own: () for own in order}
    tree = cKDTree(at)
    found = {}
    # A set of equally distant ones that is cut off is looked at whole.
    for place, own in enumerate(order):
        count = min(_LOOKED_AT, len(order))
        while True:
            distances, places = tree.query(at[place], count)
            if count == len(order) or distances[-1] > min(reach, distances[min(LARGEST, count - 1)]):
                break
            count = min(2 * count, len(order))
        near = sorted(
            (round(float(d), 9), order[int(p)])
            for d, p in zip(distances, places, strict=True)
            if int(p) != place and d <= reach
        )
        found[own] = tuple(site for _, site in near[: LARGEST - 1])
    return found


def _text(sites: SiteTable, settings: PlacementSettings, kinds: Sequence[str], known: int) -> str:
    """Say how upsets of several bits fall into words: what codes over words lose by them."""
    said = []
    for size in range(2, LARGEST + 1):
        counts = Counter(
            _shape(sites, site, size)
            for index, element in enumerate(sites.elements)
            if element.kind in kinds
            for site in _present(sites, index)
        )
        total = counts.total()
        if not total:
            continue
        full = [shape for shape in counts if sum(shape) == size]
        unseen = sum(counts[own] for own in full if all(bits % 2 == 0 for bits in own))
        beyond = sum(counts[own] for own in full if max(own) >= 2)
        wrong = sum(counts[own] for own in full if max(own) >= 3)
        fewer = total - sum(counts[own] for own in full)
        said.append(
            f"of those of {size} bits {unseen / total:.3g} are not seen by a parity bit a word, "
            f"{beyond / total:.3g} "
            f"are not corrected by SECDED, {wrong / total:.3g} may be miscorrected, "
            f"{fewer / total:.3g} find fewer "
            "bits in reach"
        )
    return (
        f"Upsets of several bits flip neighbours by {settings.file.name}, at most "
        f"{settings.reach_um:g} um from the "
        f"struck bit; {known:,} bits have a position. A word is a register or a word of a memory: "
        f"{'; '.join(said)}."
    )


def _shape(sites: SiteTable, site: int, size: int) -> tuple[int, ...]:
    """Return how many bits of an upset each word has that it hits."""
    words: Counter[tuple[int, int]] = Counter()
    for own in sites.cluster(site, min(size, sites.room(site))):
        index = sites.element_index(own)
        words[index, (own - sites.offsets[index]) // sites.elements[index].width] += 1
    return tuple(sorted(words.values()))


def _positions(sites: SiteTable, file: Path, dut: str) -> dict[int, tuple[float, float]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(
            file, f"expected a text file, found none that can be read ({error}); correct the path"
        ) from None
    rows = _def_rows(file, text) if file.suffix.lower() == ".def" else _csv_rows(file, text)
    known, every = _canonical_sites(sites, dut), SiteNames(sites)
    found: dict[int, tuple[float, float]] = {}
    names: dict[int, str] = {}
    for name, x, y in rows:
        site = _site(every, known, name)
        if site is None or sites.hardware(site) is not None:
            continue
        if site in found:
            raise _wrong(
                file,
                f"{name}: expected one position a bit, found {sites[site].name} as {names[site]} "
                "too; leave one",
            )
        found[site], names[site] = (x, y), name
    if not found:
        raise _wrong(
            file,
            "expected positions of storage bits, found no name of one; give the names of resil "
            "sites --csv, or "
            "those of the registers as synthesis has them",
        )
    return found


def _wrong(file: Path, message: str) -> CampaignError:
    return CampaignError(f"{file}: {message}", "faults.placement")


def _csv_rows(file: Path, text: str) -> Iterator[tuple[str, float, float]]:
    lines = listed_lines(text)
    reader = csv.DictReader(io.StringIO("\n".join(lines)))
    head = {name.strip().lower(): name for name in reader.fieldnames or ()}
    if not {"site", "x", "y"} <= head.keys():
        raise _wrong(
            file, f"expected the columns site, x and y, found {', '.join(head) or 'none'}; name them so"
        )
    for number, row in enumerate(reader, 1):
        try:
            x, y = (float(row[head[axis]]) for axis in ("x", "y"))
            if not np.isfinite([x, y]).all():
                raise ValueError
        except (TypeError, ValueError):
            raise _wrong(
                file, f"row {number}: expected x and y in um, found {dict(row)}; correct it"
            ) from None
        yield read_cell(str(row[head["site"]]).strip()), x, y


def _def_rows(file: Path, text: str) -> Iterator[tuple[str, float, float]]:
    bare = re.sub(r"#[^\n]*", "", text)
    units, section = _UNITS.search(bare), _SECTION.search(bare)
    if units is None or section is None or int(units[1]) == 0:
        raise _wrong(
            file,
            "expected UNITS DISTANCE MICRONS and a section COMPONENTS with its end, as DEF has them, found "
            f"{'no units' if units is None else 'no such section'}; write the file again after placement",
        )
    statements = [own.strip() for own in section[2].split(";") if own.strip()]
    if len(statements) != int(section[1]):
        raise _wrong(
            file,
            f"expected {section[1]} components, as it says, found {len(statements)}; write the file again",
        )
    for own in statements:
        component = _COMPONENT.fullmatch(own)
        if component is None:
            raise _wrong(
                file, f"expected a component, - NAME MODEL, found {own[:60]!r}; write the file again"
            )
        if at := _PLACED.search(component[3]):
            yield component[1], int(at[1]) / int(units[1]), int(at[2]) / int(units[1])


def _canonical(name: str) -> str:
    bare = re.sub(r"[^A-Za-z0-9$]+", "_", _TYPE.sub("", name.replace("\\", ""))).strip("_")
    return _REG.sub("", bare)


def _canonical_sites(sites: SiteTable, dut: str) -> dict[str, int | None]:
    """Return the flip-flops by their names without punctuation; None where two have one name."""
    found: dict[str, int | None] = {}
    for index, element in enumerate(sites.elements):
        if element.kind not in ("ff", "macro"):
            continue
        path = element.path.removeprefix(f"{dut}.")
        for bit in range(element.bits):
            site = sites.offsets[index] + bit
            names = {_canonical(sites[site].name.replace(element.path, path, 1))}
            if element.bits == 1:
                names.add(_canonical(path))
            for name in names:
                found[name] = None if name in found else site
    return found


def _site(every: SiteNames, known: Mapping[str, int | None], name: str) -> int | None:
    found = known.get(_canonical(name))
    if found is not None:
        return found
    try:
        return every.site(name)
    except ResilError:
        return None
