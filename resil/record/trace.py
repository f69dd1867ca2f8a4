# SPDX-License-Identifier: Apache-2.0
"""How one fault spread from the struck bit: what `resil trace` says."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.typed import Amount, Count, Document, OneOf, Typed, wrong

# What became of the difference from one cycle to the next.
CHANGES = ("struck", "grew", "moved", "shrank", "gone", "returned")
BENCH = "bench"


class TraceRegister(Typed):
    """A register or memory that differed from the run without a fault."""

    name: str
    """Hierarchical name below the top."""
    block: str
    """Its block; `bench` of what lies outside the design."""
    kind: str
    """`ff`, `macro` or `sram`."""
    register_class: str
    """What the register is for."""
    first_cycle: Count
    """First cycle in which it differed."""
    last_cycle: Count
    """Last cycle in which it did, of those that were compared."""
    cycles: Count
    """In how many it did."""
    bits: Count
    """Bits of it that differed at once, at the most."""
    words: Count
    """Words of it that ever did; 1 of a register."""
    word: Count
    """The first word that did, as declared; 0 of a register."""
    golden: str
    """What that held in its first cycle without the fault, hexadecimal."""
    faulty: str
    """Likewise with the fault."""


class TracePhase(Typed):
    """Consecutive cycles in which the difference changed in the same way, or not at all."""

    first_cycle: Count
    """The first of them."""
    last_cycle: Count
    """The last."""
    change: Annotated[str, OneOf(CHANGES)]
    """How it came about: `struck` by the fault, `grew` or `shrank` in bits, `moved` to as many others,
    `gone`, or `returned` after that, from what is no storage."""
    held: Count
    """Cycles of these in which it was what it was in the cycle before."""
    bits: Count
    """Bits that differed in the last of them."""
    words: Count
    """Registers and words of memories that these lie in."""


class TraceCrossing(Typed):
    """The first time that the difference reached a block."""

    cycle: Count
    """When."""
    block: str
    """The block; `bench` of what lies outside the design."""
    name: str
    """The first bit of it that differed."""
    came_from: tuple[str, ...]
    """Bits that this came from, in the cycle before; empty if the gates do not say."""
    from_blocks: tuple[str, ...]
    """Blocks of these."""


class TraceStep(Typed):
    """A bit that held the difference on its way."""

    first_cycle: Count
    """The first cycle in which the path has it there."""
    last_cycle: Count
    """The last; in the next cycle it is in the bit of the next step."""
    name: str
    """The bit."""
    block: str
    """Its block; `bench` of what lies outside the design."""
    register_class: str
    """What the register is for."""


class TracePath(Typed):
    """The shortest causal path from the struck bit to where the difference was seen."""

    to: str
    """`output`: the first bit of it to be wrong for good; `done`: the end that did not come; `alarm NAME`;
    `state`: the first bit that is left of latent state."""
    cycle: Count
    """When it was seen there."""
    moves: Count
    """From bit to bit; 0 if there is no path."""
    shortest: bool
    """No path has fewer moves; false if so many bits differed that not all could be followed."""
    steps: tuple[TraceStep, ...]
    """In the order of time; the first is the struck bit, in the cycle of the fault. Empty without a path."""
    problem: str
    """Why there is none; empty if there is."""


class TraceElement(Typed):
    """An element of a tensor that is wrong."""

    index: tuple[Count, ...]
    """Where it lies in the tensor."""
    expected: int | float
    """What it is without the fault."""
    found: int | float
    """What it is with it."""


class TraceTensor(Typed):
    """A tensor as it was written: an operation's output, or an output of the run at its end."""

    name: str
    """Of the operation, or `output` and where it lies."""
    operation: Count | None
    """Number of the operation; null of an output of the run."""
    reference: str
    """What it was compared with: `functional model`, or `golden run`."""
    golden_cycle: Count
    """Cycle in which it was complete without the fault."""
    faulty_cycle: Count
    """Likewise with it."""
    shape: tuple[Count, ...]
    """Of the tensor."""
    wrong: Count
    """Elements that differ."""
    first: TraceElement | None
    """The first of them in the order of the tensor; null if none differs."""
    largest_error: Amount
    """The largest distance of an element from what it should be."""
    mean_error: Amount
    """The mean distance, over the elements that differ; 0 if none does."""


