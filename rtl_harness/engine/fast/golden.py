# SPDX-License-Identifier: Apache-2.0
"""The golden run, and the trials of what injections take for granted of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from resil.rtl_harness.design.operations import operation_ends
from resil.rtl_harness.engine.contract import GoldenRun, check_second
from resil.rtl_harness.engine.fast.absent import AbsentStorage
from resil.rtl_harness.engine.fast.exits import Exits
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.library import ModelInstance, OutputPort, Stop
from resil.rtl_harness.errors import SimulationError
from resil.rtl_harness.faults import RunEnd

# A derived clock whose level comes with the transplant makes an edge; what that changes is put right again.
_TRANSPLANTS = 3


class GoldenPass:
    """The run without a fault, simulated once and remembered by the model's injector.

    Args:
        model: The compiled design.
        limit: Cycles after which it counts as not finishing.
        leave: Whether runs may leave the RTL, if the workload's tail answers for them.
        tried: Try what elaboration and synthesis say of the design: which storage it has, and what of it
            decides nothing. It does not depend on what runs, so one input may answer for others.

    Attributes:
        run: The golden run.
        contents: State at its end, as `StateMap.contents` packs it.
        exits: Where runs may leave the RTL; None if no tail answers for all that they could do.
        notes: What was decided on the way that a user should know.

    Raises:
        HarnessError: If storage that is no hardware decides the result.
        SimulationError: If the design does not finish, or has state that elaboration did not find.
    """

    def __init__(self, model: CompiledModel, limit: int, leave: bool, tried: bool = True) -> None:
        self._model = model
        self.notes: list[str] = []
        stop = model.injector.golden(limit, several=model.workload.inferences > 1)
        run = _golden_run(model, model.injector.cursor, stop, limit)
        end = run.end
        self.contents = model.map.contents(model.injector.cursor)
        self.exits = self._made_exits(end) if leave else None
        if tried:
            check_state_is_whole(model, end)
            AbsentStorage(model.elaboration.sites, model.map, model.start, partial(_ended, model), end).check(
                model.name
            )
        if pause := model.injector.pause:
            early = tuple(rise for rise in end.alarms if rise.cycle < pause)
            end = replace(end, first=model.end(model.injector.seek(pause), True, pause, early))
        check_second(model.target, model.workload, end)
        self.run = replace(run, end=end)

    def _made_exits(self, end: RunEnd) -> Exits | None:
        model = self._model
        tail = model.workload.tail
        if tail is None:
            return None
        quiet = (*tail.quiet, *model.target.storage_names.alerts)
        if loud := model.alarms.loud(quiet, end.alarms):
            self.notes.append(
                f"workload {model.workload.name}: its tail cannot say whether {', '.join(loud)} would rise "
                "in a run that it finishes, so no run leaves the RTL; injections take longer"
            )
            return None
        exits = Exits(model.target, tail, model.map, model.injector)
        self.notes += exits.notes
        return exits


def once(model: CompiledModel, limit: int) -> GoldenRun:
    """Simulate without a fault and remember nothing: for who compares runs, and injects nothing.

    It tries nothing of what injections take for granted.

    Args:
        model: The compiled design, with one inference.
        limit: Cycles after which it counts as not finishing.

    Raises:
        SimulationError: If the design does not finish.
    """
    with model.start() as instance:
        return _golden_run(model, instance, instance.run(limit), limit)


def _golden_run(model: CompiledModel, instance: ModelInstance, stop: Stop, limit: int) -> GoldenRun:
    """Return the run without a fault that an instance has come to the end of.

    Raises:
        SimulationError: If it did not finish.
    """
    end = _ended(model, instance, stop)
    if not end.finished:
        raise SimulationError(
            f"{model.name}: expected {model.target.done} within {limit} cycles, status is "
            f"{end.status:#x}; check the memory images and the reset, or raise golden_limit",
            "done",
        )
    moves = ((0, model.origin.port(OutputPort.OPERATION)), *instance.operations())
    return GoldenRun(end, operation_ends(moves[1:]), tuple(moves))


def _ended(model: CompiledModel, instance: ModelInstance, stop: Stop) -> RunEnd:
    return model.end(instance, stop is Stop.DONE, instance.cycle, model.rises(instance))


def check_state_is_whole(model: CompiledModel, end: RunEnd) -> None:
    """Transplant the known storage alone from the middle of the golden run into a fresh instance.

    Raises:
        SimulationError: If that ends otherwise.
    """
    middle = end.end_cycle // 2
    with model.start() as source, model.runner.library.create() as other:
        source.run_to(middle)
        other.reset(model.target.reset_cycles)
        other.run_to(1)
        for _ in range(_TRANSPLANTS):
            for storage in (*model.map.registers, *model.map.memories):
                other.view(storage)[:] = source.view(storage)
            other.settle()
        stop = other.run(end.end_cycle - middle + 1)
        found = model.end(other, stop is Stop.DONE, other.cycle - 1 + middle, end.alarms)
    if found != end:
        raise SimulationError(
            f"{model.name}: the storage that elaboration found is not all that decides the future; expected "
            f"{end} after a transplant in cycle {middle}, found {found}",
            "transplant",
        )
