# SPDX-License-Identifier: Apache-2.0
"""The RTL of the NPU against its functional model, on memory and operations that no compiler emits."""

import dataclasses

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import CompiledNetwork, CompiledOperation, TensorSlot, compile_network
from resil.networks.ends import Ends
from resil.networks.graph import Quantisation, Tensor
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.native.library import OutputPort, Stop
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.npu.model.config import ETHOS_U55_32
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.program import Execute, lower
from resil.rtl_harness.npu.model.status import Status
from resil.rtl_harness.npu.model.weight_order import weight_order
from resil.rtl_harness.npu.workload import npu_workload
from testkit.npu.model_layout import random_scales
from testkit.npu.model_support import Shape, conv_case, conv_stream, encode

LIMIT = 3_000_000
MODEL = FunctionalModel(ETHOS_U55_32)


@pytest.fixture(scope="module")
def compiled():
    return compile_network(zoo.load("digits").path, ETHOS_U55_32.name)


@pytest.fixture(scope="module")
def runner(compiled):
    workload = npu_workload(compiled, np.zeros((8, 8, 1), np.int8))
    return Runner(load_target(compiled.accelerator), workload.parameters)


def as_network(commands, constants, arena):
    """A network whose input and output are the whole arena."""
    slot = TensorSlot("arena", 1, 0, (1, arena), "int8", 1.0, 0)
    operation = CompiledOperation(0, "conv", "conv", 0, None, None)
    sizes = {0: len(constants), 1: arena}
    tensor = Tensor("arena", slot.shape, slot.dtype, Quantisation((1.0,), (0,)))
    ends = Ends((tensor,), (tensor,), ((0, tensor),), (tensor,), (0,))
    return CompiledNetwork(
        "random",
        ETHOS_U55_32.name,
        "",
        ends,
        (),
        commands,
        constants.tobytes(),
        sizes,
        (slot,),
        (slot,),
        (operation,),
        0,
    )


def compare(runner, commands, constants, arena):
    """Run both; return the status, which agrees, as does the arena where there is no error."""
    network = as_network(commands, constants, len(arena))
    workload = npu_workload(network, arena.view(np.int8)[None])
    regions = {0: constants.copy(), 1: arena[None].copy()}
    (expected,) = MODEL.run(commands, regions, read_only=frozenset({0}))
    with runner.started(workload) as instance:
        assert instance.run(LIMIT) is Stop.DONE
        assert instance.port(OutputPort.STATUS) == expected.status
        assert instance.alarms_up == expected.error
        assert not any(runner.memory(instance, "sram", workload)[len(arena) :])
        if not expected.error:
            assert instance.port(OutputPort.OPERATION) == expected.operations_done
            assert runner.output(instance, workload) == regions[1].tobytes()
    return expected.status


@pytest.mark.parametrize("damage", ["none", "bytes", "bits", "all"])
def test_digits_on_random_arenas_and_damaged_constants(runner, compiled, damage):
    rng = np.random.default_rng(len(damage))
    seen = set()
    for _ in range(20):
        constants = np.frombuffer(compiled.constants, np.uint8).copy()
        match damage:
            case "bytes":
                at = rng.integers(0, len(constants), rng.integers(1, 20))
                constants[at] = rng.integers(0, 256, len(at))
            case "bits":
                constants[rng.integers(0, len(constants), 4)] ^= np.uint8(1 << rng.integers(0, 8))
            case "all":
                constants = rng.integers(0, 256, len(constants), dtype=np.uint8)
        arena = rng.integers(0, 256, compiled.region_sizes[1], dtype=np.uint8)
        seen.add(compare(runner, compiled.commands, constants, arena))
    clean = 0xFFFF0000 | Status.IRQ | Status.CMD_END
    assert seen == {clean} if damage == "none" else Status.IRQ | Status.WEIGHT_ERROR in seen


def random_shape(rng):
    def number(low, high):
        return int(rng.integers(low, high + 1))

    def flag():
        return bool(rng.integers(0, 2))

    taps = (number(1, 12), number(1, 12)) if rng.random() < 0.3 else (number(1, 5), number(1, 9))
    dilation = (number(1, 2), number(1, 2))
    reach = [((t - 1) * d) // 2 for t, d in zip(taps, dilation, strict=True)]
    return Shape(
        ofm=(number(1, 9), number(1, 9), number(1, 37)),
        ifm_depth=number(1, 40),
        taps=taps,
        stride=(number(1, 3), number(1, 3)),
        dilation=dilation,
        pads=tuple(number(0, min(2, reach[i % 2])) for i in range(4)),
        block=(number(1, 4), number(1, 4), number(1, 48)),
        **{f: flag() for f in ("part_kernel", "small_subkernel", "ifm_bricks", "ofm_bricks")},
        **{f: flag() for f in ("ifm_signed", "ofm_signed")},
        ifm_zero_point=number(-256, 255),
        ofm_zero_point=int(rng.choice([0, -128, 127, -32768, 32767])),
        activation=[(-128, 127), (0, 255), (-5, 20), (20, -5), (-32768, 32767)][number(0, 4)],
        gap=number(0, 5),
        extra={"IFM_IB_END": 12, "AB_START": 12} if flag() else {"IFM_IB_END": number(2, 12), "AB_START": 12},
    )


def weights_wanted(shape):
    probe = dataclasses.replace(shape, weight_bytes=bytes(16), scales=bytes(10))
    action = (
        lower(conv_stream(conv_case(probe, np.random.default_rng(0)).registers), ETHOS_U55_32).steps[0].action
    )
    return weight_order(action.config, ETHOS_U55_32).count if isinstance(action, Execute) else 16


def random_weights(rng, wanted):
    match rng.choice(["narrow", "wide", "bytes", "short"]):
        case "narrow":
            return encode(rng.integers(-12, 13, wanted))
        case "wide":
            return encode(rng.integers(-255, 256, wanted))
        case "bytes":
            return rng.integers(0, 256, 16 * (1 + wanted // 16), dtype=np.uint8).tobytes()
        case _:
            whole = encode(rng.integers(-40, 41, wanted))
            return whole[: 16 * max(1, int(rng.integers(0, len(whole) // 16 + 1)))]


@pytest.mark.parametrize("seed", range(5))
def test_random_convolutions(runner, seed):
    """Shapes, weights, scales; one in ten with a damaged register, one in ten with too few scales."""
    seen = set()
    for number in range(24):
        rng = np.random.default_rng([seed, number])
        shape = random_shape(rng)
        shape.weight_bytes = random_weights(rng, weights_wanted(shape))
        shape.scales = random_scales(rng, shape.ofm[2], str(rng.choice(["usual", "extreme", "bytes"])))
        if rng.random() < 0.1:
            shape.scales = shape.scales[: int(rng.integers(1, len(shape.scales) + 1))]
        case = conv_case(shape, rng)
        if rng.random() < 0.1:
            name = str(rng.choice(list(case.registers)))
            case = case.with_registers(**{name: case.registers[name] ^ 1 << int(rng.integers(0, 16))})
        if len(case.ram) <= 8192 and len(case.constants) <= 28_000:
            seen.add(compare(runner, conv_stream(case.registers), case.constants, case.ram))
    assert 0x12340000 | Status.IRQ | Status.CMD_END in seen
    assert len(seen) > 1
