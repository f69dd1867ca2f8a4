# SPDX-License-Identifier: Apache-2.0
"""A model applied to a network: what becomes of an upset in each block, without any simulation of the RTL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.errors import ResilError
from resil.rtl_harness.faults import Outcome
from resil.rtl_harness.npu.buffer.liveness import buffer_liveness
from resil.rtl_harness.npu.work import OperationWork
from resil.sensitivity.model import SensitivityModel
from resil.sensitivity.observations import START_CYCLES, START_KIND, SensitivityCell
from resil.sensitivity.severity import (
    SDC,
    Drawn,
    Part,
    Severity,
    critical_share,
    with_critical,
)
from resil.sensitivity.shared_buffer import predict_buffer
from resil.stats.rates import OUTCOMES
from resil.work.inference import Inference
from resil.work.patterns import Pattern, redraw

FloatArray = npt.NDArray[np.float64]

DRAWS = 1200
SHARED_BUFFER: Part = ("sb", "sram")
_FEWEST_DRAWS = 50
_FEWEST_PATTERNS = 8


@dataclass(frozen=True)
class PartPrediction:
    """What becomes of an upset in the storage of one kind of one block.

    Attributes:
        bits: Storage bits.
        outcomes: P(outcome), in the order of `OUTCOMES`.
        by_operation: P(operation is struck and its data are corrupted), (operations,).
        drawn: Drawn corruptions that change the decision, and all that change the output.
        injections: That `outcomes` rest on if the functional model has found them; 0 if learnt.
    """

    bits: int
    outcomes: FloatArray
    by_operation: FloatArray
    drawn: Drawn
    injections: float = 0.0

    @property
    def learnt(self) -> float:
        """Share of critical ones among data corruptions."""
        return critical_share(self.outcomes)


def part_rates(
    parts: Mapping[Part, PartPrediction], severity: Severity, belief: float = 1.0
) -> dict[Part, FloatArray]:
    """Return P(outcome) of every part, in the order of `OUTCOMES`.

    Args:
        parts: Of one network.
        severity: What other networks' drawn corruptions say.
        belief: Part of a margin beyond those of other networks that is believed.
    """
    beyond = belief * severity.beyond({part: own.drawn for part, own in parts.items()})
    return {
        part: with_critical(own.outcomes, severity.share(part, own.learnt, own.drawn, beyond))
        for part, own in parts.items()
    }


def predict_parts(
    model: SensitivityModel,
    accelerator: str,
    work: Sequence[OperationWork],
    inferences: Sequence[Inference],
    kinds: Sequence[str],
    seed: int,
) -> dict[Part, PartPrediction]:
    """Predict every block and kind of storage.

    Flip-flops are learnt. The shared buffer is followed on the functional model, and nothing of it is learnt
    but the cycles of operations.

    Args:
        model: What is known.
        accelerator: One that the model knows.
        work: Operations of the network.
        inferences: Of the inputs; corruptions are shared out among them.
        kinds: Kinds of storage; those that the accelerator has not are passed over.
        seed: Of the drawing.
    """
    start, shares = _shares(model, work)
    generator = np.random.default_rng(seed)
    found: dict[Part, tuple[int, FloatArray, FloatArray]] = {}
    followed: dict[Part, PartPrediction] = {}
    for part, cells in _parts(model.accelerators[accelerator].bits, kinds).items():
        bits = sum(cells.values())
        if part == SHARED_BUFFER:
            followed[part] = _followed(model, work, inferences, bits, seed)
            continue
        by_kind = {
            kind: sum(n * model.outcomes(cell, kind) for cell, n in cells.items()) / bits
            for kind in {own.kind for own in work}
        }
        rates = np.array([by_kind[own.kind] for own in work])
        at_start = sum(n * model.outcomes(cell, START_KIND) for cell, n in cells.items()) / bits
        found[part] = bits, start * at_start + shares @ rates, shares * rates[:, SDC].sum(axis=1)
    masses = {part: bits * mass for part, (bits, _, mass) in found.items()}
    seen = _push(model, work, inferences, masses, generator)
    learnt = {part: PartPrediction(*own, seen[part]) for part, own in found.items()}
    return dict(sorted({**learnt, **followed}.items()))


def _followed(
    model: SensitivityModel,
    work: Sequence[OperationWork],
    inferences: Sequence[Inference],
    bits: int,
    seed: int,
) -> PartPrediction:
    cycles = [model.cycles.predict(own) for own in work]
    liveness = buffer_liveness(inferences[0].compiled, cycles, model.cycles.tail)
    if liveness.bits != bits:
        raise ResilError(
            f"expected a sensitivity model of a shared buffer of {liveness.bits:,} bits, as "
            f"{inferences[0].compiled.accelerator} has it, found {bits:,}: it was learnt from another "
            "design; learn a model from runs on this one",
            "model.shared_buffer",
        )
    found = predict_buffer(liveness, inferences, np.random.default_rng([seed, bits]))
    return PartPrediction(bits, found.outcomes, np.zeros(len(work)), (0, 0), found.injections)


def _parts(
    bits: Mapping[SensitivityCell, int], kinds: Sequence[str]
) -> dict[Part, dict[SensitivityCell, int]]:
    parts: dict[Part, dict[SensitivityCell, int]] = {}
    for cell, count in bits.items():
        if cell.kind in kinds:
            parts.setdefault((cell.block, cell.kind), {})[cell] = count
    return dict(sorted(parts.items()))


def _shares(model: SensitivityModel, work: Sequence[OperationWork]) -> tuple[float, FloatArray]:
    """Return the shares of the time before the first operation's work, and of each operation.

    What follows the last operation counts as the last.
    """
    cycles = np.array([model.cycles.predict(own) for own in work])
    cycles[-1] += model.cycles.tail
    whole = float(cycles.sum())
    start = min(float(START_CYCLES), float(cycles[0]))
    cycles[0] -= start
    return start / whole, cycles / whole


def _push(
    model: SensitivityModel,
    work: Sequence[OperationWork],
    inferences: Sequence[Inference],
    masses: Mapping[Part, FloatArray],
    generator: np.random.Generator,
) -> dict[Part, Drawn]:
    """Draw corruptions for each part; return how many change the decision, of how many seen at all.

    Args:
        model: Has the patterns.
        work: Operations of the network.
        inferences: Of the inputs.
        masses: Of each part, how often each operation's data are corrupted in it; it gets as many draws.
        generator: Of random numbers.
    """
    whole = sum(float(mass.sum()) for mass in masses.values())
    waiting: dict[tuple[int, int], list[tuple[Part, npt.NDArray[np.generic]]]] = {}
    for part, mass in masses.items():
        draws = max(_FEWEST_DRAWS, round(DRAWS * float(mass.sum()) / whole)) if whole else 0
        for number, operation in enumerate(_operations(mass, draws, generator)):
            library = _library(model, part, work[operation].kind)
            if library:
                pattern = library[int(generator.integers(0, len(library)))]
                place = number % len(inferences)
                values = inferences[place].feature_map(operation)
                waiting.setdefault((place, operation), []).append((part, redraw(pattern, values, generator)))
    seen: dict[Part, list[int]] = {part: [0, 0] for part in masses}
    for (place, operation), maps in sorted(waiting.items(), key=lambda item: item[0]):
        outcomes = inferences[place].outcomes(operation, [values for _, values in maps])
        for (part, _), outcome in zip(maps, outcomes, strict=True):
            if outcome in (Outcome.SDC_TOLERABLE, Outcome.SDC_CRITICAL):
                seen[part][0] += outcome is Outcome.SDC_CRITICAL
                seen[part][1] += 1
    return {part: (x, n) for part, (x, n) in seen.items()}


def _operations(mass: FloatArray, draws: int, generator: np.random.Generator) -> list[int]:
    """Draw operations in proportion to `mass`, evenly."""
    if mass.sum() <= 0.0:
        return []
    points = (np.arange(draws) + generator.random()) / draws
    drawn = np.searchsorted(np.cumsum(mass) / mass.sum(), points, side="right")
    operations: list[int] = generator.permutation(np.minimum(drawn, len(mass) - 1)).tolist()
    return operations


def _library(model: SensitivityModel, part: Part, operation: str) -> tuple[Pattern, ...]:
    """Return patterns of this part in such operations; if they are few, those of all operations too."""
    own = model.patterns.get((*part, operation), ())
    if len(own) >= _FEWEST_PATTERNS:
        return own
    return tuple(p for (*known, _), each in model.patterns.items() if tuple(known) == part for p in each)


def outcome_index(outcomes: Sequence[str]) -> list[int]:
    """Return the places of these outcomes in `OUTCOMES`."""
    return [OUTCOMES.index(outcome) for outcome in outcomes]
