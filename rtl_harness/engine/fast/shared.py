# SPDX-License-Identifier: Apache-2.0
"""What the engines of a campaign have in common: one design, run on several inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from resil.rtl_harness.cache import NotMadeError, building_nothing
from resil.rtl_harness.engine.fast.audit_sample import AuditCounts
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.fast.watched_gates import watched_gates

# Engines that keep their sweeps between calls.
_KEPT = 16

# What is said of a design, whatever its input, is tried on so many inputs, and then on one of so many.
TRIED_FIRST, TRIED_EACH = 4, 8


@dataclass
class Shared:
    """Shared by the engines of one design and elaboration.

    Attributes:
        audit: What was audited.
        engines: How many they are.
        no_alarm_stays: One of them has found no storage that does nothing but keep alarms up.
    """

    audit: AuditCounts = field(default_factory=AuditCounts)
    engines: int = 1
    no_alarm_stays: bool = False
    _circuits: dict[object, Circuit] = field(default_factory=dict)
    _asked: Counter[object] = field(default_factory=Counter)
    _gates_made: bool | None = None

    @property
    def many(self) -> bool:
        """Whether they are too many to keep what is fast to make again: sweeps of the NPU hold 60 MB each."""
        return self.engines > _KEPT

    def tries(self, said: object) -> bool:
        """Return whether what is said of the design, whatever its input, is tried on the next input, too.

        A trial takes as long as a run without a fault or two: no less than an input with few injections.
        """
        place = self._asked[said]
        self._asked[said] += 1
        return place < TRIED_FIRST or place % TRIED_EACH == 0

    def untried(self, said: object) -> int:
        """Return on how many inputs it was not tried so far."""
        return sum(place >= TRIED_FIRST and place % TRIED_EACH > 0 for place in range(self._asked[said]))

    def gates_are_made(self, model: CompiledModel) -> bool:
        """Return whether the gates of the design are there, so that nothing has to be built for sweeps."""
        if self._gates_made is None:
            try:
                with building_nothing():
                    watched_gates(model.target, model.workload, model.elaboration)
                self._gates_made = True
            except NotMadeError:
                self._gates_made = False
            except UnsupportedError:
                self._gates_made = False  # That is known by now: a large campaign says so in its notes.
        return self._gates_made

    def circuit(self, model: CompiledModel, make: Callable[[], Circuit]) -> Circuit:
        """Return the gates with the places of their storage in a model; made once.

        Args:
            model: Of the compiled library and the words of memories that the places go by.
            make: Makes them.
        """
        key = (model.runner.library.path, tuple(sorted((model.memory_words or {}).items())))
        if key not in self._circuits:
            self._circuits[key] = make()
        return self._circuits[key]
