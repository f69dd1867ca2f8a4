# SPDX-License-Identifier: Apache-2.0
"""One-dimensional networks on the RTL with 256 MACs, as compiled, against TensorFlow Lite Micro.

Vela sizes the blocks of such operations for a micro-block of 4 x 1 pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from resil.networks.compile import CompiledNetwork, compile_network
from resil.networks.generate import generate, random_inputs
from resil.networks.graph import Graph
from resil.networks.oracle import run_all
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.npu.model.commands import OPERATIONS, Register, Registers, parse
from resil.rtl_harness.npu.model.config import ETHOS_U55_256
from tests.rtl_harness.npu.network_support import run_network
from tests.rtl_harness.npu.test_rtl_generated import fits, outputs_of

KINDS = ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "TRANSPOSE_CONV")
ON_MODEL, ON_RTL = 12, 6


def registers_of(network: CompiledNetwork) -> Iterator[Registers]:
    """The registers that each operation of a network finds."""
    registers = Registers()
    for found in parse(network.commands):
        if isinstance(found.target, Register):
            registers.write(found.target, found.parameter, found.payload)
        elif found.target in OPERATIONS:
            yield registers


def fills_a_4x1_micro_block_only(network: CompiledNetwork) -> bool:
    """Whether blocks of 2 x 2 pixels would not fit the accumulators' banks."""
    for registers in registers_of(network):
        if registers[Register.OFM_HEIGHT_M1] or registers[Register.KERNEL_HEIGHT_M1]:
            continue
        across = registers[Register.OFM_BLK_WIDTH_M1] // 2 + 1
        planes = registers[Register.OFM_BLK_DEPTH_M1] // 8 + 1
        if across * planes > ETHOS_U55_256.accumulator_rows(registers[Register.AB_START], 46):
            return True
    return False


def compiled(kind: str, seed: int, folder: Path) -> tuple[Graph, CompiledNetwork]:
    graph = generate(kind, seed, one_row=True)
    path = folder / f"{kind.lower()}_{seed}.tflite"
    path.write_bytes(serialise_network(graph))
    return graph, compile_network(path, ETHOS_U55_256.name)


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_networks(kind: str, tmp_path: Path):
    """All on the functional model, those that fit its bench on the RTL."""
    left, only_4x1 = ON_RTL, 0
    for seed in range(ON_MODEL):
        graph, network = compiled(kind, seed, tmp_path)
        only_4x1 += fills_a_4x1_micro_block_only(network)
        inputs = random_inputs(graph, 1, seed)
        (wanted,) = run_all(serialise_network(graph), inputs)
        (found,) = run_network(network, graph, inputs)
        assert np.array_equal(found, wanted), (kind, seed)
        if left and fits(network):
            (found,) = outputs_of(network, graph, inputs)
            assert np.array_equal(found, wanted.reshape(-1)), (kind, seed)
            left -= 1
    assert not left
    assert only_4x1 or kind.endswith("POOL_2D"), "no block of this kind needs the other micro-block"
