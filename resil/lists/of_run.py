# SPDX-License-Identifier: Apache-2.0
"""The fault list of a finished run: what was injected with its status, and what was not, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from resil.bench.site_list import block_name
from resil.campaign.fault_settings import PULSE
from resil.faults.plan import FAULT_NAMES, PERMANENT_NAMES, PULSE_NAME
from resil.files import read_parquet
from resil.folder.finished import require_measured
from resil.folder.store import SITES
from resil.lists.rows import write_rows
from resil.lists.statuses import not_injected, status_of
from resil.record.listed import STATUSES
from resil.record.typed import Amount, Count, Typed
from resil.results.run import FinishedRun, site_names
from resil.rtl_harness.design.sites import Hardware

_DUE = "due"
_COLUMNS = (
    *("site", "type", "time", "input", "status", "reason", "hazardous", "weight", "fit", "block"),
    *("bits", "injection"),
)


class WrittenFaultList(Typed):
    """A fault list that was written."""

    written: str
    """The file."""
    statuses: Mapping[str, Count]
    """Lines of each status."""
    stand_for: Amount
    """Faults that those which were injected stand for."""


def write_run_faults(run_dir: Path, file: Path) -> WrittenFaultList:
    """Write the fault list of a finished run.

    Raises:
        StoreError, ConsistencyError: As of `finished_run`: a run that is not finished, failed, altered or
            predicted has no statuses.
        NothingMeasuredError: What the run watched could have shown no failure: no status would be one.
    """
    run = FinishedRun(run_dir)
    require_measured(run.found)
    columns = listed(run)
    write_rows(file, columns)
    counts = Counter(map(str, columns["status"]))
    injected = (float(w) for w, n in zip(columns["weight"], columns["injection"], strict=True) if int(n) >= 0)
    return WrittenFaultList(
        written=str(file), statuses={own: counts[own] for own in STATUSES}, stand_for=sum(injected)
    )


def listed(run: FinishedRun) -> dict[str, list[str | int | float]]:
    """Return the columns of the list: faults that a run's figures rest on, then what was not injected.

    A line's weight is the number of faults that it stands for: those that it was drawn from, over the
    injections into them.
    """
    rows = run.counted()
    owners = run.drawn.owners(rows["injection"].to_numpy())
    each = np.array(run.drawn.strata.sizes, float) / np.maximum(run.drawn.injections, 1)
    outcome = rows["outcome"].astype(str)
    late = (outcome != _DUE) & (rows["alarm"].astype(str) != "")
    seen = rows["seen"].astype(str).where(rows["seen"].astype(str) != _DUE, "")
    why = rows["untestable"].astype(str)
    frame = pd.DataFrame(
        {
            "site": rows["name"],
            "type": rows["fault"],
            "time": rows["cycle"],
            "input": rows["input"],
            "status": [*map(status_of, outcome, why)],
            "reason": why.where(
                why != "", outcome.where(outcome != _DUE, seen) + late.map({True: " late", False: ""})
            ),
            "hazardous": outcome.isin(run.summary.campaign.hazardous).map({True: "yes", False: "no"}),
            "weight": each[owners],
            "fit": rows["weight"],
            "block": rows["block"],
            "bits": rows["bits"],
            "injection": rows["injection"],
        }
    )
    whole = pd.concat([frame, _not_injected(run)])
    return {name: whole[name].tolist() for name in _COLUMNS}


def _not_injected(run: FinishedRun) -> pd.DataFrame:
    """Return the faults of bits of the source code that are no hardware, and of cells without sites."""
    sites = read_parquet(run.path / SITES).replace_schema_metadata(None).to_pandas()
    hardware, kind = sites["hardware"].astype(str), sites["kind"].astype(str)
    asked = run.summary.campaign
    sites = sites[(hardware != Hardware.KEPT.value) & kind.isin(asked.kinds)]
    sites = sites.rename(columns={"path": "register"}).astype({"hardware": str, "block": str})
    known = {own: not_injected(own) for own in sites["hardware"].unique()}
    frame = pd.DataFrame(
        {
            "site": site_names(sites),
            "status": sites["hardware"].map({own: status for own, (status, _) in known.items()}),
            "reason": sites["hardware"].map({own: reason for own, (_, reason) in known.items()}),
            "block": sites["block"].map(block_name),
            **{"time": 0, "input": -1, "hazardous": "no"},
            **{"weight": 1.0, "fit": 0.0, "bits": 1, "injection": -1},
        }
    )
    return pd.concat([frame.assign(type=own) for own in _types(asked.fault_model)])


def _types(model: str) -> tuple[str, ...]:
    """Return the types of faults of a campaign's model."""
    return PERMANENT_NAMES.get(model, (PULSE_NAME if model == PULSE else FAULT_NAMES[0],))
