# SPDX-License-Identifier: Apache-2.0
"""What the design reported of its faults: detected ones by what they would have done, and alarms by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from resil.faults.content import Content
from resil.faults.sampling import Sample
from resil.record.detection import AlarmRecord, Detection, DetectionRow
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.faults import NEVER, Reported
from resil.stats.rates import OUTCOMES

# What was seen of faults that count as detected.
CAUGHT = {
    "due_harmless": ("masked", "latent"),
    "due_sdc_tolerable": ("sdc_tolerable",),
    "due_sdc_critical": ("sdc_critical",),
    "due_hang": ("hang",),
    "due_unseen": ("due",),
}
_TOTAL = "total"


def detection_of(sample: Sample, blocks: Iterable[str], alarms: Mapping[str, str]) -> Detection:
    """Return what the design reported of its faults.

    Args:
        sample: The injections; their outcomes are those of the campaign's fault-tolerant time.
        blocks: Names of all blocks.
        alarms: What each alarm of the target reports, by name.
    """
    found = sample.reported
    owners = np.array([label[0] for label in sample.strata.labels])[sample.reported_strata]
    rows = [_row(name, found, owners == name) for name in blocks]
    return Detection(
        blocks=(*rows, _row(_TOTAL, found, np.ones(len(owners), np.bool_))),
        alarms=tuple(_alarm(found, name, Reported(reports)) for name, reports in alarms.items()),
    )


def usual_alarms(goldens: Iterable[GoldenRun], inputs: Iterable[int]) -> list[str]:
    """Return notes on alarms that rise without a fault: they say nothing."""
    risen: dict[str, list[str]] = {}
    for run, label in zip(goldens, inputs, strict=True):
        for rise in run.end.alarms:
            risen.setdefault(rise.alarm, []).append(str(label))
    return [
        f"The alarm {alarm} rises without a fault (input {', '.join(labels)}), so it says nothing there: no "
        "fault counts as noticed by it."
        for alarm, labels in risen.items()
    ]


def _row(name: str, found: Content, own: npt.NDArray[np.bool_]) -> DetectionRow:
    due = own & (found.outcomes == OUTCOMES.index("due"))
    codes = {key: [OUTCOMES.index(word) for word in words] for key, words in CAUGHT.items()}
    return DetectionRow(
        block=name,
        **{key: int((due & np.isin(found.seen, words)).sum()) for key, words in codes.items()},
        late=int((own & ~due & (found.alarm_cycles != NEVER)).sum()),
        corrected=int((own & (found.corrections != "")).sum()),
    )


def _alarm(found: Content, name: str, reports: Reported) -> AlarmRecord:
    """Return in how many injections an alarm was the first of its kind, and how long that took."""
    if reports is Reported.CORRECTED:
        return AlarmRecord(
            name=name,
            reports="corrected",
            injections=int((found.corrections == name).sum()),
            late=0,
            median_cycles=None,
            slowest_cycles=None,
        )
    own = found.alarms == name
    in_time = own & (found.outcomes == OUTCOMES.index("due"))
    delays = (found.alarm_cycles - found.cycles)[own]
    return AlarmRecord(
        name=name,
        reports="detected",
        injections=int(in_time.sum()),
        late=int((own & ~in_time).sum()),
        median_cycles=float(np.median(delays)) if delays.size else None,
        slowest_cycles=int(delays.max()) if delays.size else None,
    )
