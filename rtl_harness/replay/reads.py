# SPDX-License-Identifier: Apache-2.0
"""Which answers in a recording have data: those to reads, found by what was asked before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np

from resil.rtl_harness.replay.layout import Level, ReadAnswers
from resil.rtl_harness.replay.recording import Recording
from resil.rtl_harness.replay.waves import Bits


def reads_answered(recording: Recording, own: ReadAnswers) -> Bits:
    """Return in which cycles the data of reads count, (cycles,).

    What is neither 0 nor 1 does not hold: of a request that is unknown no data count.
    """
    clocked = _clocked(recording)
    taken, read, good = (_all(recording, row) for row in (own.taken, own.read, own.good))
    ended = _any([_all(recording, row) for row in own.ended], recording.cycles)
    forgotten = _any([_all(recording, (level,)) for level in own.given_up], recording.cycles)
    if own.latency:
        return _late(own.latency, taken & read, forgotten, clocked)
    found = np.zeros(recording.cycles, bool)
    open_requests: deque[bool] = deque()
    rows = zip(
        taken.tolist(), read.tolist(), ended.tolist(), forgotten.tolist(), clocked.tolist(), strict=True
    )
    for cycle, (is_taken, is_read, is_ended, is_forgotten, is_clocked) in enumerate(rows):
        if is_forgotten:
            open_requests.clear()
            continue
        found[cycle] = bool(open_requests) and open_requests[0]
        if is_clocked and is_ended and open_requests:
            open_requests.popleft()
        if is_clocked and is_taken:
            open_requests.append(is_read)
    return found & good


def _late(latency: int, asked: Bits, forgotten: Bits, clocked: Bits) -> Bits:
    """Return in which cycles the answer to a request of `latency` cycles before is there."""
    found = np.zeros(len(asked), bool)
    coming: deque[bool] = deque([False] * latency, latency)
    rows = zip(asked.tolist(), forgotten.tolist(), clocked.tolist(), strict=True)
    for cycle, (is_asked, is_forgotten, is_clocked) in enumerate(rows):
        if is_forgotten:
            coming.extend([False] * latency)
            continue
        found[cycle] = coming[0]
        if is_clocked:
            coming.append(is_asked)
    return found


def _clocked(recording: Recording) -> Bits:
    """Return at the end of which cycles the first clock rises: of several, each edge of any ends one."""
    if not recording.clocks:
        return np.ones(recording.cycles, bool)
    before, after = (recording.clocks[0].sampled(recording.times, before=own)[0] for own in (True, False))
    return after[:, 0] & ~before[:, 0]


def _all(recording: Recording, row: Sequence[Level]) -> Bits:
    holds = np.ones(recording.cycles, bool)
    for own in row:
        at = recording.is_before(own.port.name)
        values, known = recording.signals[own.port.name].sampled(recording.times, before=at)
        holds &= known[:, own.bit] & (values[:, own.bit] == own.high)
    return holds


def _any(rows: Iterable[Bits], cycles: int) -> Bits:
    found = np.zeros(cycles, bool)
    for own in rows:
        found |= own
    return found
