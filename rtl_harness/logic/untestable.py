# SPDX-License-Identifier: Apache-2.0
"""Which permanent faults of logic nothing can come of: by structure, or in the run of one input.

What is said here is said of each fault by itself, not of what stands for it in a simulation: an input of an
AND that is held at 0 where the other one always is may be excited, although the output is not.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.logic.library import (
    BRIDGE,
    DATA,
    NET,
    OPEN,
    OPEN_DATA,
    OPERAND,
    STORED,
    WIRED,
    HeldPin,
    HeldPins,
)
from resil.rtl_harness.faults import Untestable
from resil.rtl_harness.logic.collapse import net_uses
from resil.rtl_harness.logic.netlist import NOWHERE, LogicNetlist
from resil.rtl_harness.logic.structure import constant_pins, leading_to

_OF_NETS = (NET, BRIDGE, WIRED, OPEN)
_OF_GATES = (OPERAND, STORED)


class UntestablePins:
    """Says why nothing can come of faults, in the golden run of one input.

    Args:
        netlist: The design.
        reaches: Whether something that is observed depends on each net, (nets,).
        values: Which values each net has in the golden run: bit 0 for 0, bit 1 for 1, (nets,).
        counted: Whether each flip-flop is compared at the end, (flip_flops,).
    """

    def __init__(
        self,
        netlist: LogicNetlist,
        reaches: npt.NDArray[np.bool_],
        values: npt.NDArray[np.uint8],
        counted: npt.NDArray[np.uint8],
    ) -> None:
        self._pins = netlist.pins
        self._gates = netlist.gates.gates
        self._flip_flops = netlist.gates.flip_flops
        # What leaves the design may be seen in another bench.
        self._reaches = (reaches | leading_to(netlist, netlist.exits.tolist())).tobytes()
        self._values = values.tobytes()
        self._counted = counted.tobytes()
        self._uses = net_uses(netlist)
        self._constant = constant_pins(netlist)

    def why(self, along_gates: HeldPins, pin: int | None, value: int) -> Untestable | None:
        """Return why nothing can come of a fault; None if something may.

        Args:
            along_gates: What this very fault is along the gates.
            pin: Row of the pin that is held or open; None of a bridge.
            value: At which it is.
        """
        if not self._reached(along_gates):
            return Untestable.UNCONNECTED if self._is_unconnected(pin) else Untestable.NO_PATH
        if pin is not None and self._constant.get(pin) == value:
            return Untestable.CONSTANT
        return None if any(map(self._is_excited, along_gates)) else Untestable.UNEXCITED

    def _is_unconnected(self, pin: int | None) -> bool:
        if pin is None:
            return False
        _, _, output, net, consumer, *_ = self._pins.item(pin)
        return bool(output) and consumer != NOWHERE and not self._uses[net]

    def _reached(self, pins: Iterable[HeldPin]) -> bool:
        """Whether something that is observed may depend on any of the places that are held."""
        for pin in pins:
            if pin.kind in _OF_NETS:
                reached = self._reaches[pin.at]
            elif pin.kind in _OF_GATES:
                reached = self._reaches[self._gates.item(pin.at, 4)]
            else:
                reached = self._counted[pin.at] or self._reaches[self._flip_flops.item(pin.at, 0)]
            if reached:
                return True
        return False

    def _is_excited(self, pin: HeldPin) -> bool:
        """Whether the golden run has another value, where a pin is held, than it is held at."""
        if pin.kind is STORED:
            return False
        if pin.kind in (BRIDGE, WIRED):
            # Two nets that are both 0 all the time, or both 1, are what they would be without the bridge.
            return self._values[pin.at] | self._values[pin.column] == 3
        if pin.kind is NET:
            net = pin.at
        elif pin.kind is OPERAND:
            net = self._gates.item(pin.at, pin.column)
        elif pin.kind in (OPEN, OPEN_DATA) and pin.column >= 0:
            net = self._gates.item(pin.column // 4, pin.column % 4)
        elif pin.kind in (DATA, OPEN_DATA):
            net = self._flip_flops.item(pin.at, 1)
        else:
            # An asynchronous load that never acts in a run has acted before it.
            return True
        return bool(self._values[net] >> (1 - pin.value) & 1)
