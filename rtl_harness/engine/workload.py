# SPDX-License-Identifier: Apache-2.0
"""What a target runs: memory images in, an output tensor out, and a rule that reads the decision."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.tail import Tail
from resil.rtl_harness.engine.testbench import Driven
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Injection, Outcome, Reported, Rise, RunEnd, Seen

Decision = Callable[[npt.NDArray[np.generic]], object]


def top1(output: npt.NDArray[np.generic]) -> object:
    """Return the index of the largest element of the whole tensor; the first of equals."""
    return int(np.argmax(output))


def exact(output: npt.NDArray[np.generic]) -> object:
    """Return the output itself, bit for bit: any difference, in any output, is another decision."""
    return output.tobytes()


@dataclass(frozen=True, eq=False)
class OfAll:
    """A decision that is read from all outputs.

    Attributes:
        rule: Reads it from the tensors, in the order of `Workload.outputs`.
    """

    rule: Callable[[Sequence[npt.NDArray[np.generic]]], object]

    def __call__(self, output: npt.NDArray[np.generic]) -> object:
        """Return the decision of a network with one output."""
        return self.rule([output])


def decided(decide: Decision, tensors: Sequence[npt.NDArray[np.generic]], place: int = 0) -> object:
    """Return what is decided by output tensors, of which a rule for one reads that at `place`."""
    if decide is exact:
        return b"".join(tensor.tobytes() for tensor in tensors)
    return decide.rule(tensors) if isinstance(decide, OfAll) else decide(tensors[place])


@dataclass(frozen=True)
class OutputSpec:
    """Where the output tensor lies when the run has ended.

    Attributes:
        memory: Name of one of the target's memories.
        offset: Byte offset in it.
        shape: Shape of the tensor.
        dtype: NumPy name of the element type, little endian.
        written: The design writes it; else it is what a host keeps there for later, and has to stay as it is.
    """

    memory: str
    offset: int
    shape: tuple[int, ...]
    dtype: str = "int8"
    written: bool = True

    @cached_property
    def size(self) -> int:
        """Bytes of the tensor."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def tensor(self, raw: bytes) -> npt.NDArray[np.generic]:
        """Return `raw` as an array of the tensor's shape."""
        return np.frombuffer(raw, dtype=self.dtype).reshape(self.shape)


@dataclass(frozen=True)
class Course:
    """What comes of a run's outputs, where a run is a stretch of something longer.

    Attributes:
        outputs: Raw output tensors of each inference, from that of the run to the last.
        decisions: What is decided in each.
    """

    outputs: tuple[bytes, ...]
    decisions: tuple[object, ...]


class Sequel(Protocol):
    """What follows a run that is a stretch of something longer: a host, and later stretches without a fault.

    Attributes:
        golden: Raw outputs of the run without a fault.
        several: The whole is several inferences.
    """

    golden: bytes
    several: bool

    def course(self, raw: bytes) -> Course:
        """Return what comes of the raw outputs of the run."""
        ...


@dataclass(frozen=True)
class Workload:
    """One run of the design, of a network on one input for instance.

    Attributes:
        name: For people: network or program, and input.
        images: Initial bytes of each memory of the target, by memory name; the rest reads zero.
        output: The output tensor that the decision is read from.
        others: The other output tensors, if there are several; a difference in any is seen.
        parameters: Top-level parameters that this workload needs (memory sizes, for instance).
        words: Words that memories have in its run, by memory name; the others have all that were built.
        operations: Names of the operations in the order in which they run; may be empty.
        inferences: How many the run makes of this input, 1 or 2; the target counts them.
        tail: What can finish a run that left the RTL between operations; nothing if None.
        sequel: What follows the run, by which its outputs are judged; None if nothing does. With it
            `inferences` is 1.
        driven: The design and the test that drives it and decides what came of a run, in place of images and
            output tensors; None of a closed design.
        decide: Reads the decision from the output tensor.
    """

    name: str
    images: Mapping[str, bytes]
    output: OutputSpec
    others: tuple[OutputSpec, ...] = field(default=(), kw_only=True)
    parameters: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    operations: tuple[str, ...] = ()
    inferences: int = 1
    tail: Tail | None = field(default=None, compare=False, repr=False)
    sequel: Sequel | None = field(default=None, compare=False, repr=False)
    driven: Driven | None = field(default=None, kw_only=True)
    decide: Decision = field(default=top1, compare=False, repr=False)

    @property
    def outputs(self) -> tuple[OutputSpec, ...]:
        """All output tensors, in the order in which `RunEnd.output` holds their bytes."""
        return (self.output, *self.others)

    @property
    def output_before(self) -> bytes:
        """What lies where the output tensors will lie, before the run: as `RunEnd.output` has them."""
        return b"".join(self._initial(spec) for spec in self.outputs)

    def with_other_output_memory(self) -> Workload:
        """Return the same run on memory that has other bytes where the output tensors will lie."""
        images = {name: bytearray(image) for name, image in self.images.items()}
        for spec in (spec for spec in self.outputs if spec.written):
            image = images.setdefault(spec.memory, bytearray())
            image.extend(bytes(max(0, spec.offset + spec.size - len(image))))
            image[spec.offset : spec.offset + spec.size] = bytes(b ^ 0xFF for b in self._initial(spec))
        return replace(self, images={name: bytes(image) for name, image in images.items()})

    def _initial(self, spec: OutputSpec) -> bytes:
        found = self.images.get(spec.memory, b"")[spec.offset : spec.offset + spec.size]
        return found + bytes(spec.size - len(found))

    def tensors(self, raw: bytes) -> tuple[npt.NDArray[np.generic], ...]:
        """Return the output tensors in the bytes that a run left."""
        found, start = [], 0
        for spec in self.outputs:
            found.append(spec.tensor(raw[start : start + spec.size]))
            start += spec.size
        return tuple(found)

    def decision(self, raw: bytes) -> object:
        """Return what is decided by the output bytes that a run left."""
        return raw if self.decide is exact else decided(self.decide, self.tensors(raw))


