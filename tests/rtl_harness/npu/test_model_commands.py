# SPDX-License-Identifier: Apache-2.0
"""Parsing of command streams, and the rules of section 4 that concern single commands."""

from __future__ import annotations

import numpy as np
import pytest
from ethosu.vela.ethos_u55_regs.ethos_u55_regs import cmd0, cmd1
from hypothesis import given
from hypothesis import strategies as st

from resil.rtl_harness.npu.model.commands import (
    CommandError,
    Opcode,
    Register,
    Registers,
    parse,
)
from resil.rtl_harness.npu.model.config import ETHOS_U55_32
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.rtl_harness.npu.model.program import Copy, StreamEnd, lower
from resil.rtl_harness.npu.model.status import Status
from testkit.npu.model_support import command, setting, settings, stream


def end_of(*parts: list[int], read_only: frozenset[int] = frozenset()) -> StreamEnd:
    """How the stream ends."""
    action = lower(stream(*parts), ETHOS_U55_32, read_only).steps[-1].action
    assert isinstance(action, StreamEnd)
    return action


def test_codes_are_those_of_the_compiler():
    ours = {f"NPU_OP_{o.name}": int(o) for o in Opcode}
    ours |= {f"NPU_SET_{r.name}": r & 0x3FF for r in Register}
    theirs = {c.name: c.value for c in (*cmd0, *cmd1)}
    assert ours == theirs
    assert {r.name for r in Register if r & 0x4000} == {c.name.removeprefix("NPU_SET_") for c in cmd1}


def test_a_stream_is_split_into_commands():
    commands = list(
        parse(stream(setting("IFM_BASE0", 0x1234), setting("IFM_PAD_TOP", 7), command("OP_STOP", 3)))
    )
    assert [(c.word, c.target, c.parameter, c.payload, c.end) for c in commands] == [
        (0, Register.IFM_BASE0, 0, 0x1234, 2),
        (2, Register.IFM_PAD_TOP, 7, 0, 3),
        (3, Opcode.STOP, 3, 0, 4),
    ]


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_any_words_end_once(words: list[int]):
    program = lower(np.array(words, dtype=np.uint32), ETHOS_U55_32)
    assert [isinstance(step.action, StreamEnd) for step in program.steps].count(True) == 1
    assert isinstance(program.steps[-1].action, StreamEnd)


def test_every_bit_of_a_command_word_is_checked():
    known = {*(int(o) for o in Opcode), *(int(r) for r in Register)}
    for code in range(1 << 16):
        words = np.array([code, 0, 0], dtype=np.uint32)
        action = lower(words, ETHOS_U55_32).steps[-1].action
        assert isinstance(action, StreamEnd)
        unknown = "unknown" in action.reason or "reserved" in action.reason
        assert unknown == (code not in known), hex(code)


@pytest.mark.parametrize("bit", [10, 11, 12, 13, 15])
def test_reserved_bits_of_a_command_must_be_zero(bit):
    assert end_of(command("OP_STOP")).status == Status.CMD_END
    end = end_of([command("OP_STOP")[0] | 1 << bit])
    assert end.status == Status.CMD_ERROR
    assert "reserved" in end.reason


def test_a_stream_needs_stop():
    for parts in ([], [setting("IFM_PAD_TOP", 1)], [command("OP_DMA_WAIT")]):
        end = end_of(*parts)
        assert end.status == Status.CMD_ERROR
        assert "without STOP" in end.reason


def test_a_payload_may_not_be_missing():
    end = end_of(setting("IFM_BASE0", 1)[:1])
    assert end.status == Status.CMD_ERROR
    assert "payload" in end.reason


def test_nothing_after_stop_is_looked_at():
    assert end_of(command("OP_STOP"), [0xFFFFFFFF]).status == Status.CMD_END


@pytest.mark.parametrize("name", [c.name.removeprefix("NPU_SET_") for c in cmd1])
def test_high_parts_must_be_zero_except_in_scales(name):
    assert end_of(setting(name, 5), command("OP_STOP")).status == Status.CMD_END
    status = end_of(setting(name, 5, high=1), command("OP_STOP")).status
    assert status == (Status.CMD_END if name in ("OFM_SCALE", "OPA_SCALE", "OPB_SCALE") else Status.CMD_ERROR)


def test_scale_registers_keep_their_parameter():
    registers = Registers()
    registers.write(Register.OFM_SCALE, 0x30, 0x41726B1E)
    assert registers[Register.OFM_SCALE] == 0x30_41726B1E


