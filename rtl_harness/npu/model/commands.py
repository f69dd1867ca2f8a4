# SPDX-License-Identifier: Apache-2.0
"""The register command stream: 32-bit words in, commands and register values out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

_CODE = 0x03FF
_PAYLOAD = 0x4000
_RESERVED = 0xBC00


class CommandError(Exception):
    """The stream asks for something that sets cmd_error.

    Attributes:
        reason: What is wrong with the command.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Opcode(IntEnum):
    """Commands that do something, by code."""

    STOP = 0x000
    IRQ = 0x001
    CONV = 0x002
    DEPTHWISE = 0x003
    POOL = 0x005
    ELEMENTWISE = 0x006
    DMA_START = 0x010
    DMA_WAIT = 0x011
    KERNEL_WAIT = 0x012
    PMU_MASK = 0x013


OPERATIONS = frozenset({Opcode.CONV, Opcode.DEPTHWISE, Opcode.POOL, Opcode.ELEMENTWISE})


class Register(IntEnum):
    """Registers that SET commands write, by code; 0x4000 is added where the value is a payload word."""

    IFM_PAD_TOP = 0x100
    IFM_PAD_LEFT = 0x101
    IFM_PAD_RIGHT = 0x102
    IFM_PAD_BOTTOM = 0x103
    IFM_DEPTH_M1 = 0x104
    IFM_PRECISION = 0x105
    IFM_UPSCALE = 0x107
    IFM_ZERO_POINT = 0x109
    IFM_WIDTH0_M1 = 0x10A
    IFM_HEIGHT0_M1 = 0x10B
    IFM_HEIGHT1_M1 = 0x10C
    IFM_IB_END = 0x10D
    IFM_REGION = 0x10F
    OFM_WIDTH_M1 = 0x111
    OFM_HEIGHT_M1 = 0x112
    OFM_DEPTH_M1 = 0x113
    OFM_PRECISION = 0x114
    OFM_BLK_WIDTH_M1 = 0x115
    OFM_BLK_HEIGHT_M1 = 0x116
    OFM_BLK_DEPTH_M1 = 0x117
    OFM_ZERO_POINT = 0x118
    OFM_WIDTH0_M1 = 0x11A
    OFM_HEIGHT0_M1 = 0x11B
    OFM_HEIGHT1_M1 = 0x11C
    OFM_REGION = 0x11F
    KERNEL_WIDTH_M1 = 0x120
    KERNEL_HEIGHT_M1 = 0x121
    KERNEL_STRIDE = 0x122
    PARALLEL_MODE = 0x123
    ACC_FORMAT = 0x124
    ACTIVATION = 0x125
    ACTIVATION_MIN = 0x126
    ACTIVATION_MAX = 0x127
    WEIGHT_REGION = 0x128
    SCALE_REGION = 0x129
    AB_START = 0x12D
    BLOCKDEP = 0x12F
    DMA0_SRC_REGION = 0x130
    DMA0_DST_REGION = 0x131
    DMA0_SIZE0 = 0x132
    DMA0_SIZE1 = 0x133
    IFM2_BROADCAST = 0x180
    IFM2_SCALAR = 0x181
    IFM2_PRECISION = 0x185
    IFM2_ZERO_POINT = 0x189
    IFM2_WIDTH0_M1 = 0x18A
    IFM2_HEIGHT0_M1 = 0x18B
    IFM2_HEIGHT1_M1 = 0x18C
    IFM2_IB_START = 0x18D
    IFM2_REGION = 0x18F
    IFM_BASE0 = 0x4000
    IFM_BASE1 = 0x4001
    IFM_BASE2 = 0x4002
    IFM_BASE3 = 0x4003
    IFM_STRIDE_X = 0x4004
    IFM_STRIDE_Y = 0x4005
    IFM_STRIDE_C = 0x4006
    OFM_BASE0 = 0x4010
    OFM_BASE1 = 0x4011
    OFM_BASE2 = 0x4012
    OFM_BASE3 = 0x4013
    OFM_STRIDE_X = 0x4014
    OFM_STRIDE_Y = 0x4015
    OFM_STRIDE_C = 0x4016
    WEIGHT_BASE = 0x4020
    WEIGHT_LENGTH = 0x4021
    SCALE_BASE = 0x4022
    SCALE_LENGTH = 0x4023
    OFM_SCALE = 0x4024
    OPA_SCALE = 0x4025
    OPB_SCALE = 0x4026
    DMA0_SRC = 0x4030
    DMA0_DST = 0x4031
    DMA0_LEN = 0x4032
    DMA0_SKIP0 = 0x4033
    DMA0_SKIP1 = 0x4034
    IFM2_BASE0 = 0x4080
    IFM2_BASE1 = 0x4081
    IFM2_BASE2 = 0x4082
    IFM2_BASE3 = 0x4083
    IFM2_STRIDE_X = 0x4084
    IFM2_STRIDE_Y = 0x4085
    IFM2_STRIDE_C = 0x4086
    WEIGHT1_BASE = 0x4090
    WEIGHT1_LENGTH = 0x4091
    SCALE1_BASE = 0x4092
    SCALE1_LENGTH = 0x4093


