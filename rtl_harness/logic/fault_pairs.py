# SPDX-License-Identifier: Apache-2.0
"""Several faults of one machine: pins that are held from reset on, and storage that is struck once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from resil.rtl_harness.engine.fast.gates.circuit import circuit_of
from resil.rtl_harness.engine.logic.library import HeldPin, HeldPins, flipped, flipped_bit, pulsed
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault, Injection
from resil.rtl_harness.logic.held_pins import PinHolder
from resil.rtl_harness.logic.stuck_engine import JUDGED, TOGETHER, StuckEngine


class FaultPairs(StuckEngine):
    """Simulates permanent faults of logic along with further faults.

    The machine with the first fault runs from the release of reset on, so whatever follows meets the state
    that the first has brought about. A pin is held where it is: no class of equal faults stands for it. Some
    answers are audited by an evaluation of all gates, as those of single faults are.
    """

    def held(self, fault: Fault) -> HeldPins:
        """Return what holding a pin is along the gates; errors as `run`."""
        self._check(fault)
        _, holder = self.simulator
        return holder.along_gates(self._sites.pin(fault.site), fault.held or 0)

    def upset_of_cell(self, cell: int, cycle: int) -> HeldPin:
        """Return the upset of the flip-flop that a cell is, in a cycle; KeyError if it is none."""
        _, holder = self.simulator
        assert isinstance(holder, PinHolder)
        return flipped(holder.row_of(cell), cycle)

    def upset_of_memory(self, memory: int, word: int, bit: int, cycle: int) -> HeldPin:
        """Return the upset of a bit of a word, counted from the first, of a memory of `gates.memories`."""
        return flipped_bit(memory, word * 8 * self._entry_bytes[memory] + bit, cycle)

    def pulse_at(self, pin: int, cycle: int) -> HeldPin:
        """Return the pulse at an output pin that gates drive, by its row of the netlist, in a cycle."""
        return pulsed(int(self._netlist.pins["net"][pin]), cycle)

    def together(self, faults: Sequence[tuple[Fault, HeldPins]]) -> list[Injection]:
        """Return an injection for each machine, in their order; some of them are audited.

        Args:
            faults: What each is called, whose cycle counts for times of alarms; and all that goes on in it.

        Raises:
            HarnessError: If netlist and RTL differ.
            AuditError: If an answer is found to be wrong.
            SimulationError: If the gates do not say what a machine does.
        """
        simulator, _ = self.simulator
        found: list[Injection] = []
        for first in range(0, len(faults), TOGETHER):
            chunk = faults[first : first + TOGETHER]
            ends = self._ends(simulator, [pins for _, pins in chunk])
            found += [self._injection(fault, end) for (fault, _), end in zip(chunk, ends, strict=True)]
        # An evaluation of all gates takes as long for one machine as for as many as are judged at once.
        chosen = range(0, len(faults), max(1, math.ceil(len(faults) / JUDGED)))
        again = simulator.judge([faults[place][1] for place in chosen], *self._until()) if chosen else ()
        for place, end in zip(chosen, again, strict=True):
            judged = self._injection(faults[place][0], end)
            if judged != found[place]:
                raise AuditError(
                    f"audit of pairs of faults: {faults[place][1]} was taken for {found[place]}, "
                    f"an evaluation of all gates gives {judged}; what it answered cannot be trusted",
                    faults[place][0],
                    "pair",
                )
            self.audited += 1
        return found

    @cached_property
    def _entry_bytes(self) -> list[int]:
        model = self._fast.model
        circuit = circuit_of(self._netlist.gates, model.origin, model.memory_words)
        found: list[int] = circuit.memories["entry_bytes"].tolist()
        return found
