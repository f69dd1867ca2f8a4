# SPDX-License-Identifier: Apache-2.0
"""How a stretch of something longer is judged: by what comes of its outputs, the worst of all inferences."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from resil.rtl_harness.engine.workload import Course, OutputSpec, Workload, classify
from resil.rtl_harness.faults import Fault, Outcome, Reported, Rise, RunEnd, Seen

FAULT = Fault(3, 10)
ALARM = Rise("error", Reported.DETECTED, 20)
GOLDEN = RunEnd(True, 100, 0, b"\0", "state")
# Of each output of the stretch, the outputs of three inferences; the decision is the first byte.
COURSES = {
    0: (b"aa", b"ba", b"ca"),
    1: (b"aa", b"ba", b"ca"),
    2: (b"aa", b"bx", b"ca"),
    3: (b"ax", b"ba", b"xa"),
    4: (b"xa", b"ba", b"ca"),
}


@dataclass
class Table:
    """Knows what comes of each output."""

    several: bool
    golden: bytes = b"\0"
    asked: list[bytes] = field(default_factory=list)

    def course(self, raw: bytes) -> Course:
        self.asked.append(raw)
        outputs = COURSES[raw[0]][: 3 if self.several else 1]
        return Course(outputs, tuple(output[0] for output in outputs))


def judged(output: int, *, several: bool = True, state: str = "state", finished: bool = True, alarms=()):
    workload = Workload("w", {}, OutputSpec("sram", 0, (1,)), sequel=Table(several))
    faulty = RunEnd(finished, 100, 0, bytes([output]), state, alarms)
    return classify(FAULT, GOLDEN, faulty, workload)


@pytest.mark.parametrize(
    ("output", "seen", "first", "second"),
    [
        (0, Seen.MASKED, Outcome.MASKED, Outcome.MASKED),
        (1, Seen.LATENT, Outcome.LATENT, Outcome.MASKED),
        (2, Seen.SDC_TOLERABLE, Outcome.LATENT, Outcome.SDC_TOLERABLE),
        (3, Seen.SDC_CRITICAL, Outcome.SDC_TOLERABLE, Outcome.SDC_CRITICAL),
        (4, Seen.SDC_CRITICAL, Outcome.SDC_CRITICAL, Outcome.MASKED),
    ],
)
def test_the_worst_of_all_inferences_is_seen(output: int, seen: Seen, first: Outcome, second: Outcome):
    found = judged(output)
    assert (found.seen, found.first, found.second) == (seen, first, second)


@pytest.mark.parametrize(("output", "seen"), [(0, Seen.MASKED), (1, Seen.LATENT), (3, Seen.SDC_TOLERABLE)])
def test_one_inference_has_no_others(output: int, seen: Seen):
    found = judged(output, several=False)
    assert (found.seen, found.first, found.second) == (seen, None, None)


def test_what_stays_in_the_npu_is_latent():
    found = judged(0, state="other")
    assert (found.seen, found.first, found.second) == (Seen.LATENT, Outcome.LATENT, Outcome.MASKED)
    assert judged(0, state="other", several=False).seen is Seen.LATENT


def test_a_stretch_that_does_not_end_ends_all():
    found = judged(3, finished=False)
    assert (found.seen, found.first, found.second) == (Seen.HANG, Outcome.HANG, None)


def test_an_alarm_is_of_the_inference_that_was_struck():
    found = judged(3, alarms=(ALARM,))
    assert (found.outcome, found.seen) == (Outcome.DUE, Seen.SDC_CRITICAL)
    assert (found.first, found.second) == (Outcome.DUE, Outcome.SDC_CRITICAL)


def test_what_is_only_kept_is_not_given_other_bytes():
    """The fault: the check that outputs are written would damage what the host keeps."""
    kept = OutputSpec("sram", 1, (1,), written=False)
    workload = Workload("w", {"sram": b"\1\2"}, OutputSpec("sram", 0, (1,)), others=(kept,))
    assert workload.with_other_output_memory().images["sram"] == b"\xfe\2"
