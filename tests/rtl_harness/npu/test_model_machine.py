# SPDX-License-Identifier: Apache-2.0
"""Runs of the functional model: errors and status, batches, single steps, continued runs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model.commands import Opcode
from resil.rtl_harness.npu.model.config import ETHOS_U55_32, npu_config
from resil.rtl_harness.npu.model.machine import FunctionalModel, ModelResult
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.rtl_harness.npu.model.status import ERRORS, Status
from testkit.errors import about
from testkit.npu.model_support import (
    command,
    encode,
    scale_bytes,
    settings,
    stream,
)

FLASH, RAM = 0, 1
WEIGHTS, SCALES, LENGTH, SLOT, IFM, OFM = 0, 0x800, 0x400, 0x1000, 0x40, 0x140
END = Status.IRQ | Status.CMD_END


def copy(source: int, destination: int, length: int, **changes: int) -> list[int]:
    registers = {"DMA0_SRC_REGION": FLASH, "DMA0_DST_REGION": RAM}
    registers |= {"DMA0_SRC": source, "DMA0_DST": destination, "DMA0_LEN": length, **changes}
    return settings(registers) + command("OP_DMA_START") + command("OP_DMA_WAIT")


def layer(ifm: int, ofm: int, **changes: int) -> list[int]:
    """A 3 x 3 convolution of 4 x 4 x 8 to 4 x 4 x 8 whose weights are at SLOT."""
    sizes = {f"{t}_{d}_M1": 3 for t in ("IFM", "OFM") for d in ("WIDTH0", "HEIGHT0", "HEIGHT1")}
    registers = {
        **sizes, "OFM_WIDTH_M1": 3, "OFM_HEIGHT_M1": 3, "IFM_DEPTH_M1": 7, "OFM_DEPTH_M1": 7,
        "IFM_PAD_TOP": 1, "IFM_PAD_LEFT": 1, "IFM_PAD_RIGHT": 1, "IFM_PAD_BOTTOM": 1,
        "IFM_PRECISION": 1, "OFM_PRECISION": 1, "IFM_ZERO_POINT": -3, "OFM_ZERO_POINT": 4,
        "IFM_REGION": RAM, "OFM_REGION": RAM, "WEIGHT_REGION": RAM, "SCALE_REGION": RAM,
        "IFM_BASE0": ifm, "IFM_STRIDE_X": 8, "IFM_STRIDE_Y": 32,
        "OFM_BASE0": ofm, "OFM_STRIDE_X": 8, "OFM_STRIDE_Y": 32,
        "KERNEL_WIDTH_M1": 2, "KERNEL_HEIGHT_M1": 2, "KERNEL_STRIDE": 4,
        "OFM_BLK_WIDTH_M1": 1, "OFM_BLK_HEIGHT_M1": 3, "OFM_BLK_DEPTH_M1": 7, "IFM_IB_END": 6, "AB_START": 8,
        "ACTIVATION_MIN": -128, "ACTIVATION_MAX": 127,
        "WEIGHT_BASE": SLOT, "WEIGHT_LENGTH": LENGTH, "SCALE_BASE": SLOT + SCALES, "SCALE_LENGTH": 80,
        **changes,
    }  # fmt: skip
    return settings(registers) + command("OP_CONV")


@cache
def flash() -> np.ndarray:
    """Weights of 2 x 12 vectors, then scales."""
    rng = np.random.default_rng(1)
    memory = np.zeros(0x900, dtype=np.uint8)
    weights = encode(rng.integers(-20, 21, 2 * 12 * 32))
    assert len(weights) <= LENGTH
    memory[: len(weights)] = np.frombuffer(weights, np.uint8)
    scales = scale_bytes(range(-40, 40, 10), [1 << 30] * 8, [37] * 8)
    memory[SCALES : SCALES + 80] = np.frombuffer(scales, np.uint8)
    return memory


TWO_LAYERS = stream(
    copy(0, SLOT, 0x890),
    layer(IFM, OFM),
    command("OP_IRQ", 0x0100),
    layer(OFM, IFM),
    command("OP_STOP", 0x8001),
)


def ram(batch: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (batch, 0x2000)).astype(np.uint8)


def run(commands: np.ndarray, memory: np.ndarray, **options) -> list[ModelResult]:
    return FunctionalModel(ETHOS_U55_32).run(commands, {FLASH: flash(), RAM: memory}, **options)


def test_a_stream_runs_to_stop():
    memory = ram(1)
    before = memory.copy()
    assert run(TWO_LAYERS, memory) == [ModelResult(END | 0x8101 << 16, False, 2)]
    assert np.array_equal(memory[0, SLOT : SLOT + 0x890], flash()[:0x890])
    changed = np.flatnonzero(memory[0] != before[0])
    inside = (changed >= IFM) & (changed < OFM + 128) | (changed >= SLOT) & (changed < SLOT + 0x890)
    assert inside.all()
    assert (changed < SLOT).sum() > 200


def test_a_batch_is_a_loop_of_singles():
    memory = ram(7)
    singles = memory.copy()
    results = run(TWO_LAYERS, memory)
    for i in range(7):
        assert run(TWO_LAYERS, singles[i]) == [results[i]]
    assert np.array_equal(memory, singles)


@pytest.mark.parametrize("row", [32, 40])
def test_a_batch_with_weights_scales_and_ends_of_its_own(row: int):
    """Each element has its flash: some equal, some corrupted, some in error; rows without and with gaps."""
    strides = {"IFM_STRIDE_Y": row, "OFM_STRIDE_Y": row}
    commands = stream(
        copy(0, SLOT, 0x890), layer(IFM, OFM, **strides), layer(OFM, IFM, **strides), command("OP_STOP")
    )
    rng = np.random.default_rng(5)
    flashes = np.repeat(flash()[None], 12, axis=0)
    flashes[1, rng.integers(0, 200, 3)] ^= 4
    flashes[2, SCALES + 7] ^= 0x40
    flashes[3, :LENGTH] = 0xFF
    flashes[4:8] = rng.integers(0, 256, flashes[4:8].shape)
    flashes[9] = flashes[1]
    memory, singles = ram(12), ram(12)
    results = FunctionalModel(ETHOS_U55_32).run(commands, {FLASH: flashes, RAM: memory})
    one_by_one = [
        FunctionalModel(ETHOS_U55_32).run(commands, {FLASH: flashes[i], RAM: singles[i]})[0]
        for i in range(12)
    ]
    assert results == one_by_one
    assert np.array_equal(memory, singles)
    assert results[3] == ModelResult(Status.IRQ | Status.WEIGHT_ERROR, True, 1)
    assert {r.operations_done for r in results} == {1, 2}
    assert [results[i].error for i in (0, 1, 2, 8, 9)] == [False] * 5


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch):
    whole, chunked = ram(9), ram(9)
    run(TWO_LAYERS, whole)
    monkeypatch.setattr("resil.rtl_harness.npu.model.batch.CHUNK_ELEMENTS", 2600)
    run(TWO_LAYERS, chunked)
    assert np.array_equal(whole, chunked)


def test_operations_pause_with_memory_as_each_left_it():
    model, memory = FunctionalModel(ETHOS_U55_32), ram(2)
    first = memory.copy()
    run(stream(copy(0, SLOT, 0x890), layer(IFM, OFM), command("OP_STOP")), first)
    steps = model.operations(TWO_LAYERS, {FLASH: flash(), RAM: memory})
    step = next(steps)
    assert (step.index, step.kind) == (0, Opcode.CONV)
    assert TWO_LAYERS[step.word] == Opcode.CONV
    assert step.errors.tolist() == [0, 0]
    assert step.elements.tolist() == [0, 1]
    assert np.array_equal(memory, first)
    assert next(steps).index == 1
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert [r.operations_done for r in end.value.value] == [2, 2]


def test_a_run_continues_after_any_operation():
    model, memory = FunctionalModel(ETHOS_U55_32), ram(2)
    program = model.lower(TWO_LAYERS)
    images = [memory.copy()]
    for _ in model.operations(TWO_LAYERS, {FLASH: flash(), RAM: memory}):
        images.append(memory.copy())
    for done in range(3):
        start = program.resume_word(done)
        continued = images[done].copy()
        results = model.run(TWO_LAYERS, {FLASH: flash(), RAM: continued}, start_word=start)
        assert results == [ModelResult(END | 0x8101 << 16, False, 2)] * 2
        assert np.array_equal(continued, memory)
    with pytest.raises(ValueError, match="0 to 2 operations, found 3"):
        program.resume_word(3)


@pytest.mark.parametrize("word", [3, -1, 10_000])
def test_a_run_starts_at_a_command(word):
    with pytest.raises(ValueError, match=f"start_word {word} is not the beginning"):
        run(TWO_LAYERS, ram(1), start_word=word)


def test_a_run_does_not_start_behind_an_error():
    commands = stream([0xFFFFFFFF], command("OP_STOP"))
    with pytest.raises(ValueError, match="start_word 1"):
        run(commands, ram(1), start_word=1)


def status(*parts: list[int], **options) -> tuple[Status, int]:
    (result,) = run(stream(*parts, command("OP_STOP", 1)), ram(1), **options)
    assert result.error == (not result.status & Status.CMD_END)
    assert result.status >> 16 == (0 if result.error else 1)
    return Status(result.status & 0xFFFF), result.operations_done


def test_an_error_ends_the_stream_after_its_operation():
    preparation = copy(0, SLOT, 0x890)
    assert status(preparation, layer(IFM, OFM)) == (END, 1)
    short = layer(IFM, OFM, WEIGHT_LENGTH=64)
    assert status(preparation, short, layer(IFM, OFM)) == (Status.IRQ | Status.WEIGHT_ERROR, 1)
    beyond = layer(IFM, 0x2000 - 4)
    assert status(preparation, beyond, layer(IFM, OFM)) == (Status.IRQ | Status.ADDRESS_ERROR, 1)
    unscaled = layer(IFM, OFM, SCALE_LENGTH=79)
    assert status(preparation, unscaled, layer(IFM, OFM)) == (Status.IRQ | Status.SCALE_ERROR, 1)
    all_of_them = layer(IFM, 0x2000 - 4, SCALE_LENGTH=79, WEIGHT_LENGTH=64)
    errors = Status.WEIGHT_ERROR | Status.ADDRESS_ERROR | Status.SCALE_ERROR
    assert status(preparation, all_of_them) == (Status.IRQ | errors, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"WEIGHT_BASE": 0x2000 - LENGTH + 16},
        {"WEIGHT_BASE": 0xFFFFFFF0},
        {"WEIGHT_REGION": 5},
        {"SCALE_BASE": 0x2000 - 64},
        {"SCALE_BASE": 0xFFFFFFF0},
        {"SCALE_REGION": 5},
    ],
)
def test_streams_beyond_their_region_keep_the_operation_from_starting(changes):
    assert status(layer(IFM, OFM, **changes)) == (Status.IRQ | Status.ADDRESS_ERROR, 0)
    both = layer(IFM, OFM, **changes, ACC_FORMAT=1)
    assert status(both) == (Status.IRQ | Status.CMD_ERROR, 0)


def test_streams_may_end_with_their_region():
    assert status(layer(IFM, OFM, WEIGHT_BASE=0x2000 - LENGTH, SCALE_BASE=0x2000 - 80))[1] == 1


@pytest.mark.parametrize(
    ("source", "destination", "length"),
    [
        (0x900, SLOT, 16),
        (0, 0x2000, 16),
        (0x100, 0, 0x810),
        (0, 0x1FF0, 32),
        (0xFFFFFFF0, 0, 16),
        (0x910, 0, 0),
    ],
)
def test_copies_beyond_a_region(source, destination, length):
    assert status(copy(source, destination, length)) == (Status.IRQ | Status.ADDRESS_ERROR, 0)


@pytest.mark.parametrize(
    ("source", "destination", "length"), [(0x8F0, 0x1FF0, 16), (0x900, 0x2000, 0), (0, 0, 0x900)]
)
def test_copies_up_to_the_end_of_a_region(source, destination, length):
    assert status(copy(source, destination, length)) == (END, 0)


def test_without_the_check_of_regions_only_the_bus_stops_an_access():
    unchecked = FunctionalModel(npu_config("ethos-u55-32", region_check=False))

    def errors(*parts: list[int]) -> int:
        commands = stream(*parts, command("OP_STOP", 1))
        (result,) = unchecked.run(commands, {FLASH: flash(), RAM: ram(1)})
        return result.status & ERRORS

    preparation = copy(0, SLOT, 0x890)
    assert errors(preparation, layer(IFM, OFM)) == 0
    assert errors(preparation, layer(IFM, 0x2000 - 4)) == Status.BUS_ERROR
    assert errors(preparation, layer(0x2000 - 4, OFM)) == Status.BUS_ERROR
    assert errors(layer(IFM, OFM, WEIGHT_BASE=0x2000)) == Status.BUS_ERROR | Status.WEIGHT_ERROR
    assert errors(preparation, layer(IFM, OFM, SCALE_BASE=0x2000)) == Status.BUS_ERROR
    assert errors(copy(0x900, SLOT, 16)) == errors(copy(0, 0x1FF0, 32)) == Status.BUS_ERROR
    assert errors(copy(0x910, 0x2000, 0)) == 0
    assert errors(copy(0, 0x4000, 16, DMA0_DST_REGION=0x100)) == Status.ADDRESS_ERROR


def test_copies_from_or_to_a_region_that_is_absent():
    for name in ("DMA0_SRC_REGION", "DMA0_DST_REGION"):
        assert status(copy(0, 0, 16, **{name: 4})) == (Status.IRQ | Status.ADDRESS_ERROR, 0)


def test_the_read_only_port_is_not_written():
    read_only = frozenset({RAM})
    assert status(copy(0, SLOT, 16), read_only=read_only) == (Status.IRQ | Status.CMD_ERROR, 0)
    assert status(layer(IFM, OFM), read_only=read_only) == (Status.IRQ | Status.CMD_ERROR, 0)


def test_irq_masks_add_up():
    (result,) = run(stream(command("OP_IRQ", 6), command("OP_IRQ", 0x8000), command("OP_STOP", 1)), ram(1))
    assert result.status == END | 0x8007 << 16
    (result,) = run(stream(command("OP_IRQ", 6), [0xFFFF]), ram(1))
    assert result.status == Status.IRQ | Status.CMD_ERROR | 6 << 16


def test_the_caller_hears_of_arrays_that_do_not_fit():
    model = FunctionalModel(ETHOS_U55_32)
    with pytest.raises(ValueError, match="region 1 is written: give it for each element"):
        model.run(TWO_LAYERS, {FLASH: np.repeat(flash()[None], 2, axis=0), RAM: ram(1)[0]})
    with pytest.raises(ValueError, match="one batch size"):
        model.run(TWO_LAYERS, {FLASH: np.repeat(flash()[None], 2, axis=0), RAM: ram(3)})
    with pytest.raises(ValueError, match="region 1 of int8"):
        model.run(TWO_LAYERS, {RAM: ram(1).view(np.int8)})
    with pytest.raises(ValueError, match="region 9"):
        model.run(TWO_LAYERS, {9: ram(1)})
    frozen = ram(1)
    frozen.setflags(write=False)
    with pytest.raises(ValueError, match="must be writeable"):
        model.run(TWO_LAYERS, {FLASH: flash(), RAM: frozen})
    with pytest.raises(ValueError, match="uint32 words"):
        model.run(TWO_LAYERS.astype(np.int64), {RAM: ram(1)})


def test_operations_too_large_for_the_model_are_named():
    large = layer(IFM, OFM, OFM_DEPTH_M1=8191, IFM_DEPTH_M1=8191, OFM_BLK_DEPTH_M1=15)
    with pytest.raises(HarnessError, check=about("kernel")):
        run(stream(large, command("OP_STOP")), ram(1))


@pytest.mark.parametrize(("destination", "length"), [(0x3FF0, 16), (0, 0x400), (0x4000, 0)])
def test_copies_into_the_shared_buffer(destination, length):
    buffers = np.zeros((1, 0x4000), np.uint8)
    commands = stream(copy(0x40, destination, length, DMA0_DST_REGION=0x100 | FLASH), command("OP_STOP"))
    regions = {FLASH: flash(), RAM: ram(1), SHARED_BUFFER: buffers}
    results = FunctionalModel(ETHOS_U55_32).run(commands, regions, read_only=frozenset({FLASH}))
    assert results == [ModelResult(END, False, 0)]
    assert np.array_equal(buffers[0, destination : destination + length], flash()[0x40 : 0x40 + length])
    assert buffers.any(axis=0).sum() <= length
    assert np.array_equal(regions[RAM], ram(1))


@pytest.mark.parametrize(
    ("source", "destination", "length"), [(0, 0x3FF0, 32), (0, 0x4000, 16), (0x8F0, 0, 32)]
)
def test_copies_beyond_the_shared_buffer(source, destination, length):
    beyond = copy(source, destination, length, DMA0_DST_REGION=0x100)
    assert status(beyond) == (Status.IRQ | Status.ADDRESS_ERROR, 0)