_SCALES = frozenset({Register.OFM_SCALE, Register.OPA_SCALE, Register.OPB_SCALE})
_STRIDES = frozenset(register for register in Register if "_STRIDE_" in register.name)
# What is above bit 31 of a negative number of 40 bits.
_NEGATIVE = 0xFF
_TARGETS: dict[int, Opcode | Register] = {int(target): target for target in (*Opcode, *Register)}


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the stream.

    Attributes:
        word: Index of its first word.
        target: The operation it starts or the register it writes.
        parameter: Its 16-bit parameter.
        payload: Its payload word, 0 if it has none.
        end: Index of the word after it.
    """

    word: int
    target: Opcode | Register
    parameter: int
    payload: int
    end: int


class Registers:
    """The register file: zero after the start command, then whatever SET commands wrote.

    Registers with a payload hold the payload word; the scale registers hold the parameter above it, in bits
    [47:32].
    """

    def __init__(self) -> None:
        self._values: dict[Register, int] = {}

    def __getitem__(self, register: Register) -> int:
        return self._values.get(register, 0)

    def write(self, register: Register, parameter: int, payload: int = 0) -> None:
        """Execute a SET command; raise CommandError if an address or a length has a high part.

        That of a stride may be the sign of a negative one.
        """
        if not register & _PAYLOAD:
            self._values[register] = parameter
        elif register in _SCALES:
            self._values[register] = parameter << 32 | payload
        elif parameter and not (parameter == _NEGATIVE and register in _STRIDES):
            raise CommandError(f"{register.name} has the high part {parameter:#x}, which is not supported")
        else:
            self._values[register] = payload

    def signed(self, register: Register, bits: int = 16) -> int:
        """Return the low `bits` bits of a register as a two's complement number."""
        value = self[register] & ((1 << bits) - 1)
        return value - (1 << bits) if value >> (bits - 1) else value


def parse(words: Words) -> Iterator[Command]:
    """Yield the commands of a stream up to its end; STOP does not end the iteration.

    Args:
        words: The stream, shape (QSIZE / 4,).

    Raises:
        CommandError: When the iteration reaches a word that is no command, or one whose payload is missing.
    """
    position, size, stream = 0, len(words), words.tolist()
    while position < size:
        word = stream[position]
        code, end = word & (_CODE | _PAYLOAD), position + 1
        if word & _RESERVED:
            raise CommandError(f"command {word:#010x} has reserved bits set")
        target = _TARGETS.get(code)
        if target is None:
            raise CommandError(f"command code {word & 0xFFFF:#06x} is unknown")
        payload = 0
        if word & _PAYLOAD:
            if end == size:
                raise CommandError(f"the stream ends before the payload of {word:#010x}")
            payload, end = stream[end], end + 1
        yield Command(position, target, word >> 16, payload, end)
        position = end
