# SPDX-License-Identifier: Apache-2.0
"""Runs workloads on a target, one after another, without faults."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resil.rtl_harness.design.operations import operation_ends
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.native.build import SourceVariable, build_model, variables_at
from resil.rtl_harness.engine.fast.native.library import Library, ModelInstance, OutputPort, Stop
from resil.rtl_harness.engine.memories import readmemh_text
from resil.rtl_harness.engine.workload import Workload, memory_words, words_plusargs
from resil.rtl_harness.errors import HarnessError


@dataclass(frozen=True)
class PlainRun:
    """How a run without faults ended.

    Attributes:
        finished: False if the limit came first.
        cycles: Active clock edges from reset to the end.
        operation_ends: Cycles from reset to the end of each operation, in order.
        status: The design's status word.
        error: An alarm rose that reports a detected fault.
        output: Raw bytes of the output tensors, one after the other.
    """

    finished: bool
    cycles: int
    operation_ends: tuple[int, ...]
    status: int
    error: bool
    output: bytes


class Runner:
    """A compiled target that runs workloads of the same parameters.

    Args:
        target: The closed design.
        parameters: Top-level parameters, as the workloads need them.
        variables: Further registers and memories that will be read or written.
        assertions: Check those in the sources.

    Raises:
        HarnessError: As `build_model`.
    """

    def __init__(
        self,
        target: Target,
        parameters: Mapping[str, int],
        variables: Sequence[SourceVariable] = (),
        assertions: bool = False,
    ) -> None:
        self.target = target
        self.parameters = dict(parameters)
        storage = [memory.path for memory in target.memories.values()]
        named = {v.name for v in variables}
        wanted = [*variables, *(v for v in variables_at(storage) if v.name not in named)]
        self.library = Library(build_model(target, parameters, wanted, assertions), target.top)
        with self.library.create() as probe:
            self._built = {name: probe.find(memory.path).depth for name, memory in target.memories.items()}

    def run(self, workload: Workload, limit: int) -> PlainRun:
        """Simulate `workload` from reset for at most `limit` cycles.

        Raises:
            HarnessError: If the workload needs other parameters than this build has, or names a memory that
                the target has not.
            SimulationError: If the design stops itself.
        """
        with self.started(workload) as instance:
            stop = instance.run(limit)
            kinds = [alarm.reports for alarm in self.target.alarms.values()]
            return PlainRun(
                finished=stop is Stop.DONE,
                cycles=instance.cycle,
                operation_ends=operation_ends(instance.operations()),
                status=instance.port(OutputPort.STATUS),
                error=any(kinds[place] == "detected" for place, _ in instance.rises()),
                output=self.output(instance, workload),
            )

    @contextmanager
    def started(self, workload: Workload) -> Iterator[ModelInstance]:
        """Give an instance that holds the workload's images and has just come out of reset."""
        with self.loaded(workload) as plusargs, self.library.create(plusargs) as instance:
            instance.reset(self.target.reset_cycles)
            yield instance

    @contextmanager
    def loaded(self, workload: Workload) -> Iterator[Sequence[str]]:
        """Give the plusargs of an instance that holds the workload's images."""
        if dict(workload.parameters) != self.parameters:
            raise HarnessError(
                f"{workload.name} needs parameters {dict(workload.parameters)}, "
                f"this build has {self.parameters}",
                "parameters",
            )
        with image_files(self.target, self._whole_images(workload)) as plusargs:
            yield [*plusargs, *words_plusargs(self.target, workload)]

    def output(self, instance: ModelInstance, workload: Workload) -> bytes:
        """Return the raw bytes of the output tensors, one after the other."""
        return b"".join(
            self.memory(instance, spec.memory, workload, spec.offset, spec.size) for spec in workload.outputs
        )

    def memory(
        self, instance: ModelInstance, name: str, workload: Workload, first: int = 0, size: int | None = None
    ) -> bytes:
        """Return `size` bytes of a memory of the target from the first one on; default: all to its end.

        A memory is as large as it is in the workload's run.
        """
        memory, words = self.target.memories[name], self._words(workload, name)
        width = memory.word_bytes
        begin, end = first // width, words if size is None else min(words, -(-(first + size) // width))
        found = instance.view(instance.find(memory.path))[begin:end, :width].tobytes()
        return found[first - begin * width :][:size]

    def _words(self, workload: Workload, name: str) -> int:
        return memory_words(self.target, workload, name, self._built[name])

    def _whole_images(self, workload: Workload) -> dict[str, bytes]:
        unknown = sorted((set(workload.images) | set(workload.words)) - set(self._built))
        if unknown:
            raise HarnessError(
                f"{workload.name} fills {', '.join(unknown)}; the memories of target {self.target.name} are "
                f"{', '.join(sorted(self._built))}",
                "images",
            )
        whole = {}
        for name in self._built:
            size = self._words(workload, name) * self.target.memories[name].word_bytes
            image = workload.images.get(name, b"")
            if len(image) > size:
                raise HarnessError(
                    f"{workload.name}: the image of {name} has {len(image)} bytes, the memory of target "
                    f"{self.target.name} holds {size}; enlarge it by the top's parameters",
                    f"images.{name}",
                )
            whole[name] = image.ljust(size, b"\0")
        return whole


@contextmanager
def image_files(target: Target, images: Mapping[str, bytes]) -> Iterator[Sequence[str]]:
    """Give the plusargs that load `images`, by memory name; their files live until the end of the `with`."""
    with tempfile.TemporaryDirectory(prefix="resil-images-") as folder:
        plusargs = []
        for name, image in images.items():
            memory = target.memories[name]
            file = Path(folder) / f"{name}.hex"
            file.write_text(readmemh_text(image, memory.word_bytes))
            plusargs.append(f"{memory.plusarg}={file}")
        yield plusargs
