# SPDX-License-Identifier: Apache-2.0
"""A literal model of the ledger, and waveforms of it as a simulator would write them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
PERIOD = 10
WIDTHS = {
    "clk_i": 1,
    "rst_ni": 1,
    "op_i": 2,
    "value_i": 8,
    "ready_i": 1,
    "valid_o": 1,
    "sum_o": 8,
    "odd_o": 1,
    "alarm_o": 1,
}
INPUTS = ("rst_ni", "op_i", "value_i", "ready_i")
OUTPUTS = ("valid_o", "sum_o", "odd_o", "alarm_o")
REGISTERS = {"sum_q": 8, "copy_q": 8, "count_q": 2, "parity_q": 1}


@dataclass
class Ledger:
    """The registers."""

    state: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REGISTERS, 0))
    released: int = 0

    def outputs(self) -> dict[str, int]:
        total = self.state["sum_q"]
        return {
            "valid_o": int(self.state["count_q"] == 3),
            "sum_o": total,
            "odd_o": total.bit_count() & 1,
            "alarm_o": (total.bit_count() & 1) ^ self.state["parity_q"],
        }

    def settle(self, given: dict[str, int]) -> None:
        """The reset acts when it begins, and at each edge: a bit that is inverted between stays so."""
        if self.released and not given["rst_ni"]:
            self.state = dict.fromkeys(REGISTERS, 0)
        self.released = given["rst_ni"]

    def edge(self, given: dict[str, int]) -> None:
        self.settle(given)
        if not given["rst_ni"]:
            self.state = dict.fromkeys(REGISTERS, 0)
            return
        old, total = dict(self.state), self.state["sum_q"]
        step = {0: total, 1: total + given["value_i"], 2: total - given["value_i"], 3: 0}[given["op_i"]]
        self.state["sum_q"] = step & 255
        self.state["parity_q"] = (step & 255).bit_count() & 1
        self.state["copy_q"] = old["sum_q"]
        if old["count_q"] != 3 or given["ready_i"]:
            self.state["count_q"] = old["count_q"] + 1 & 3


def stimulus(cycles: int, seed: int) -> list[dict[str, int]]:
    """Inputs of each cycle, with a reset at the beginning."""
    draw = random.Random(seed)
    return [
        {
            "rst_ni": int(cycle > 2),
            "op_i": draw.randrange(4) if draw.random() < 0.1 else draw.randrange(3),
            "value_i": draw.randrange(256),
            "ready_i": draw.randrange(2),
        }
        for cycle in range(cycles)
    ]


def run(
    inputs: Sequence[dict[str, int]], flip: tuple[int, str, int] | None = None
) -> tuple[list[dict[str, int]], list[int], dict[str, int]]:
    """Return outputs just before each edge, the alarm after it, and the state at the end.

    Args:
        inputs: Of each cycle.
        flip: Cycle after whose edge a bit is inverted, register, bit.
    """
    ledger, before, after = Ledger(), [], []
    for cycle, given in enumerate(inputs):
        ledger.settle(given)
        before.append(ledger.outputs())
        ledger.edge(given)
        if flip is not None and flip[0] == cycle:
            ledger.state[flip[1]] ^= 1 << flip[2]
        following = inputs[min(cycle + 1, len(inputs) - 1)]
        ledger.settle(following)
        after.append(ledger.outputs()["alarm_o"])
    return before, after, ledger.state


def write_vcd(
    file: Path,
    inputs: Sequence[dict[str, int]],
    *,
    together: bool = False,
    spoilt: Callable[[int, str, str], str] = lambda cycle, name, digits: digits,
) -> Path:
    """Write the waveform of a testbench around the ledger.

    Args:
        file: To be written.
        inputs: Of each cycle.
        together: Inputs change with the rising edge that takes them, not at the falling edge before it.
        spoilt: What stands in place of a value, by cycle and name; for what a model does not know.
    """
    ledger, lines, now = Ledger(), [], {}
    head = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u_dut $end"]
    names = {name: chr(33 + place) for place, name in enumerate(WIDTHS)}
    for name, width in WIDTHS.items():
        span = f" [{width - 1}:0]" if width > 1 else ""
        head.append(f"$var wire {width} {names[name]} {name}{span} $end")
    head += ["$upscope $end", "$upscope $end", "$enddefinitions $end"]

    def dump(time: int, cycle: int, values: dict[str, int]) -> None:
        lines.append(f"#{time}")
        for name, value in values.items():
            digits = spoilt(cycle, name, format(value, f"0{WIDTHS[name]}b"))
            if now.get(name) != digits:
                now[name] = digits
                lines.append(f"b{digits} {names[name]}" if WIDTHS[name] > 1 else f"{digits}{names[name]}")

    for cycle, given in enumerate(inputs):
        if not together:
            ledger.settle(given)
            dump(PERIOD * cycle, cycle, {"clk_i": 0, **given, **ledger.outputs()})
        else:
            dump(PERIOD * cycle, cycle, {"clk_i": 0})
        ledger.edge(given)
        own = given if together else {}
        dump(PERIOD * cycle + PERIOD // 2, cycle, {"clk_i": 1, **own, **ledger.outputs()})
    dump(PERIOD * len(inputs), len(inputs), {"clk_i": 0})
    file.write_text("\n".join([*head, *lines]) + "\n")
    return file
