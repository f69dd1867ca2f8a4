# SPDX-License-Identifier: Apache-2.0
"""The compiled design with a workload in its memories, and what any run of it is judged by."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import check_inferences, describe_fault
from resil.rtl_harness.engine.fast.alarms import Alarms, Rises
from resil.rtl_harness.engine.fast.native.injector import Flip, Injector
from resil.rtl_harness.engine.fast.native.library import ModelInstance, OutputPort
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.fast.state_map import StateMap, variables_of
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, RunEnd


class CompiledModel:
    """A target that runs one workload, compiled.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Storage of the target, elaborated with the workload's parameters.

    Attributes:
        sites: What faults are called by; the sites of the elaboration, if nobody names more.
        runner: Of the compiled model.
        origin: An instance that has just come out of reset.
        map: Where storage lies.
        alarms: The target's.
        injector: Golden pass and injections.

    Raises:
        HarnessError: If the workload or the elaboration does not fit the target.
        SimulationError: If the model cannot be built.
        UnmappedSiteError: If a storage element is not in the model.
    """

    def __init__(self, target: Target, workload: Workload, elaboration: Elaboration) -> None:
        self.target = target
        self.workload = workload
        self.elaboration = elaboration
        self.sites = elaboration.sites
        self._check_parameters()
        check_inferences(target, workload)
        self.runner = Runner(target, workload.parameters, variables_of(elaboration))
        with self.runner.loaded(workload) as plusargs:
            self.origin = self.runner.library.create(plusargs)
        self.origin.reset(target.reset_cycles)
        self.map = StateMap(target, elaboration, self.origin, self.memory_words)
        self.origin.keep([*self.map.unused, *self.map.large])
        self._first: ModelInstance | None = None  # that all others are copied from which are no injector's
        self.alarms = Alarms(target)
        self.injector = Injector(
            self.origin,
            self.map.registers,
            self.map.memories,
            self.alarms.detects,
            self.alarms.corrects,
            self.map.large,
        )

    def close(self) -> None:
        """Free all instances."""
        if self._first is not None:
            self._first.close()
        self.injector.close()
        self.origin.close()

    @property
    def name(self) -> str:
        """What runs on what, for messages."""
        return f"{self.target.name} running {self.workload.name}"

    def start(self) -> ModelInstance:
        """Return a new instance, just out of reset.

        Those that are made so copy all that a run can change from each other, large memories too: nobody
        follows what they write, as the injector does of its own.
        """
        if self._first is None:
            self._first = self.runner.library.create()
            self._first.copy_from(self.origin)
            self._first.keep(self.map.unused)
        made = self.runner.library.create()
        made.copy_from(self._first)
        return made

    def strike(self, instance: ModelInstance, fault: Fault) -> None:
        """Invert the bits of a fault in an instance that stands in its cycle."""
        for flip in self.map.flips(fault):
            instance.flip(flip.storage, flip.bit, flip.word)
        instance.settle()

    def same_state(self, one: ModelInstance, other: ModelInstance) -> bool:
        """Compare all storage of two instances."""
        storage = (*self.map.registers, *self.map.memories)
        return all(np.array_equal(one.view(s), other.view(s)) for s in storage)

    def rises(self, instance: ModelInstance) -> Rises:
        """Return the alarms that rose in an instance's run."""
        return self.alarms.rises(*instance.rises())

    def end(
        self,
        instance: ModelInstance,
        finished: bool,
        end_cycle: int,
        alarms: Rises,
        held: Flip | None = None,
        final: int = 0,
    ) -> RunEnd:
        """Return how a run ended; in its state a bit that was `held` counts as if it were `final`."""
        return RunEnd(
            finished=finished,
            end_cycle=end_cycle,
            status=instance.port(OutputPort.STATUS),
            output=self.runner.output(instance, self.workload),
            state_hash=self.map.state_hash(instance, held, final),
            alarms=alarms,
        )

    def describe(self, fault: Fault) -> str:
        """Return the fault in words, for messages."""
        return describe_fault(fault, self.sites, self.workload.name)

    def check_unused(self, others: Iterable[ModelInstance] = ()) -> None:
        """Raise SimulationError if a run has written to words that its memories do not have.

        Looked at are the injector's instances and `others`.

        These are not copied from state to state, so that what is once written there stays.
        """
        running = (self.injector.cursor, self.injector.faulty, *others)
        for storage in self.map.unused:
            expected = self.origin.view(storage)
            if any((one.view(storage) != expected).any() for one in running):
                raise SimulationError(
                    f"{self.name}: expected that no word of {storage.path} beyond those that the workload "
                    "says is ever written, found one that is; correct the bench, or take out words_plusarg",
                    storage.path,
                )

    @property
    def memory_words(self) -> dict[str, int]:
        """Return the words of memories that have not all of those that were built, by path."""
        memories = self.target.memories
        return {memories[name].path: words for name, words in self.workload.words.items()}

    def _check_parameters(self) -> None:
        wanted = {**self.target.parameters, **self.workload.parameters}
        if dict(self.elaboration.parameters) != wanted:
            raise HarnessError(
                f"workload {self.workload.name} needs the parameters {wanted}, the elaboration was made with "
                f"{dict(self.elaboration.parameters)}; call elaborate(target, workload.parameters)",
                "parameters",
            )
