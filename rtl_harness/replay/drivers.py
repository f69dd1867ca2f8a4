# SPDX-License-Identifier: Apache-2.0
"""When a design drives its ports in both directions: noted in a run without a fault.

A recording has what is on such a port, and not who put it there. A fault that takes the design's driver away
leaves the port to nobody, and the replay would go on with what the recording has. So it is compared whether
the design drives each bit, in each cycle, with what it does without a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.replay.bench import DRIVEN
from resil.rtl_harness.replay.closed import Closed
from resil.rtl_harness.replay.images import images_of
from resil.rtl_harness.replay.recording import Recording
from resil.rtl_harness.replay.waves import Signal


def with_drivers(
    closed: Closed, run: Callable[[Workload], bytes], contents: Sequence[Mapping[str, bytes]] = ()
) -> Closed:
    """Return a closed target whose recordings say which bits of such ports the design drives.

    Args:
        closed: A target without such ports is returned as it is.
        run: Simulates a workload of the target without a fault; returns its raw output.
        contents: Of further memories of the bench, for each recording.
    """
    if not closed.layout.inouts:
        return closed
    contents = contents or [{}] * len(closed.recordings)
    noted = (_noted(closed, *both, run) for both in zip(closed.recordings, contents, strict=True))
    return replace(closed, recordings=tuple(noted))


def _noted(
    closed: Closed, recording: Recording, contents: Mapping[str, bytes], run: Callable[[Workload], bytes]
) -> Recording:
    layout = closed.layout
    shape = (recording.cycles, layout.noted_bytes)
    images = images_of(recording, layout, closed.rules, noted=True)
    workload = Workload(
        f"{recording.span.file.name}, when ports are driven",
        {**images.memories, **contents},
        OutputSpec(DRIVEN, 0, shape, "uint8"),
        parameters=closed.parameters,
        decide=exact,
    )
    packed = np.frombuffer(run(workload), np.uint8).reshape(shape)
    bits = np.unpackbits(packed, axis=1, bitorder="little").astype(bool)
    # From when on a cycle's value holds, so that it is found at its edge or just before it.
    times = recording.times
    since = np.concatenate([times[:1] - 1, times[:-1]]) if recording.before else times
    signals, low = dict(recording.signals), 0
    for port in layout.inouts:
        own = bits[:, low : low + port.width]
        signals[port.enable.name] = Signal.of_bits(port.enable.name, since, own, np.ones_like(own))
        low += port.width
    return replace(recording, signals=signals)
