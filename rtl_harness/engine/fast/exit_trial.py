# SPDX-License-Identifier: Apache-2.0
"""The trial of what is taken to make no difference where runs leave the RTL."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from random import Random

from resil.rtl_harness.engine.fast.exits import Exits
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.library import ModelInstance, Stop
from resil.rtl_harness.faults import RunEnd, digest


def close_wrong_exits(model: CompiledModel, golden: RunEnd, exits: Exits, generator: Random) -> list[str]:
    """Set what is dead at the exits to noise, and turn queues; where anything comes of it, none may leave.

    Args:
        model: Has had its golden pass.
        golden: How that ended.
        exits: Know what is dead.
        generator: Of the noise.

    Returns:
        What a user should know.
    """
    observed = [name for name, memory in model.target.memories.items() if memory.observed]
    usual = {rise.alarm for rise in golden.alarms}

    def seen(instance: ModelInstance, stop: Stop) -> tuple[RunEnd, list[int]]:
        found = model.end(instance, stop is Stop.DONE, instance.cycle, ())
        contents = digest(b"".join(model.runner.memory(instance, name, model.workload) for name in observed))
        return replace(found, state_hash=contents), [cycle for cycle, _ in instance.operations()]

    def run(places: Collection[int]) -> tuple[RunEnd, list[int]] | None:
        """Return how a run ended that was scrambled there; None if it raised an alarm."""
        with model.start() as other:
            exits.scramble(other, noise, places)
            found = seen(other, other.run(2 * golden.end_cycle))
            return found if all(rise.alarm in usual for rise in model.rises(other)) else None

    known, noise = exits.open, generator.getrandbits(64)
    expected = run(())
    if run(known.values()) == expected:
        return []
    wrong = {value: place for value, place in known.items() if run([place]) != expected} or known
    exits.close(wrong.values())
    return [
        f"workload {model.workload.name}: what no longer matters when an operation has ended was scrambled, "
        f"and queues turned; that changed the run after {', '.join(map(str, wrong))} operations, so it does "
        "matter: no run leaves there. Injections take longer, outcomes are right; please report it"
    ]
