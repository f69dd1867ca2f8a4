# SPDX-License-Identifier: Apache-2.0
"""A literal model of `tally.sv` and of a host on its bus, with Z where nothing drives."""

from __future__ import annotations

import random
from pathlib import Path

HERE = Path(__file__).parent
REGISTERS = {"sum_q": 8, "held_q": 4, "drives_q": 1, "high_q": 1}
OPEN = None


def stimulus(cycles, seed):
    """Inputs of each cycle; the host drives the bus where it may, and not always."""
    draw, asked, rows = random.Random(seed), 0, []
    for cycle in range(cycles):
        host = draw.randrange(256) if not asked and draw.random() < 0.8 else OPEN
        ask = int(cycle > 3 and draw.random() < 0.3)
        rows.append(
            {
                "rst_ni": int(cycle > 1),
                "ask_i": ask,
                "take_i": draw.randrange(2) if host is not OPEN else 0,
                "host": host,
                "others": int(draw.random() < 0.2),
            }
        )
        asked = ask if rows[-1]["rst_ni"] else 0
    return rows


def begin():
    return dict.fromkeys(REGISTERS, 0)


def driven(state):
    """What the design drives: value of the bus or OPEN, and whether it holds the line down."""
    return (state["sum_q"] if state["drives_q"] else OPEN), bool(state["high_q"])


def odd(state):
    return state["held_q"].bit_count() & 1


def edge(state, given, bus, hold):
    """Return the next state; `bus` and `hold` are what lies on the pins."""
    if not given["rst_ni"]:
        return begin()
    total = state["sum_q"] + bus if given["take_i"] and not state["drives_q"] else state["sum_q"]
    return {
        "sum_q": total & 255,
        "held_q": state["held_q"] + (not hold) & 15,
        "drives_q": given["ask_i"],
        "high_q": int(state["sum_q"] >> 6 == 3),
    }


def recorded(rows):
    """Return what lies on the pins in each cycle, what the design drives, and its output."""
    state, found = begin(), []
    for given in rows:
        own, low = driven(state)
        bus = own if own is not OPEN else given["host"]
        hold = int(not (low or given["others"]))
        found.append({"bus_io": bus, "hold_io": hold, "odd_o": odd(state), "driven": (own is not OPEN, low)})
        state = edge(state, given, bus or 0, hold)
    return found


def replayed(rows, golden, flip):
    """Return whether a replay with a flip differs anywhere, and the state at its end.

    What the design does not drive is as recorded; where its drivers are on or off otherwise, that differs.
    """
    state, differs = begin(), False
    for cycle, (given, own) in enumerate(zip(rows, golden, strict=True)):
        value, low = driven(state)
        bus = value if value is not OPEN else own["bus_io"] or 0
        hold = 0 if low else own["hold_io"]
        differs |= (value is not OPEN, low) != own["driven"] or odd(state) != own["odd_o"]
        differs |= (own["bus_io"] is not OPEN and bus != own["bus_io"]) or hold != own["hold_io"]
        state = edge(state, given, bus, hold)
        if flip is not None and flip[0] == cycle:
            state[flip[1]] ^= 1 << flip[2]
            following = rows[min(cycle + 1, len(rows) - 1)]
            if not following["rst_ni"] and given["rst_ni"]:
                state = begin()
    return differs, state


def write_vcd(file, rows, golden):
    widths = {"clk_i": 1, "rst_ni": 1, "ask_i": 1, "take_i": 1, "bus_io": 8, "hold_io": 1, "odd_o": 1}
    codes = {name: chr(33 + place) for place, name in enumerate(widths)}
    lines = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u_dut $end"]
    lines += [f"$var wire {width} {codes[name]} {name} $end" for name, width in widths.items()]
    lines += ["$upscope $end", "$upscope $end", "$enddefinitions $end"]
    for cycle, (given, own) in enumerate(zip(rows, golden, strict=True)):
        lines += [f"#{10 * cycle}", f"0{codes['clk_i']}"]
        for name, width in [*widths.items()][1:]:
            value = {**given, **own}[name]
            digits = "z" * width if value is OPEN else f"{value:0{width}b}"
            lines.append(f"b{digits} {codes[name]}")
        lines += [f"#{10 * cycle + 5}", f"1{codes['clk_i']}"]
    file.write_text("\n".join(lines) + "\n")
    return file
