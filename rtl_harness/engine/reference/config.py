# SPDX-License-Identifier: Apache-2.0
"""What the simulator's side of the cocotb engine must know of target, workload and elaboration."""

from __future__ import annotations

from typing import Any

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.sites import StorageElement
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.memories import check_workload, memory_element, watched_memories
from resil.rtl_harness.engine.state_hash import kept_mask
from resil.rtl_harness.engine.testbench import Driven
from resil.rtl_harness.engine.workload import Workload, memory_words
from resil.rtl_harness.errors import HarnessError


def simulator_config(target: Target, workload: Workload, elaboration: Elaboration) -> dict[str, Any]:
    """Return the configuration of a simulator process, ready for JSON.

    Raises:
        HarnessError: If workload, target and elaboration do not fit together.
    """
    check_workload(target, workload, elaboration)
    return {
        "elements": [_element(e, elaboration) for e in elaboration.sites.elements],
        "kept": kept_mask(elaboration.sites).hex(),
        "memories": {
            name: {
                **_element(element := memory_element(target, elaboration, name), elaboration),
                "observed": m.observed,
                "words": memory_words(target, workload, name, element.depth),
            }
            for name, m in watched_memories(target, workload).items()
        },
        "ports": {role: getattr(target, role) for role in ("done", "status", "operation", "inferences")},
        "alarms": {name: alarm.output for name, alarm in target.alarms.items()},
        "timing": [target.clock, target.reset, target.reset_active_low, target.reset_cycles],
        "outputs": [[output.memory, output.offset, output.size] for output in workload.outputs],
        "inferences": workload.inferences,
    }


def testbench_config(driven: Driven, elaboration: Elaboration | None) -> dict[str, Any]:
    """Return the configuration of a simulator process that runs a test of the user's, ready for JSON.

    Args:
        driven: The design and the test.
        elaboration: Its storage, with paths that begin with the instance; None if nothing is injected.
    """
    elements = () if elaboration is None else elaboration.sites.elements
    target = driven.design
    return {
        "elements": [] if elaboration is None else [_inside(driven, e, elaboration) for e in elements],
        "kept": "" if elaboration is None else kept_mask(elaboration.sites).hex(),
        "memories": {},
        "ports": {"status": target.status},
        "alarms": {name: alarm.output for name, alarm in target.alarms.items()},
        "clock": target.clock,
        "failures": list(driven.test.failures),
    }


def _inside(driven: Driven, element: StorageElement, elaboration: Elaboration) -> dict[str, Any]:
    found = _element(element, elaboration)
    if found["scope"][:1] != [driven.instance]:
        raise HarnessError(
            f"{element.path}: expected storage in {driven.instance}, found it elsewhere; please report it"
        )
    return {**found, "scope": found["scope"][1:]}


def _element(element: StorageElement, elaboration: Elaboration) -> dict[str, Any]:
    place = elaboration.locations[element.path]
    return {
        "path": element.path,
        "kind": element.kind,
        "width": element.width,
        "depth": element.depth,
        "first_word": element.first_word,
        "scope": place.scope.split(".") if place.scope else [],
        "variable": place.variable,
        "indices": list(place.indices),
        "low": place.low,
        "packed_width": place.packed_width,
        "latch": elaboration.is_latch(element.path),
    }
