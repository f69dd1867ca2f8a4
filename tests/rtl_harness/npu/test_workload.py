# SPDX-License-Identifier: Apache-2.0
import dataclasses
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.engine.workload import exact
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.workload import boot_image, layout, npu_workload
from testkit.errors import about

ACCELERATOR = "ethos-u55-32"


@pytest.fixture(scope="module")
def compiled():
    return compile_network(zoo.load("digits").path, ACCELERATOR)


@pytest.fixture
def image(compiled):
    return np.arange(64, dtype=np.int8).reshape(compiled.inputs[0].shape)


def registers(boot):
    words = [struct.unpack_from("<II", boot, i) for i in range(0, len(boot), 8)]
    assert words[-1][1] == 0xFFFF_FFFF
    return [(address, data) for data, address in words[:-1]]


def test_flash_holds_constants_then_commands(compiled, image):
    flash = npu_workload(compiled, image).images["flash"]
    start = layout(compiled).commands
    assert start % 64 == 0
    assert start >= len(compiled.constants)
    assert flash[: len(compiled.constants)] == compiled.constants
    assert flash[start:] == compiled.commands.astype("<u4").tobytes()


def test_input_lies_in_its_slot_and_nothing_else(compiled, image):
    sram = npu_workload(compiled, image).images["sram"]
    slot = compiled.inputs[0]
    assert sram[slot.offset : slot.offset + slot.size] == image.tobytes()
    assert not any(sram[: slot.offset])
    assert not any(sram[slot.offset + slot.size :])


def test_boot_programs_the_documented_registers_and_starts_last(compiled, image):
    writes = registers(npu_workload(compiled, image).images["boot"])
    table = dict(writes)
    assert len(table) == len(writes)
    assert writes[-1] == (0x008, 1)
    assert table[0x010] == 0x1000_0000 + layout(compiled).commands
    assert table[0x020] == 4 * len(compiled.commands)
    assert table[0x01C] == 1
    assert table[0x03C] == 1
    assert (table[0x080], table[0x100]) == (0x1000_0000, len(compiled.constants))
    assert (table[0x088], table[0x104]) == (0x2000_0000, compiled.region_sizes[1])
    assert 0x090 not in table


@pytest.mark.parametrize("again", ["rewrite", "reset"])
def test_a_second_inference_gets_its_input_and_all_registers_again(compiled, image, again):
    one, two = npu_workload(compiled, image), npu_workload(compiled, image, again=again)
    first, writes = registers(one.images["boot"]), registers(two.images["boot"])
    slot = compiled.inputs[0]
    start = 0x2000_0000 + layout(compiled).slot_offset(slot)
    words = struct.unpack(f"<{slot.size // 4}I", image.tobytes())
    between = [(0x008, 2)] if again == "rewrite" else [(0xFFFF_FFFD, 1)] * 4 + [(0xFFFF_FFFD, 0)]
    host = [(start + 4 * i, word) for i, word in enumerate(words)]
    assert writes == [*first, (0xFFFF_FFFE, 0), *between, *host, *first]
    assert (two.inferences, two.parameters["Inferences"], two.tail) == (2, 2, None)
    assert (one.inferences, "Inferences" in one.parameters) == (1, False)
    assert two.images["sram"] == one.images["sram"]


def test_lists_of_the_host_share_a_size(compiled, image):
    one, two = npu_workload(compiled, image), npu_workload(compiled, image, again="reset")
    assert "BootWords" not in one.parameters
    assert len(two.images["boot"]) > 8 * 32
    assert two.parameters.get("BootWords", 64) in (64, 1024)


def test_a_second_arena_follows_the_first(compiled):
    two = dataclasses.replace(compiled, region_sizes={**compiled.region_sizes, 2: 100})
    placed = layout(two)
    assert placed.regions[2] == 1280
    table = dict(registers(boot_image(two, placed)))
    assert (table[0x090], table[0x108]) == (0x2000_0000 + 1280, 100)


@settings(deadline=None, max_examples=30)
@given(constants=st.integers(1, 300_000), arena=st.integers(1104, 200_000))
def test_memory_sizes_are_shared_powers_of_two_that_hold_the_images(compiled, constants, arena):
    network = dataclasses.replace(compiled, constants=bytes(constants), region_sizes={0: constants, 1: arena})
    work = npu_workload(network, np.zeros((8, 8, 1), np.int8))
    for parameter, memory, least in (("FlashWords", "flash", 4096), ("SramWords", "sram", 1024)):
        words = work.words[memory]
        assert work.parameters.get(parameter, 65536) == max(words, 65536)
        assert words & (words - 1) == 0
        assert words >= least
        assert len(work.images[memory]) <= 8 * words
        assert words == least or len(work.images[memory]) > 4 * words


def test_output_and_operations_are_those_of_the_network(compiled, image):
    work = npu_workload(compiled, image, "one")
    slot = compiled.outputs[0]
    assert work.name == "one"
    assert (work.output.memory, work.output.offset, work.output.shape) == ("sram", slot.offset, slot.shape)
    assert work.operations == tuple(o.name for o in compiled.operations)


def test_several_inputs_and_outputs_lie_in_their_slots(compiled, image):
    slot = compiled.outputs[0]
    second = dataclasses.replace(compiled.inputs[0], name="second", offset=slot.offset + 512)
    other = dataclasses.replace(slot, name="other", offset=slot.offset + 256, shape=(1, 4))
    network = dataclasses.replace(compiled, inputs=(*compiled.inputs, second), outputs=(slot, other))
    work = npu_workload(network, (image, image[0] + 1), decided=1)
    assert work.images["sram"][second.offset :][:64] == (image + 1).tobytes()
    assert [(spec.offset, spec.shape) for spec in work.outputs] == [
        (other.offset, (1, 4)),
        (slot.offset, (1, 10)),
    ]
    decided, rest = work.tensors(bytes(range(14)))
    assert (decided.tolist(), rest.reshape(-1).tolist()) == ([[0, 1, 2, 3]], list(range(4, 14)))
    assert work.decision(bytes(range(14))) == 3
    whole = dataclasses.replace(work, decide=exact)
    assert whole.decision(bytes(range(14))) != whole.decision(bytes([*range(13), 0]))


@pytest.mark.parametrize(
    "bad", [np.zeros((8, 8, 1), np.uint8), np.zeros((8, 8, 2), np.int8), np.zeros((2, 8, 8, 1), np.int8)]
)
def test_wrong_input_is_refused(compiled, bad):
    with pytest.raises(HarnessError, check=about("inputs.input")):
        npu_workload(compiled, bad)


def test_what_the_bench_cannot_hold_is_refused(compiled, image):
    with pytest.raises(HarnessError, check=about("regions")):
        npu_workload(dataclasses.replace(compiled, region_sizes={**compiled.region_sizes, 3: 16}), image)
    with pytest.raises(HarnessError, check=about("inputs")):
        npu_workload(dataclasses.replace(compiled, inputs=compiled.inputs * 2), image)
    moved = dataclasses.replace(compiled.inputs[0], offset=1279)
    with pytest.raises(HarnessError, check=about("inputs.input.size")):
        npu_workload(dataclasses.replace(compiled, inputs=(moved,)), image)
