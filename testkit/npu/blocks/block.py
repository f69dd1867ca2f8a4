# SPDX-License-Identifier: Apache-2.0
"""Drives one block of blocks.sv from cocotb: packed structures in and out, a clock edge at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cocotb.handle import Immediate
from cocotb.triggers import Timer

from testkit.npu.blocks.structs import structs

MACS = int(os.environ.get("BLOCKS_MACS", "32"))
UD = 4 if MACS == 32 else 8
UW = 2 if MACS >= 128 else 1
UH = 2 if MACS >= 256 else 1
LANES = UW * UH
BANKS = {32: 16, 64: 16, 128: 24, 256: 48}[MACS]
USABLE = BANKS if MACS <= 64 else BANKS - 2
ACC_BANKS = LANES * UD // 4

Values = dict[str, Any]


class Block:
    """One block: `values` are its inputs, kept until they are changed.

    A cycle puts the inputs, waits until the outputs have settled, and gives the clock edge.
    """

    def __init__(self, dut: Any, name: str) -> None:
        self._in, self._out = structs()[f"{name}_in_t"], structs()[f"{name}_out_t"]
        self._input, self._output = getattr(dut, f"{name}_i"), getattr(dut, f"{name}_o")
        self._clock = getattr(dut, f"{name}_clk", None)
        self._dut, self._name = dut, name
        self.values: Values = {}
        self.cycles = 0

    async def reset(self) -> None:
        """Hold the reset for two edges."""
        self.values = {"rst_n": 0}
        await self.cycle()
        await self.cycle()
        self.values["rst_n"] = 1

    def configure(self, port: str, word: int) -> None:
        """Set a further input, such as the operation."""
        getattr(self._dut, f"{self._name}_{port}").set(Immediate(word))

    async def settle(self) -> Values:
        """Return the outputs for the present inputs, before the clock edge."""
        self._input.set(Immediate(self._in.pack(self.values)))
        self._clock.set(Immediate(0))
        await Timer(1, unit="step")
        return self._out.unpack(int(self._output._handle.get_signal_val_binstr(), 2))

    async def edge(self) -> None:
        """Give the clock edge."""
        self._clock.set(Immediate(1))
        self.cycles += 1
        await Timer(1, unit="step")

    async def cycle(self, **pulses: Any) -> Values:
        """Give one cycle with `pulses` beside the inputs; return the outputs before the edge."""
        kept = self.values
        self.values = {**kept, **pulses}
        outputs = await self.settle()
        await self.edge()
        self.values = kept
        return outputs


def pack(struct: str, values: Mapping[str, Any]) -> int:
    return structs()[struct].pack(values)