class TraceAlarm(Typed):
    """An alarm that rose, and does not without the fault."""

    name: str
    """Of the alarm."""
    reports: Annotated[str, OneOf(("detected", "corrected"))]
    """What it reports."""
    cycle: Count
    """When it first rose."""
    latency: Count
    """Cycles from the fault to that."""


class Trace(Document):
    """How one fault spread, by two runs whose whole storage was compared in each cycle."""

    FILE: ClassVar[str] = "trace.json"
    SCHEMA: ClassVar[Literal[1]] = 1
    REMEDY: ClassVar[str] = "make it again with: resil trace RUN_DIR INJECTION --json"

    schema_number: Literal[1] = Field(alias="schema")
    """Of this document."""
    injection: Count | None
    """Number of the injection in the run; null of a fault of no run."""
    target: str
    """What was injected into."""
    workload: str
    """What ran."""
    input: int
    """Label of the input."""
    name: str
    """The struck bit; of a cluster the lowest."""
    site: Count
    """Its number."""
    bits: Count
    """How many bits were inverted, upwards from it."""
    block: str
    """Its block."""
    register_class: str
    """What its register is for."""
    cycle: Count
    """Cycle in which it was inverted."""
    golden_end: Count
    """Cycles of the run without a fault."""
    end: Count
    """Cycles of the run with it, or of its time-out."""
    compared_to: Count
    """The last cycle in which both were compared: the last that both have."""
    outcome: Mapping[str, int | str]
    """What came of the fault, by the run that was compared: columns of a part file."""
    stored: Mapping[str, int | str] | None
    """The same columns as the run has them, which are equal; null of a fault of no run."""
    vanished: Count | None
    """The cycle from which on no storage differed; null if some does in the last."""
    registers: tuple[TraceRegister, ...]
    """What differed, in the order in which it first did."""
    phases: tuple[TracePhase, ...]
    """What became of the difference, in the order of time."""
    phases_left_out: Count
    """Later ones that are not listed."""
    crossings: tuple[TraceCrossing, ...]
    """Blocks that it reached, in the order in which it did."""
    alarms: tuple[TraceAlarm, ...]
    """What was reported, in the order in which it was."""
    tensors: tuple[TraceTensor, ...]
    """Tensors that were written after the fault; outputs of the run last."""
    paths: tuple[TracePath, ...]
    """To where the difference was seen: alarms, output, missing end, latent state."""
    notes: tuple[str, ...]
    """What limits what is said here."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.stored is not None and dict(self.stored) != dict(self.outcome):
            wrong("stored", f"what the trace found, {dict(self.outcome)}", dict(self.stored))
        for index, path in enumerate(self.paths):
            where = f"paths[{index}]"
            if bool(path.steps) == bool(path.problem):
                wrong(f"{where}.steps", "steps, or a problem that says why there are none", path.problem)
            if path.moves != max(len(path.steps) - 1, 0):
                wrong(f"{where}.moves", f"{max(len(path.steps) - 1, 0)}, one less than steps", path.moves)
            if any(a.last_cycle + 1 != b.first_cycle for a, b in pairwise(path.steps)):
                wrong(f"{where}.steps", "cycles without a gap", path.problem)
            if path.steps and path.steps[0].first_cycle != self.cycle:
                wrong(f"{where}.steps[0]", f"the cycle of the fault, {self.cycle}", path.steps[0].first_cycle)
        return self

    def path_to(self, to: str) -> TracePath | None:
        """Return the path to where a difference was seen; None if it was not seen there, or has none."""
        return next((path for path in self.paths if path.to == to and path.steps), None)
