# SPDX-License-Identifier: Apache-2.0
"""A literal model of `walker.sv` and of a memory that answers it."""

from __future__ import annotations

import random
from pathlib import Path

HERE = Path(__file__).parent
REGISTERS = {"addr_q": 6, "sum_q": 16, "turn_q": 2, "wait_q": 1, "wrote_q": 1}
WORDS = 64


def contents(seed):
    draw = random.Random(seed)
    return [draw.randrange(WORDS) << 16 | draw.randrange(1 << 16) for _ in range(WORDS)]


def stimulus(cycles, seed):
    draw = random.Random(seed)
    return [{"rst_ni": int(cycle > 1), "step_i": int(draw.random() < 0.7)} for cycle in range(cycles)]


def outputs(state, given):
    return {
        "mem_req_o": int(given["step_i"] and not state["wait_q"]),
        "mem_we_o": int(state["turn_q"] == 3),
        "mem_addr_o": state["addr_q"] << 2,
        "mem_be_o": 15,
        "mem_wdata_o": state["sum_q"],
        "sum_o": state["sum_q"],
    }


class Memory:
    """Grants at once, answers `latency` cycles later, in order."""

    def __init__(self, words, latency):
        self.words, self.latency, self.due = list(words), latency, []

    def answers(self):
        there = bool(self.due) and self.due[0][0] <= 0
        return {"mem_gnt_i": 1, "mem_rvalid_i": int(there), "mem_rdata_i": self.due[0][1] if there else 0}

    def edge(self, given, asked):
        if not given["rst_ni"]:
            self.due = []
            return
        if self.due and self.due[0][0] <= 0:
            self.due.pop(0)
        self.due = [(left - 1, word) for left, word in self.due]
        if asked["mem_req_o"]:
            place = asked["mem_addr_o"] >> 2
            self.due.append((self.latency - 1, 0 if asked["mem_we_o"] else self.words[place]))
            if asked["mem_we_o"]:
                self.words[place] = asked["mem_wdata_o"]


def edge(state, given, asked, answers):
    if not given["rst_ni"]:
        return dict.fromkeys(REGISTERS, 0)
    new = dict(state)
    if asked["mem_req_o"] and answers["mem_gnt_i"]:
        new |= {"wait_q": 1, "wrote_q": asked["mem_we_o"], "turn_q": state["turn_q"] + 1 & 3}
    elif answers["mem_rvalid_i"]:
        word = answers["mem_rdata_i"]
        new["wait_q"] = 0
        new["addr_q"] = (state["addr_q"] + 1 if state["wrote_q"] else word >> 16) & 63
        if not state["wrote_q"]:
            new["sum_q"] = state["sum_q"] + word & 0xFFFF
    return new


def run(rows, words, latency=1, flip=None, replayed=None):
    """Return all ports in each cycle, and registers and memory at the end.

    Args:
        rows: Inputs that do not react.
        words: Of the memory.
        latency: Of the memory.
        flip: Cycle after whose edge a bit is inverted, register, bit.
        replayed: Answers of each cycle, in place of the memory's.
    """
    memory, state, found = Memory(words, latency), dict.fromkeys(REGISTERS, 0), []
    for cycle, given in enumerate(rows):
        answers = memory.answers()
        if replayed is not None:
            answers = {name: replayed[cycle][name] for name in answers}
        asked = outputs(state, given)
        found.append({**given, **asked, **answers})
        state = edge(state, given, asked, answers)
        memory.edge(given, asked)
        if flip is not None and flip[0] == cycle:
            state[flip[1]] ^= 1 << flip[2]
    return found, (state, memory.words)


WIDTHS = {
    **{"clk_i": 1, "rst_ni": 1, "step_i": 1, "mem_req_o": 1, "mem_gnt_i": 1, "mem_addr_o": 8, "mem_we_o": 1},
    **{"mem_be_o": 4, "mem_wdata_o": 32, "mem_rvalid_i": 1, "mem_rdata_i": 32, "sum_o": 16},
}


def write_vcd(file, found, settle=5):
    """Write the waveform, values `settle` after the clock; data that are not valid are what a bus keeps."""
    codes = {name: chr(33 + place) for place, name in enumerate(WIDTHS)}
    lines = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u_dut $end"]
    lines += [f"$var wire {width} {codes[name]} {name} $end" for name, width in WIDTHS.items()]
    lines += ["$upscope $end", "$upscope $end", "$enddefinitions $end"]
    for cycle, values in enumerate(found):
        lines += [f"#{10 * cycle - 5}", f"1{codes['clk_i']}"] if cycle else []
        lines += [f"#{10 * cycle - 5 + settle}"] if cycle else ["#0"]
        lines += [f"0{codes['clk_i']}"] if settle == 5 else []
        for name, value in values.items():
            digits = f"{value:0{WIDTHS[name]}b}"
            if name == "mem_rdata_i" and not values["mem_rvalid_i"]:
                digits = f"{0xDEAD:032b}"
            lines.append(f"b{digits} {codes[name]}")
        lines += [] if settle == 5 else [f"#{10 * cycle}", f"0{codes['clk_i']}"]
    lines += [f"#{10 * len(found) - 5}", f"1{codes['clk_i']}"]
    file.write_text("\n".join(lines) + "\n")
    return file
