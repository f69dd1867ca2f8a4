# SPDX-License-Identifier: Apache-2.0
"""What a sensitivity model adds to the risks that a protection is chosen by: counts of other injections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.folder.finished import Finished
from resil.protection.options import ProtectionError
from resil.protection.risks import HANG, HARMFUL, HARMFUL_DETECTED, HARMLESS, OUTCOME_KINDS
from resil.protection.units import Cells
from resil.sensitivity.model import SensitivityModel, load_model
from resil.sensitivity.observations import SensitivityCell, plain_register
from resil.stats.rates import OUTCOMES

FloatArray = npt.NDArray[np.float64]


def prior_counts(paths: Sequence[Path], found: Sequence[Finished], cells: Cells) -> FloatArray | None:
    """Return what models saw of each cell, shape (cells, `OUTCOME_KINDS`); None without models.

    Only flip-flops: what a model knows of memories it knows by other parts. A model knows no kind of a
    detected failure, so each counts as one that would have done harm. Copies of a register share its counts.

    Args:
        paths: Models.
        found: The runs that are judged.
        cells: Of their target.

    Raises:
        ResilError: A file is no model.
        ProtectionError: A model was learnt from one of the runs, so what it says is no other data than what
            judges; or it knows nothing of the target.
    """
    if not paths:
        return None
    counts = np.zeros((len(cells.bits), OUTCOME_KINDS))
    for path in paths:
        model = load_model(path)
        _require_other(path, model, found)
        counts += _counts(model, cells, found[0].summary.campaign.hazardous)
    return counts


def _require_other(path: Path, model: SensitivityModel, found: Sequence[Finished]) -> None:
    learnt = {run.campaign for run in model.source.runs}
    for run in found:
        if run.provenance.hashes["campaign"] in learnt:
            raise ProtectionError(
                f"{path}: was learnt from {run.path}, whose injections judge the choice: what judges must "
                "not choose; leave the model out, or give a run with another seed",
                "model.runs",
            )
        target = run.summary.target.name
        if target not in model.accelerators:
            known = ", ".join(model.accelerators)
            raise ProtectionError(
                f"{path}: knows nothing of {target}, only of {known}; leave it out", "model.accelerators"
            )


def _counts(model: SensitivityModel, cells: Cells, hazardous: Sequence[str]) -> FloatArray:
    kind_of = np.full(len(OUTCOMES), HARMLESS)
    for place, outcome in enumerate(OUTCOMES):
        if outcome == "due":
            kind_of[place] = HARMFUL if outcome in hazardous else HARMFUL_DETECTED
        elif outcome in hazardous:
            kind_of[place] = HANG if outcome == "hang" else HARMFUL
    own: dict[tuple[str, str, int], list[int]] = {}
    for cell, (kind, block, path) in enumerate(zip(cells.kind, cells.block, cells.path, strict=True)):
        if kind == "ff":
            own.setdefault((block, plain_register(path), int(cells.place[cell])), []).append(cell)
    found = np.zeros((len(cells.bits), OUTCOME_KINDS))
    for (known, _), seen in model.counts.items():
        for cell in own.get(_key(known), ()) if known.kind == "ff" else ():
            np.add.at(found[cell], kind_of, np.array(seen) / len(own[_key(known)]))
    return found


def _key(cell: SensitivityCell) -> tuple[str, str, int]:
    return cell.block, cell.register, cell.chunk
