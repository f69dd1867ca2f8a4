# SPDX-License-Identifier: Apache-2.0
"""Ethos-U command streams as text: the driver's payload around them, commands, registers.

The facts about the format are Vela's (`ethosu.vela.driver_actions`, `ethosu.vela.ethos_u55_regs`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError

Words = npt.NDArray[np.uint32]

PAYLOAD_MAGIC = b"COP1"
_CONFIG, _COMMAND_STREAM, _READ_APB, _DUMP_SHRAM, _NOP = 1, 2, 3, 4, 5
_EXTRA_WORDS = {_CONFIG: 2, _READ_APB: 0, _DUMP_SHRAM: 0, _NOP: 0}
_CODE_MASK = 0x3FF
_PAYLOAD_FLAG = 0x4000
_RESERVED_BITS = 0xBC00

OPERATION_KINDS = {
    "NPU_OP_CONV": "conv",
    "NPU_OP_DEPTHWISE": "depthwise",
    "NPU_OP_POOL": "pool",
    "NPU_OP_ELEMENTWISE": "elementwise",
}


@dataclass(frozen=True)
class VelaCommand:
    """One command of a stream.

    Attributes:
        word: Index of its first word in the stream.
        mnemonic: Vela's name, such as "NPU_SET_IFM_REGION".
        parameter: The 16-bit parameter.
        payload: The 32-bit payload, or None if the command has none.
    """

    word: int
    mnemonic: str
    parameter: int
    payload: int | None = None

    @property
    def value(self) -> int:
        """What a register is set to: the payload if there is one, else the parameter."""
        return self.parameter if self.payload is None else self.payload

    def __str__(self) -> str:
        payload = "" if self.payload is None else f" 0x{self.payload:08x}"
        return f"{4 * self.word:06x}  {self.mnemonic} {self.parameter}{payload}"


@dataclass(frozen=True)
class DriverPayload:
    """What the driver of the NPU is handed.

    Attributes:
        commands: The register command stream.
        macs_per_cycle: Configuration of the NPU for which it was compiled; None if the payload does not say.
    """

    commands: Words
    macs_per_cycle: int | None


def parse_driver_payload(data: bytes) -> DriverPayload:
    """Take the command stream out of a driver payload (COP1).

    Raises:
        NetworkError: The payload is damaged or of another format.
    """
    if data[:4] != PAYLOAD_MAGIC or len(data) % 4:
        raise NetworkError(
            f"expected a driver payload of whole words that starts with {PAYLOAD_MAGIC!r}, "
            f"found {len(data)} bytes that start with {data[:4]!r}",
            "magic",
        )
    words = np.frombuffer(data, dtype="<u4").astype(np.uint32)
    macs, position = None, 1
    while position < len(words):
        tag = int(words[position])
        action = tag & 0xFF
        position += 1
        if action == _COMMAND_STREAM:
            length = tag >> 16 | (tag >> 8 & 0xFF) << 16
            if position + length > len(words):
                raise NetworkError(
                    f"the driver payload announces {length} words of commands and has "
                    f"{len(words) - position}",
                    "length",
                )
            return DriverPayload(words[position : position + length].copy(), macs)
        if action not in _EXTRA_WORDS:
            raise NetworkError(
                f"word {position - 1} of the driver payload has the unknown action {action}",
                f"words[{position - 1}].action",
            )
        if action == _CONFIG and position < len(words):
            macs = 1 << (int(words[position]) & 0xF)
        position += _EXTRA_WORDS[action]
    raise NetworkError("the driver payload has no command stream", "commands")


def commands(stream: Words) -> Iterator[VelaCommand]:
    """Yield the commands of a register command stream.

    Raises:
        NetworkError: A code is unknown, a reserved bit is set, or the last payload is missing.
    """
    names = _mnemonics()
    position = 0
    while position < len(stream):
        word = int(stream[position])
        key = word & (_CODE_MASK | _PAYLOAD_FLAG)
        if word & _RESERVED_BITS or key not in names:
            raise NetworkError(
                f"word {position} of the command stream, 0x{word:08x}, is no Ethos-U55 command",
                f"words[{position}]",
            )
        payload = None
        if word & _PAYLOAD_FLAG:
            if position + 1 >= len(stream):
                raise NetworkError(
                    f"the command stream ends within {names[key]} at word {position}",
                    f"words[{position}].payload",
                )
            payload = int(stream[position + 1])
        yield VelaCommand(position, names[key], word >> 16, payload)
        position += 1 if payload is None else 2


@dataclass(frozen=True)
class NpuOperation:
    """An NPU_OP_* command that computes, with the registers as it finds them.

    Attributes:
        word: Index of the command in the stream.
        kind: "conv", "depthwise", "pool" or "elementwise".
        registers: Register name without "NPU_SET_" to its value.
    """

    word: int
    kind: str
    registers: dict[str, int]

    @property
    def output_elements(self) -> int:
        """Elements of the output feature map."""
        return self._size("OFM_HEIGHT_M1") * self._size("OFM_WIDTH_M1") * self._size("OFM_DEPTH_M1")

    @property
    def macs(self) -> int:
        """Multiplications with weights that the operation needs; 0 for pooling and elementwise operations."""
        if self.kind not in ("conv", "depthwise"):
            return 0
        stride = self.registers.get("KERNEL_STRIDE", 0)
        taps_x = self.registers.get("KERNEL_WIDTH_M1", 0) // (1 + (stride >> 3 & 1)) + 1
        taps_y = self.registers.get("KERNEL_HEIGHT_M1", 0) // (1 + (stride >> 4 & 1)) + 1
        channels = self._size("IFM_DEPTH_M1") if self.kind == "conv" else 1
        return self.output_elements * taps_x * taps_y * channels

    def _size(self, register: str) -> int:
        return self.registers.get(register, 0) + 1


def npu_operations(stream: Words) -> Iterator[NpuOperation]:
    """Yield the operations of a stream in order; DMA copies are not among them. Errors as `commands`."""
    registers: dict[str, int] = {}
    for command in commands(stream):
        if command.mnemonic.startswith("NPU_SET_"):
            registers[command.mnemonic.removeprefix("NPU_SET_")] = command.value
        elif command.mnemonic in OPERATION_KINDS:
            yield NpuOperation(command.word, OPERATION_KINDS[command.mnemonic], dict(registers))


def disassemble(stream: Words) -> str:
    """Return the stream as text, one command a line: byte offset, mnemonic, parameter, payload."""
    return "\n".join(str(command) for command in commands(stream))


def encode(mnemonic: str, parameter: int = 0, payload: int | None = None) -> bytes:
    """Return a command's words, little endian; the inverse of `commands`.

    Raises:
        NetworkError: The mnemonic is unknown, or a payload is missing or too many.
    """
    codes = {name: key for key, name in _mnemonics().items()}
    if mnemonic not in codes:
        raise NetworkError(f"{mnemonic} is no Ethos-U55 command", "mnemonic")
    key = codes[mnemonic]
    if bool(key & _PAYLOAD_FLAG) != (payload is not None):
        raise NetworkError(f"{mnemonic} takes {'a' if key & _PAYLOAD_FLAG else 'no'} payload", "payload")
    first = struct.pack("<I", key | parameter << 16)
    return first if payload is None else first + struct.pack("<I", payload)


@cache
def _mnemonics() -> dict[int, str]:
    try:
        from ethosu.vela.ethos_u55_regs.ethos_u55_regs import cmd0, cmd1
    except ImportError as error:
        raise NetworkError(
            f"Vela is not installed ({error}); run `pip install ethos-u-vela==5.2.0`", "vela"
        ) from error
    return {c.value: c.name for c in cmd0} | {c.value | _PAYLOAD_FLAG: c.name for c in cmd1}
