# SPDX-License-Identifier: Apache-2.0
"""How often faults come at the sites of each class of cells, beside the mean over all sites in logic.

A cell has its faults by its weight, which its sites share. Weights are areas of the cell library, in which
drive strength is, or those of a file of the user's.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from resil.rtl_harness.design.cells import cells_of
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.netlist import LogicNetlist
from resil.rtl_harness.logic.sites import LogicSites
from resil.rtl_harness.plain_file import read_cell, read_listed

_SHOWN = 8


def areas_of(library: str) -> dict[str, float]:
    """Return the area of each cell of a Liberty file; 0 where it says none."""
    return {name: cell.area for name, cell in cells_of(library).items()}


def read_weights(file: Path) -> dict[str, float]:
    """Read the weights of cells: a CSV file with `type` and `weight`.

    Raises:
        HarnessError: The file cannot be read, or a row is wrong.
    """
    try:
        lines = read_listed(file)
    except (OSError, UnicodeDecodeError) as error:
        raise HarnessError(
            f"{file}: expected the weights of cells, found none ({error}); correct the path",
            "technology.logic_weights",
        ) from None
    rows = csv.DictReader(lines)
    if rows.fieldnames != ["type", "weight"]:
        raise HarnessError(
            f"{file}: expected a head type,weight, found {','.join(rows.fieldnames or ()) or 'nothing'}; "
            "correct it",
            "technology.logic_weights",
        )
    found: dict[str, float] = {}
    for number, row in enumerate(rows, 1):
        name, given = read_cell((row["type"] or "").strip()), (row["weight"] or "").strip()
        try:
            weight = float(given)
        except ValueError:
            weight = math.nan
        if not name or name in found or not (math.isfinite(weight) and weight > 0.0):
            raise HarnessError(
                f"{file}: row {number}: expected a type that is there once and a positive weight, found "
                f"{name!r} and {given!r}; correct it",
                "technology.logic_weights",
            )
        found[name] = weight
    return found


def relative_rates(
    netlist: LogicNetlist, sites: LogicSites, weights: Mapping[str, float]
) -> dict[str, float]:
    """Return how often faults come at a site of each class, beside the mean of all.

    A class of clock trees or of cells that drive resets holds several types: it has their mean.

    Args:
        netlist: The cells.
        sites: Those of faults.
        weights: Of each type.

    Raises:
        HarnessError: A type has no weight.
    """
    cells = np.unique(netlist.pins["cell"][sites.pins]).tolist()
    elements = sites.table.elements[len(sites.table.elements) - len(cells) :]
    types = [netlist.cell_type(cell) for cell in cells]
    if missing := sorted({name for name in types if weights.get(name, 0.0) <= 0.0}):
        raise HarnessError(
            f"expected a weight of each type of cells, found none of {', '.join(missing[:_SHOWN])}; give "
            "them in [technology] logic_weights, or let each site count alike",
            "technology.logic_weights",
        )
    sums: dict[str, list[float]] = {}
    for element, name in zip(elements, types, strict=True):
        own = sums.setdefault(element.register_class, [0.0, 0.0])
        own[0] += weights[name]
        own[1] += element.width
    mean = sum(weight for weight, _ in sums.values()) / sum(count for _, count in sums.values())
    return {name: weight / count / mean for name, (weight, count) in sums.items()}
