# SPDX-License-Identifier: Apache-2.0
"""Runs the stimuli of the NPU's tests on mutants, and judges them as these tests do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.native.build import SourceVariable
from resil.rtl_harness.npu.assertions import asserting
from resil.rtl_harness.npu.model.config import npu_config
from testkit.npu.fuzz.bench import Bench, Outcome, stream_seen
from testkit.npu.fuzz.bound import stream_cycles
from testkit.npu.fuzz.cases import Case
from testkit.npu.fuzz.damage import Trial, sound
from testkit.npu.fuzz.judge import LIMIT, STALLED_LIMIT, broken_rules, trials
from testkit.npu.fuzz.model import Model, Prediction
from testkit.npu.model_cases import CASES, FEATURE_CASES, FEATURED, FEATURES, NAMES, random_case
from testkit.npu.model_support import Case as Operation
from testkit.npu.mutation.schemata import NUMBER

# Of a mutant: cycles in which something must move, and cycles that no sound run of these stimuli needs.
PATIENCE = 50_000
LONGEST = 600_000
# What `tests/rtl_harness/npu/test_rtl_robustness.py` runs.
DAMAGED_RUNS, DAMAGED_SEED = 200, 7


@dataclass(frozen=True, eq=False)
class Judged:
    """A stimulus, what must come of it, and what the original design makes of it.

    Attributes:
        suite: Where it is from.
        trial: What is run.
        bound: Cycles that it may take.
        prediction: Of the functional model.
        original: How the original design ends.
    """

    suite: str
    trial: Trial
    bound: int
    prediction: Prediction
    original: Outcome


@dataclass(frozen=True)
class Verdict:
    """What stimuli found of a mutant.

    Attributes:
        rule: The first rule that it broke, "" if none.
        suite: The suite that found it.
        runs: Runs until then.
        differs: It did something else than the original at least once, broken rule or not: it took another
            time, or left another memory or STATUS where README.md leaves them open.
    """

    rule: str
    suite: str
    runs: int
    differs: bool


def operation_trials(accelerator: str, seeds: range) -> Iterator[Trial]:
    """Yield the random operations of `test_rtl_operations.py`; with other seeds, others of the kind."""
    npu = npu_config(accelerator)
    for seed in seeds:
        for name in NAMES:
            yield _as_trial(name, accelerator, random_case(name, npu, np.random.default_rng(seed)))
    for feature in FEATURES:
        rng = np.random.default_rng(seeds.start + 7)
        for name in FEATURE_CASES * FEATURED:
            yield _as_trial(name, accelerator, random_case(name, npu, rng, (feature,)))


def _as_trial(name: str, accelerator: str, case: Operation) -> Trial:
    return sound(Case(name, accelerator, case.stream, case.constants.tobytes(), case.ram.tobytes()))


def test_stimuli(accelerator: str) -> Iterator[tuple[str, Trial]]:
    """Yield what the tests run on every change."""
    for trial in operation_trials(accelerator, range(CASES)):
        yield "operations", trial
    for _, trial in trials([accelerator], range(DAMAGED_RUNS), DAMAGED_SEED):
        yield "robustness", trial


def further_stimuli(accelerator: str, operations: int, damaged: int) -> Iterator[tuple[str, Trial]]:
    """Yield more of the same, none of which a test runs."""
    for trial in operation_trials(accelerator, range(100, 100 + operations)):
        yield "further operations", trial
    for _, trial in trials([accelerator], range(damaged), 1000 + DAMAGED_SEED):
        yield "further robustness", trial


class Judge:
    """The bench of a design with mutants.

    Args:
        target: From `schemata.mutated_target`.
        accelerator: The shipped target that it was made of.
    """

    def __init__(self, target: Target, accelerator: str) -> None:
        self.bench = MutantBench(target)
        self.model = Model(accelerator)

    def expect(self, stimuli: Iterator[tuple[str, Trial]]) -> list[Judged]:
        """Return the stimuli with what must come of them.

        Raises:
            AssertionError: If the original design breaks a rule.
        """
        self.bench.select(0)
        expected = []
        for suite, trial in stimuli:
            outcome = self._run(trial)
            prediction = self.model.predict(trial)
            bound = LONGEST
            if not trial.bus_errs:
                faults = (trial.sram_faults, trial.flash_faults)
                bound = stream_cycles(stream_seen(trial), outcome.qread, trial.sizes, faults)
            judged = Judged(suite, trial, bound, prediction, outcome)
            assert outcome.finished or outcome.long, trial.case.name
            assert not broken_rules(trial, outcome, bound, prediction), trial.case.name
            if outcome.finished:
                expected.append(judged)
        return expected

    def judge(self, mutant: int, stimuli: Sequence[Judged]) -> Verdict:
        """Run the stimuli on a mutant until one finds it."""
        self.bench.select(mutant)
        differs = False
        for number, judged in enumerate(stimuli, 1):
            outcome = self._run(judged.trial)
            rules = broken_rules(judged.trial, outcome, judged.bound, judged.prediction)
            if not outcome.finished and not rules:
                rules = [f"no end after {outcome.cycles} cycles"]
            if rules:
                return Verdict(rules[0], judged.suite, number, True)
            original = judged.original
            differs |= (outcome.status, outcome.sram, outcome.cycles) != (
                original.status,
                original.sram,
                original.cycles,
            )
        return Verdict("", "", len(stimuli), differs)

    def _run(self, trial: Trial) -> Outcome:
        return self.bench.run(trial, STALLED_LIMIT if trial.stalls else LIMIT, PATIENCE, LONGEST)


class MutantBench(Bench):
    """The bench of a design from `schemata.mutated_target`; with assertions it is a tenth as fast."""

    def __init__(self, target: Target, assertions: bool = False) -> None:
        target = asserting(target) if assertions else target
        super().__init__(target, (SourceVariable(target.top, NUMBER),), assertions)
        self._number = self._pristine.find(NUMBER)

    def select(self, mutant: int) -> None:
        """Make the design the mutant of this number, or the original with 0."""
        self._pristine.write(self._number, mutant)
