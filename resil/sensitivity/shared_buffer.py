# SPDX-License-Identifier: Apache-2.0
"""Upsets of the shared buffer, followed on the functional model: nothing of them is learnt.

The command stream says which data lie in the buffer when (`rtl_harness/npu/buffer`). Flips are drawn
among the data that are read afterwards; the functional model works with them, and finishes the inference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.faults import Outcome
from resil.rtl_harness.npu.buffer.liveness import Liveness
from resil.rtl_harness.npu.buffer.stays import Box, Role, Stay
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.stats.rates import OUTCOMES
from resil.work.inference import Inference, OperationUpset

FloatArray = npt.NDArray[np.float64]
Values = npt.NDArray[np.generic]

DRAWS = 400
_NUMBER_OF = {outcome: place for place, outcome in enumerate(OUTCOMES)}


@dataclass(frozen=True)
class BufferPrediction:
    """What becomes of an upset of the shared buffer.

    Attributes:
        outcomes: P(outcome), in the order of `OUTCOMES`.
        injections: So many injections into the whole buffer would show its live part as exactly.
    """

    outcomes: FloatArray
    injections: float


def predict_buffer(
    liveness: Liveness, inferences: Sequence[Inference], generator: np.random.Generator, draws: int = DRAWS
) -> BufferPrediction:
    """Draw flips of data that are read afterwards, and follow each to its end.

    Args:
        liveness: Of the network on its accelerator.
        inferences: Of the inputs; flips are shared out among them.
        generator: Of random numbers.
        draws: How many.
    """
    live, left = min(liveness.live, 1.0), liveness.left
    seen = np.zeros(len(OUTCOMES))
    for outcome in _drawn(liveness, inferences, generator, draws):
        seen[_NUMBER_OF[outcome]] += 1
    share = seen / max(seen.sum(), 1.0)
    found = live * share
    quiet = 1.0 - found[_NUMBER_OF["sdc_tolerable"] :].sum()
    found[_NUMBER_OF["masked"]] = quiet * (1.0 - left)
    found[_NUMBER_OF["latent"]] = quiet * left
    return BufferPrediction(found, draws / live if live else float(draws))


def _drawn(
    liveness: Liveness, inferences: Sequence[Inference], generator: np.random.Generator, draws: int
) -> list[str]:
    """Return how each of the drawn flips ends; those without effect as masked."""
    stays = liveness.stays
    mass = np.array([stay.bit_cycles for stay in stays])
    if not mass.sum():
        return []
    points = (np.arange(draws) + generator.random()) / draws
    chosen = np.searchsorted(np.cumsum(mass) / mass.sum(), points, side="right")
    order = generator.permutation(np.minimum(chosen, len(stays) - 1))
    waiting: dict[tuple[int, int], list[_Flip]] = {}
    for number, place in enumerate(order.tolist()):
        flip = _flip(stays[place], generator)
        waiting.setdefault((number % len(inferences), stays[place].operation), []).append(flip)
    found = []
    for (number, operation), flips in sorted(waiting.items(), key=lambda item: item[0]):
        found += _ends(inferences[number], operation, flips)
    return found


@dataclass(frozen=True)
class _Flip:
    """A flip of one bit of one element, and the OFM elements that are computed after it."""

    stay: Stay
    element: tuple[int, int, int]
    bit: int
    reach: Box


def _flip(stay: Stay, generator: np.random.Generator) -> _Flip:
    """Draw a bit, and a time between its writing and its last reading."""
    longest = max(stay.read[1] - stay.written[0], 1e-9)
    while True:
        y, x, z = (int(generator.integers(low, high)) for low, high in stay.box)
        written, read = stay.window((y, x, z))
        if generator.random() * longest <= read - written:
            break
    bit = int(generator.integers(0, stay.bits))
    at = written + generator.random() * (read - written)
    return _Flip(stay, (y, x, z), bit, stay.reached_after(at))


def _ends(inference: Inference, operation: int, flips: Sequence[_Flip]) -> list[str]:
    clean = inference.feature_map(operation)
    maps = _maps(inference, operation, flips, clean)
    changed = [place for place, values in enumerate(maps) if not np.array_equal(values, clean)]
    ends = [str(Outcome.MASKED)] * len(flips)
    outcomes = inference.outcomes(operation, [maps[place] for place in changed])
    for place, outcome in zip(changed, outcomes, strict=True):
        ends[place] = str(outcome) if outcome is not Outcome.LATENT else str(Outcome.MASKED)
    return ends


def _maps(inference: Inference, operation: int, flips: Sequence[_Flip], clean: Values) -> list[Values]:
    """Return the operation's output with each flip."""
    found: list[Values] = [clean] * len(flips)
    strikes: list[tuple[int, OperationUpset]] = []
    for number, flip in enumerate(flips):
        if flip.stay.role is Role.STAGED:
            found[number] = _flipped(clean, flip.element, flip.bit)
        else:
            strikes.append((number, _strike(inference, operation, flip)))
    struck = inference.struck(operation, [strike for _, strike in strikes])
    for (number, _), values in zip(strikes, struck, strict=True):
        place = tuple(slice(*side) for side in flips[number].reach)
        found[number] = clean.copy()
        found[number][place] = values[place]
    return found


def _flipped(clean: Values, element: tuple[int, int, int], bit: int) -> Values:
    changed = clean.copy()
    raw = changed.view(np.uint8).reshape(*clean.shape, clean.dtype.itemsize)
    raw[(*element, bit // 8)] ^= np.uint8(1 << bit % 8)
    return changed


def _strike(inference: Inference, operation: int, flip: _Flip) -> OperationUpset:
    role, element = flip.stay.role, flip.element
    if role is Role.TABLE:
        return OperationUpset(SHARED_BUFFER, element[2], flip.bit)
    if role is Role.ACCUMULATOR:
        shape = inference.places[operation].shape
        return OperationUpset(None, int(np.ravel_multi_index(element, shape)), flip.bit)
    place = inference.operand(operation, second=role is Role.OPERAND)
    return OperationUpset(place.region, int(place.offsets[(*element, flip.bit // 8)]), flip.bit % 8)