def driven_workload(name: str, driven: Driven) -> Workload:
    """Return what runs where a test drives the design: its output is the verdict, a byte."""
    return Workload(name, {}, OutputSpec("", 0, (1,), "uint8"), driven=driven, decide=exact)


def memory_words(target: Target, workload: Workload, name: str, built: int) -> int:
    """Return how many words a memory has in a workload's run, of the `built` ones of the design.

    Raises:
        HarnessError: If the workload asks for more, or the memory takes no number of words.
    """
    wanted = workload.words.get(name, built)
    if wanted != built and not target.memories[name].words_plusarg:
        raise HarnessError(
            f"{workload.name} makes {name} a memory of {wanted} words; target {target.name} has no way to "
            f"let the design know, add memories.{name}.words_plusarg, or build it with as many",
            f"memories.{name}.words_plusarg",
        )
    if not 0 < wanted <= built:
        raise HarnessError(
            f"{workload.name} makes {name} a memory of {wanted} words, target {target.name} was built with "
            f"{built}; enlarge it by the parameters of the top",
            f"memories.{name}.words",
        )
    return wanted


def words_plusargs(target: Target, workload: Workload) -> list[str]:
    """Return the plusargs, without "+", that say how many words its memories have."""
    return [
        f"{target.memories[name].words_plusarg}={words}" for name, words in sorted(workload.words.items())
    ]


def classify(fault: Fault, golden: RunEnd, faulty: RunEnd, workload: Workload) -> Injection:
    """Compare a faulty run with the golden one and name its outcome on both axes.

    An alarm that the golden run raises, whenever it does, reports nothing.

    Of two inferences the worse is seen. What the first has left in the state is seen by what the second makes
    of it. An alarm of the second comes too late for a wrong output of the first: it does not count.

    A run with a sequel is judged by what comes of its outputs: the worst of all inferences is seen. Where its
    outputs differ and nothing comes of that, as where its own state does, it is latent.
    """
    if golden.first is None:
        judged = _judged(fault, golden, faulty, workload)
        return _followed(judged, golden, faulty, workload)
    if faulty.first is None:
        hang = _judged(fault, golden, faulty, workload)
        return replace(hang, first=hang.outcome)
    first = _judged(fault, golden.first, faulty.first, workload)
    border = faulty.first.end_cycle
    own = replace(faulty, alarms=tuple(rise for rise in faulty.alarms if rise.cycle >= border))
    second = _judged(fault, golden, own, workload)
    whole = replace(_judged(fault, golden, faulty, workload), first=first.outcome, second=second.outcome)
    if first.seen not in (Seen.SDC_TOLERABLE, Seen.SDC_CRITICAL):
        return whole
    return replace(
        whole, seen=_worst([first.seen, second.seen]), detected=first.detected, corrected=first.corrected
    )


def _judged(fault: Fault, golden: RunEnd, faulty: RunEnd, workload: Workload) -> Injection:
    usual = {rise.alarm for rise in golden.alarms}
    rises = [rise for rise in faulty.alarms if rise.alarm not in usual]

    def first(kind: Reported) -> Rise | None:
        return next((rise for rise in rises if rise.kind is kind), None)

    return Injection(
        fault,
        _seen(golden, faulty, workload),
        faulty.end_cycle,
        faulty.status,
        faulty.output_hash,
        first(Reported.DETECTED),
        first(Reported.CORRECTED),
    )


def _followed(judged: Injection, golden: RunEnd, faulty: RunEnd, workload: Workload) -> Injection:
    """Say of a stretch of several inferences what came of its own inference, and what of the later ones."""
    if workload.sequel is None or not workload.sequel.several:
        return judged
    if not faulty.finished:
        return replace(judged, first=judged.outcome)
    found = _inferences_seen(golden, faulty, workload, workload.sequel)
    whole = replace(judged, first=replace(judged, seen=found[0]).outcome)
    if len(found) == 1:
        return whole
    return replace(whole, second=Outcome(_worst(found[1:]).value))


def _inferences_seen(golden: RunEnd, faulty: RunEnd, workload: Workload, sequel: Sequel) -> list[Seen]:
    """Return what is seen of each inference by itself, from that of the run to the last."""
    expected = sequel.course(golden.output)
    found = expected if faulty.output == golden.output else sequel.course(faulty.output)
    left = faulty.output != golden.output or faulty.state_hash != golden.state_hash
    seen = [Seen.LATENT if left else Seen.MASKED] + [Seen.MASKED] * (len(expected.outputs) - 1)
    for place, (one, other) in enumerate(zip(expected.outputs, found.outputs, strict=True)):
        if one != other:
            same = expected.decisions[place] == found.decisions[place]
            seen[place] = Seen.SDC_TOLERABLE if same else Seen.SDC_CRITICAL
    return seen


def _worst(found: Sequence[Seen]) -> Seen:
    return max(found, key=list(Seen).index)


def _seen(golden: RunEnd, faulty: RunEnd, workload: Workload) -> Seen:
    if not faulty.finished:
        return Seen.HANG
    if workload.sequel is not None:
        return _worst(_inferences_seen(golden, faulty, workload, workload.sequel))
    if faulty.output != golden.output:
        same = workload.decision(faulty.output) == workload.decision(golden.output)
        return Seen.SDC_TOLERABLE if same else Seen.SDC_CRITICAL
    return Seen.MASKED if faulty.state_hash == golden.state_hash else Seen.LATENT
