# SPDX-License-Identifier: Apache-2.0
"""Which flip-flops the counter of operations is made of."""

from __future__ import annotations

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.fast.native.injector import OperationBit


def operation_bits(target: Target, circuit: Circuit) -> list[OperationBit]:
    """Return where the bits of the counter of operations lie in the state; constant ones are left out.

    Args:
        target: Which names the counter.
        circuit: Its gates, in whose flip-flops differences are given.

    Raises:
        UnsupportedError: If the counter is not made of flip-flops alone, but computed from them: along the
            gates it would not be known when it moves.
    """
    flip_flops = {int(q): i for i, q in enumerate(circuit.flip_flops["q"])}
    found = []
    for place, net in enumerate(circuit.operation.tolist()):
        if net < 2:
            continue
        if net not in flip_flops:
            raise UnsupportedError(
                f"bit {place} of {target.operation}, which counts operations, is no flip-flop of the model, "
                "and a time-out of each operation is asked for"
            )
        flip_flop = circuit.flip_flops[flip_flops[net]]
        found.append(OperationBit(int(flip_flop["offset"]), 1 << int(flip_flop["bit"]), place))
    return found
