# SPDX-License-Identifier: Apache-2.0
"""What all cells of a study say together; nothing that was not injected, or is not there, counts as met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from resil.errors import ExitCode
from resil.study.answers import (
    FAILED,
    INCONCLUSIVE,
    MET,
    MISSED,
    NONE,
    WAITING,
    is_answered,
    is_injected,
)
from resil.study.protection import NOT_ASSESSED, NOT_REACHED

_ORDER = (MISSED, FAILED, WAITING, INCONCLUSIVE, "not assessed", MET, NONE)


def study_verdict(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return `result` ("met", "missed", "inconclusive" or "none") and `reason` for a study's cells.

    The study is met if each cell is, by injections into it: such a claim needs no correction for many cells,
    since it is wrong only if one of them is. It is missed if one is missed; among many cells one may be so by
    chance, which `reason` says.
    """
    counts = Counter(cell["verdict"] for cell in cells)
    told = ", ".join(f"{counts[word]} {word}" for word in _ORDER if counts[word])
    foreseen = [cell for cell in cells if cell["predicted"] and is_answered(cell)]
    reason = f"{len(cells)} cells: {told}."
    if foreseen:
        reason += f" {len(foreseen)} predicted without an injection: they decide nothing."
    if remarked := [cell for cell in cells if cell.get("golden")]:
        reason += f" {len(remarked)} with a golden output that is not known to be the network's."
    met = [cell for cell in cells if cell["verdict"] == MET and is_injected(cell)]
    if counts[MISSED]:
        if counts[MET]:
            reason += " Each verdict holds at its own confidence: among many cells a miss may be chance."
        return {"result": MISSED, "reason": reason}
    if cells and len(met) == len(cells):
        return {"result": MET, "reason": reason}
    if cells and counts[NONE] == len(cells):
        return {"result": NONE, "reason": f"{reason} No budget and no claim was given."}
    return {"result": INCONCLUSIVE, "reason": reason}


def study_code(record: Mapping[str, Any]) -> ExitCode:
    """Return the exit code: what failed in resil or its audit comes first, then a miss, then what failed."""
    if any(cell["verdict"] == FAILED and cell.get("internal") for cell in record["cells"]):
        return ExitCode.INTERNAL
    result = record["verdict"]["result"]
    if result == MISSED or any(
        own["result"] == NOT_REACHED or own["confirmed"] is False for own in record["protection"]
    ):
        return ExitCode.MISSED
    if any(cell["verdict"] == FAILED for cell in record["cells"]):
        return ExitCode.USAGE
    if result == INCONCLUSIVE or any(own["result"] == NOT_ASSESSED for own in record["protection"]):
        return ExitCode.INCONCLUSIVE
    return ExitCode.MET