def test_registers_begin_at_zero_and_have_signs():
    registers = Registers()
    assert registers[Register.IFM_ZERO_POINT] == 0
    registers.write(Register.IFM_ZERO_POINT, 0xFF80)
    assert registers.signed(Register.IFM_ZERO_POINT) == -128
    assert registers.signed(Register.IFM_ZERO_POINT, 9) == -128
    registers.write(Register.IFM_ZERO_POINT, 0x00FF)
    assert registers.signed(Register.IFM_ZERO_POINT, 9) == 255
    with pytest.raises(CommandError, match="high part"):
        registers.write(Register.IFM_BASE0, 1, 0)


@pytest.mark.parametrize("tensor", ["IFM", "OFM", "IFM2"])
def test_strides_may_be_negative_numbers_of_40_bits(tensor):
    for axis in "XYC":
        stride = Register[f"{tensor}_STRIDE_{axis}"]
        registers = Registers()
        registers.write(stride, 0xFF, 0xFFFFFFF0)
        assert registers[stride] == 0xFFFFFFF0
        for high in (1, 0xFE, 0x1FF, 0xFFFF):
            with pytest.raises(CommandError, match="high part"):
                registers.write(stride, high, 0)
    for name in ("IFM_BASE0", "WEIGHT_LENGTH", "DMA0_LEN"):
        with pytest.raises(CommandError, match="high part 0xff"):
            Registers().write(Register[name], 0xFF, 0xFFFFFFF0)


@pytest.mark.parametrize("name", ["OP_CONV", "OP_DEPTHWISE", "OP_POOL", "OP_ELEMENTWISE"])
def test_operations_whose_registers_are_zero(name):
    assert end_of(command(name), command("OP_STOP")).status == Status.CMD_ERROR


@pytest.mark.parametrize("name", ["OP_DMA_WAIT", "OP_KERNEL_WAIT", "OP_PMU_MASK"])
def test_commands_without_an_effect_on_memory(name):
    assert end_of(command(name, 3), command("OP_STOP")).status == Status.CMD_END


COPY = {"DMA0_SRC": 0x20, "DMA0_DST": 0x40, "DMA0_LEN": 0x10, "DMA0_SRC_REGION": 0, "DMA0_DST_REGION": 1}


def copy_end(**changes: int) -> StreamEnd:
    return end_of(
        settings({**COPY, **changes}), command("OP_DMA_START"), command("OP_STOP"), read_only=frozenset({6})
    )


def test_a_copy_is_lowered():
    steps = lower(stream(settings(COPY), command("OP_DMA_START"), command("OP_STOP")), ETHOS_U55_32).steps
    assert steps[0].action == Copy(0, 0x20, 1, 0x40, 0x10)


@pytest.mark.parametrize("name", ["DMA0_SRC", "DMA0_DST", "DMA0_LEN"])
@pytest.mark.parametrize("value", [1, 8, 0x1F])
def test_copies_are_aligned(name, value):
    assert copy_end(**{name: value & ~0xF}).status == Status.CMD_END
    assert copy_end(**{name: value}).status == Status.CMD_ERROR


@pytest.mark.parametrize("name", ["DMA0_SRC_REGION", "DMA0_DST_REGION"])
def test_regions_of_a_copy(name):
    assert copy_end(**{name: 7}).status == Status.CMD_END
    for value in (8, 0x80, 0x108, 0x200, 0x300, 0x8000):
        assert copy_end(**{name: value}).status == Status.CMD_ERROR
    assert (copy_end(**{name: 0x100}).status == Status.CMD_END) == (name == "DMA0_DST_REGION")


def test_a_copy_to_the_shared_buffer():
    """The region's number does not matter then, nor which port it is on."""
    for low in range(8):
        registers = settings({**COPY, "DMA0_DST_REGION": 0x100 | low})
        commands = stream(registers, command("OP_DMA_START"), command("OP_STOP"))
        steps = lower(commands, ETHOS_U55_32, frozenset({6})).steps
        assert steps[0].action == Copy(0, 0x20, SHARED_BUFFER, 0x40, 0x10)


def test_a_copy_may_come_from_the_read_only_port_but_not_go_there():
    assert copy_end(DMA0_SRC_REGION=6).status == Status.CMD_END
    assert copy_end(DMA0_DST_REGION=6).status == Status.CMD_ERROR
