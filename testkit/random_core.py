# SPDX-License-Identifier: Apache-2.0
"""Small random designs that are closed and end: registers of many kinds, clock gates, memories, an alarm."""

from __future__ import annotations

import random

STEPS = 62
"""Cycles after which a design is done."""

_HEAD = """\
module {name} (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o,
  output logic error_o
);
  logic [7:0] in_q[16];
  logic [7:0] out_q[16];
  logic [3:0] from, to;
  logic [7:0] data;
  logic write;
  {name}_core u_core (
    .clk_i, .rst_ni, .data_i(in_q[from]), .from_o(from), .to_o(to), .data_o(data), .write_o(write), .done_o,
    .error_o
  );
  always_ff @(posedge clk_i) if (write) out_q[to] <= data;
endmodule

module {name}_gate (input logic clk_i, input logic en_i, output logic clk_o);
  logic en_latch;
  always_latch if (!clk_i) en_latch = en_i;
  assign clk_o = clk_i & en_latch;
endmodule

module {name}_core (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [7:0] data_i,
  output logic [3:0] from_o,
  output logic [3:0] to_o,
  output logic [7:0] data_o,
  output logic       write_o,
  output logic       done_o,
  output logic       error_o
);
  logic [5:0] step_q;
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) step_q <= '0; else step_q <= step_q + 6'd1;
"""
_ALWAYS = "1'b1"
_BINARY = ("+", "-", "^", "&", "|", "^", "^")


class RandomCore:
    """The source of one design, and what it is made of.

    Args:
        name: Of its top.
        seed: Of all choices.

    Attributes:
        text: SystemVerilog.
    """

    def __init__(self, name: str, seed: int) -> None:
        self._name = name
        self._random = random.Random(seed)
        self._lines: list[str] = []
        registers = {f"r{i}_q": self._random.randint(1, 9) for i in range(self._random.randint(4, 9))}
        memories = [f"m{i}_q" for i in range(self._random.randint(0, 2))]
        self._lines += [f"logic [{width - 1}:0] {own};" for own, width in registers.items()]
        self._signals: dict[str, int] = {"step_q": 6, **registers}
        # What is asked of the bench depends on registers alone: what it answers is a signal.
        asked = self._sized(4)
        self._signals["data_i"] = 8
        for own in memories:
            self._memory(own)
        for own in registers:
            self._register(own)
        self._lines += [
            f"assign from_o = {asked};",
            f"assign to_o = {self._chosen('step_q[3:0]', 'step_q[4:1]')};",
            f"assign data_o = {self._sized(8)};",
            f"assign write_o = step_q[5] & {self._chosen(_ALWAYS, self._bit())};",
            f"assign error_o = &{{step_q[4], {self._bit()}, {self._bit()}, {self._bit()}}};",
            f"assign done_o = step_q == 6'd{STEPS};",
        ]
        self.text = _HEAD.format(name=name) + "".join(f"  {line}\n" for line in self._lines) + "endmodule\n"

    def _chosen(self, *texts: str) -> str:
        return self._random.choice(texts)

    def _register(self, own: str) -> None:
        """Write what a register takes, when, and what sets it."""
        edge = self._chosen("posedge", "posedge", "posedge", "posedge", "negedge")
        # 0 and 1: asynchronous, 2: synchronous, 3: none.
        reset, clock = self._random.choice([0, 0, 0, 0, 0, 1, 1, 2, 2, 3]), "clk_i"
        if edge == "posedge" and reset < 2 and self._random.random() < 0.4:
            clock = f"clk_{own}"
            gate = f"u_gate_{own} (.clk_i, .en_i({self._bit()}), .clk_o({clock}))"
            self._lines += [f"logic {clock};", f"{self._name}_gate {gate};"]
        width = self._signals[own]
        value = f"{width}'d{self._random.randrange(1 << width)}"
        take = f"{own} <= {self._sized(width)};"
        if self._random.random() < 0.6:
            take = f"if ({self._bit()}) {take}"
        if reset < 2:
            level = "rst_ni"
            if reset == 1 and self._random.random() < 0.4:
                level = f"rst_{own}"
                cleared = f"clear_{own}"
                self._lines += [
                    f"logic {cleared}, {level};",
                    f"always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) {cleared} <= 1'b0; "
                    f"else {cleared} <= &{{{self._bit()}, {self._bit()}, {self._bit()}}};",
                    f"assign {level} = rst_ni & ~{cleared};",
                ]
            line = (
                f"always_ff @({edge} {clock} or negedge {level}) if (!{level}) {own} <= {value}; else {take}"
            )
        elif reset == 2:
            line = f"always_ff @({edge} {clock}) if (!rst_ni) {own} <= {value}; else {take}"
        else:
            line = f"always_ff @({edge} {clock}) {take}"
        self._lines.append(line)

    def _memory(self, own: str) -> None:
        """Write a memory with a port for each, and what it gives out as one more signal."""
        width, depth = self._random.randint(4, 9), self._random.choice([64, 128])
        bits = depth.bit_length() - 1
        self._lines += [f"logic [{width - 1}:0] {own}[{depth}];", f"logic [{width - 1}:0] {own}_out;"]
        write = f"{own}[{self._sized(bits)}] <= {self._sized(width)};"
        self._lines.append(f"always_ff @(posedge clk_i) if ({self._bit()}) {write}")
        self._lines.append(f"assign {own}_out = {own}[{self._sized(bits)}];")
        self._signals[f"{own}_out"] = width

    def _bit(self) -> str:
        """Return an expression of one bit."""
        own, width = self._random.choice([*self._signals.items()])
        some = f"{own}[{self._random.randrange(width)}]"
        return self._chosen(some, some, f"(^{own})", f"({some} ^ {self._step()})", f"(~{some})", self._step())

    def _step(self) -> str:
        return f"step_q[{self._random.randrange(4)}]"

    def _sized(self, width: int, depth: int = 0) -> str:
        """Return an expression of a number of bits."""
        if depth > 2 or self._random.random() < 0.25:
            own, _ = self._random.choice([*self._signals.items()])
            return f"{width}'({own})"
        one, other = (self._sized(width, depth + 1) for _ in range(2))
        way = self._random.randrange(8)
        if way == 0:
            return f"({self._bit()} ? {one} : {other})"
        if way == 1:
            return f"~({one})"
        if way == 2:
            return f"{width}'({{{one}, {other}}} >> {self._random.randrange(width)})"
        return f"({one} {self._random.choice(_BINARY)} {other})"
