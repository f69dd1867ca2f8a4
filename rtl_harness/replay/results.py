# SPDX-License-Identifier: Apache-2.0
"""What the bench of a replay leaves behind: what was compared, and what differed, in words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.workload import OutputSpec
from resil.rtl_harness.replay.bench import RESULT
from resil.rtl_harness.replay.images import Images
from resil.rtl_harness.replay.layout import (
    BEYOND,
    COMPARED,
    COUNT_BITS,
    RESULTS,
    WITHIN,
    ComparedOutput,
    ReplayLayout,
)
from resil.rtl_harness.replay.recording import Recording


def output_of(layout: ReplayLayout) -> OutputSpec:
    """Return where the results lie: a row for each word."""
    return OutputSpec(RESULT, 0, (RESULTS, layout.result_bytes), "uint8")


def beyond_tolerance(output: npt.NDArray[np.generic]) -> object:
    """Return what is decided by: all results but differences within their tolerance."""
    return output[BEYOND:].tobytes()


def expected_results(layout: ReplayLayout, images: Images) -> bytes:
    """Return what the bench leaves behind where nothing differs."""
    words = bytearray(RESULTS * layout.result_bytes)
    last = (images.compared_cycles << 1 | 1).to_bytes(layout.result_bytes, "little")
    words[COMPARED * layout.result_bytes :] = last
    return bytes(words)


def differences(layout: ReplayLayout, recording: Recording, raw: bytes, expected: bytes) -> str:
    """Return what a run whose bench keeps the first difference has found: time, signal and values.

    Args:
        layout: Of the memories.
        recording: What was replayed.
        raw: Results of the run.
        expected: Where nothing differs.
    """
    size = layout.result_bytes
    words = [int.from_bytes(raw[i * size : (i + 1) * size], "little") for i in range(RESULTS)]
    firsts = [word for word in (words[WITHIN], words[BEYOND]) if word & 1]
    if not firsts:
        wanted = int.from_bytes(expected[COMPARED * size :], "little")
        return _compared(layout, words[COMPARED], wanted)
    first = min(firsts, key=_cycle)
    cycle, place = _cycle(first), 1 + COUNT_BITS
    flags = first >> place & (1 << len(layout.flagged)) - 1
    low = place + 2 * len(layout.flagged)
    texts = []
    for number, own in enumerate(layout.flagged):
        if flags >> number & 1:
            found = first >> low & (1 << own.port.width) - 1
            by_cycle = number < len(layout.cyclewise)
            by = "from the part of the bench" if own.port in layout.answers else "in the design"
            texts.append(_difference(recording, own, cycle, found, by if by_cycle else ""))
        low += own.port.width
    tick = int(recording.times[cycle])
    return f"the first at {recording.waves.time(tick)}, the end of cycle {cycle:,}: {'; '.join(texts[:4])}"


def _cycle(word: int) -> int:
    return word >> 1 & (1 << COUNT_BITS) - 1


def _difference(recording: Recording, own: ComparedOutput, cycle: int, found: int, by: str) -> str:
    """Return a difference in words; `by` says where the other value is from; "" of a word of a stream."""
    name = own.port.name
    if not by:
        return f"a word of the stream with {name} = {found:#x}, which is not the next one of the recording"
    values, known = recording.signals[name].sampled(
        recording.times[cycle : cycle + 1], before=recording.before
    )
    digits = "".join(
        ("1" if v else "0") if k else "x" for v, k in zip(values[0][::-1], known[0][::-1], strict=True)
    )
    wanted = hex(int(digits, 2)) if "x" not in digits else f"0b{digits}"
    return f"{name} is {wanted} in the recording, {found:#x} {by}"


def _compared(layout: ReplayLayout, found: int, wanted: int) -> str:
    missing = found >> 1 + COUNT_BITS
    if missing:
        names = [
            ", ".join(own.port.name for own in stream.outputs)
            for number, stream in enumerate(layout.streams)
            if missing >> number & 1
        ]
        return f"words of the stream {names[0]} are missing at the end"
    return f"{_cycle(found):,} cycles with something to compare in place of {_cycle(wanted):,}"
