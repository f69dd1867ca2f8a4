# SPDX-License-Identifier: Apache-2.0
"""What each alarm of a run caught, and the hazardous faults that none did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resil.files import write_text
from resil.folder.finished import finished_run
from resil.folder.provenance import now
from resil.folder.store import locked
from resil.record.interval import RecordedInterval
from resil.record.mechanisms import CaughtStorage, MechanismAudit, MechanismRecord, UncoveredStorage
from resil.results.run import FinishedRun
from resil.results.shares import share_by_weight

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = 5
_STORAGE = ["block", "kind", "register_class"]
_HARMLESS = ("masked", "latent")
_FIRST_ONLY = (
    "of several alarms that rise in one injection, the first that reports a detection and the first that "
    "reports a correction are kept: a mechanism that would have been the second counts for nothing here"
)
_WEIGHTED = (
    "in some storage injections stand for unequal rates: shares there are by weight, and their limits are "
    "those of as many injections as would stand for equal ones (Kish's effective sample size)"
)


def audit_mechanisms(run_dir: Path) -> MechanismAudit:
    """Say what each alarm caught of which storage, and keep the answer in the folder. Nothing is simulated.

    Raises:
        StoreError: The run cannot be used.
    """
    finished, run = finished_run(run_dir), FinishedRun(run_dir)
    rows = run.counted()
    hazardous = run.summary.campaign.hazardous
    results = finished.provenance.results
    assert results is not None
    assert results.content is not None
    detection = run.summary.detection
    alarms = [] if detection is None else [(one.name, one.reports) for one in detection.alarms]
    notes = [_FIRST_ONLY] if len(alarms) > 1 else []
    if rows.groupby(_STORAGE)["weight"].nunique().max() > 1:
        notes.append(_WEIGHTED)
    if unseen := int((rows["seen"] == "due").sum()):
        notes.append(
            f"{unseen:,} runs were ended by the alarm: what their faults would have done is not known, and "
            "they are in no coverage"
        )
    if not alarms:
        notes.append("the target declares no alarm: nothing can be caught")
    found = MechanismAudit(
        schema=MechanismAudit.SCHEMA,
        content=results.content,
        hazardous=hazardous,
        detection_cycles=run.summary.campaign.detection_cycles,
        confidence=run.confidence,
        injections=len(rows),
        mechanisms=tuple(_mechanism(rows, name, reports, run.confidence) for name, reports in alarms),
        storage=tuple(_storage(rows, hazardous, run.confidence)),
        notes=tuple(notes),
        made=now(),
    )
    with locked(run_dir):
        write_text(run_dir / MechanismAudit.FILE, found.text())
    return found


def _mechanism(rows: pd.DataFrame, name: str, reports: str, confidence: float) -> MechanismRecord:
    detects = reports == "detected"
    own = rows["alarm" if detects else "correction"] == name
    caught = own & (rows["outcome"] == "due") if detects else own
    delays = (rows["alarm_cycle" if detects else "correction_cycle"] - rows["cycle"])[own]
    harmless = caught & rows["seen"].isin(_HARMLESS)

    def storage() -> Iterator[CaughtStorage]:
        for key, at in rows.groupby(_STORAGE, observed=True).indices.items():
            if not own.to_numpy()[at].any():
                continue
            inside = np.zeros(len(rows), np.bool_)
            inside[at] = True
            block, kind, register_class = key
            yield CaughtStorage(
                block=block,
                kind=kind,
                register_class=register_class,
                injections=len(at),
                caught=int((caught & inside).sum()),
                late=int((own & ~caught & inside).sum()),
                harmless=int((harmless & inside).sum()),
                share=_share(rows[inside], caught[inside], confidence),
            )

    return MechanismRecord(
        name=name,
        reports=reports,
        caught=int(caught.sum()),
        late=int((own & ~caught).sum()),
        harmless=int(harmless.sum()),
        unseen=int((caught & (rows["seen"] == "due")).sum()),
        median_cycles=float(np.median(delays)) if len(delays) else None,
        slowest_cycles=int(delays.max()) if len(delays) else None,
        storage=tuple(sorted(storage(), key=lambda row: (-row.caught, -row.late, row.block, row.kind))),
    )


def _storage(rows: pd.DataFrame, hazardous: tuple[str, ...], confidence: float) -> Iterator[UncoveredStorage]:
    """Yield all storage that hazardous faults were found in, most missed first."""
    missed = rows["outcome"].isin([name for name in hazardous if name != "due"]).to_numpy()
    seen = rows["seen"].isin([name for name in hazardous if name != "due"])
    caught = ((rows["outcome"] == "due") & seen).to_numpy()
    found = []
    for (block, kind, register_class), at in rows.groupby(_STORAGE, observed=True).indices.items():
        inside = np.zeros(len(rows), np.bool_)
        inside[at] = True
        dangerous = inside & (missed | caught)
        if not dangerous.any():
            continue
        examples = rows.loc[inside & missed].sort_values("weight", ascending=False, kind="stable")
        found.append(
            UncoveredStorage(
                block=block,
                kind=kind,
                register_class=register_class,
                injections=len(at),
                caught=int((caught & inside).sum()),
                missed=int((missed & inside).sum()),
                coverage=_share(rows[dangerous], rows.index.isin(rows.index[caught])[dangerous], confidence),
                examples=tuple(int(number) for number in examples["injection"].head(EXAMPLES)),
            )
        )
    return iter(sorted(found, key=lambda row: (-row.missed, -row.caught, row.block, row.kind)))


def _share(rows: pd.DataFrame, event: pd.Series[bool], confidence: float) -> RecordedInterval:
    return share_by_weight(rows["weight"].to_numpy(), np.asarray(event, np.bool_), confidence)
