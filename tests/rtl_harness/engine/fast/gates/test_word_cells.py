# SPDX-License-Identifier: Apache-2.0
"""Cells of words become gates that compute what Yosys' own evaluation of the cell gives."""

import random
import re

import pytest
from pyosys import libyosys

from resil.rtl_harness.engine.fast.gates.logic import (
    AND,
    MUX,
    NOT,
    ONE,
    OR,
    XOR,
    ZERO,
    Logic,
)
from resil.rtl_harness.engine.fast.gates.word_cells import KINDS, made_of, parts_of

EVALUATED = {
    NOT: lambda a, b, s: 1 - a,
    AND: lambda a, b, s: a & b,
    OR: lambda a, b, s: a | b,
    XOR: lambda a, b, s: a ^ b,
    MUX: lambda a, b, s: b if s else a,
}
SHIFTS = {"$shl", "$shr", "$sshl", "$sshr"}
SIGNED_AMOUNT = {"$shift", "$shiftx"}
SELECTING = {"$mux", "$pmux", "$bmux", "$demux", "$bwmux"}
ONE_INPUT = {"$neg", "$not", "$pos", "$logic_not"}
WORDS = sorted(kind for kind in KINDS if not kind.startswith("$_") and kind not in SELECTING | {"$buf"})


def ports(kind):
    return ("A",) if kind in ONE_INPUT or kind.startswith("$reduce") else ("A", "B")


def random_cell(kind, choose):
    """Widths and signs of a cell, and for some inputs a shape: extended, or a constant in the upper half."""
    parameters = {"Y_WIDTH": choose.randint(1, 12)}
    for port in ports(kind):
        parameters[f"{port}_WIDTH"] = choose.randint(1, 6 if port == "B" and "sh" in kind else 9)
        parameters[f"{port}_SIGNED"] = choose.randrange(2)
    if kind in SHIFTS:
        parameters["B_SIGNED"] = 0
    elif kind == "$shiftx":
        parameters["A_SIGNED"] = 0
    elif kind not in SIGNED_AMOUNT and "B" in ports(kind):
        parameters["B_SIGNED"] = parameters["A_SIGNED"]
    return parameters


def yosys_text(kind, parameters):
    lines = ["module \\top"]
    for number, port in enumerate(ports(kind), 1):
        lines.append(f"  wire width {parameters[f'{port}_WIDTH']} input {number} \\{port}")
    lines += [f"  wire width {parameters['Y_WIDTH']} output 9 \\Y", f"  cell {kind} \\made"]
    lines += [f"    parameter \\{name} {value}" for name, value in parameters.items()]
    return "\n".join([*lines, *(f"    connect \\{p} \\{p}" for p in (*ports(kind), "Y")), "  end", "end", ""])


def judged(kind, parameters, inputs, folder):
    """Return what Yosys says that the cell gives for each of the inputs."""
    source, log = folder / "cell.il", folder / "log"
    source.write_text(yosys_text(kind, parameters))
    design = libyosys.Design()
    libyosys.run_pass(f"read_rtlil {source}", design)
    for values in inputs:
        given = " ".join(f"-set {port} {value}" for port, value in values.items())
        libyosys.run_pass(f"tee -q -a {log} eval {given} -show Y", design)
    found = [line.split("=")[1].strip() for line in log.read_text().splitlines() if "Eval result" in line]
    words = [re.sub(r"^\d+'", "", word.rstrip(".")).replace("x", "0") for word in found]
    return [word.rjust(parameters["Y_WIDTH"], "0") for word in words]


def evaluated(logic, known, words):
    values = {ZERO: 0, ONE: 1, **known}
    for operation, a, b, s, y in logic.gates:
        values[y] = EVALUATED[operation](values[a], values[b], values[s])
    return "".join(str(values[net]) for net in reversed(words))


@pytest.mark.parametrize("kind", WORDS)
def test_a_cell_gives_what_yosys_says(kind, tmp_path):
    choose = random.Random(kind)
    for trial in range(12):
        parameters = random_cell(kind, choose)
        inputs = [
            {port: choose.getrandbits(parameters[f"{port}_WIDTH"]) for port in ports(kind)} for _ in range(8)
        ]
        (folder := tmp_path / str(trial)).mkdir()
        expected = judged(kind, parameters, inputs, folder)
        assert len(expected) == len(inputs)
        # In the first half all inputs are nets; in the second B is a constant, which folds into the gates.
        for number, values in enumerate(inputs):
            logic, nets, known = Logic(), {}, {}
            for port in ports(kind):
                bits = [values[port] >> i & 1 for i in range(parameters[f"{port}_WIDTH"])]
                constant = port == "B" and number >= len(inputs) // 2
                nets[port] = bits if constant else [logic.net() for _ in bits]
                known.update({} if constant else zip(nets[port], bits, strict=True))
            made = parts_made(logic, kind, nets, parameters)
            assert evaluated(logic, known, made) == expected[number], (parameters, values)


def parts_made(logic, kind, nets, parameters):
    names = {port: [f"{port}{i}" for i in range(len(word))] for port, word in nets.items()}
    net_of = {name: net for port in nets for name, net in zip(names[port], nets[port], strict=True)}
    made = []
    for inputs, width in parts_of(kind, {**names, "Y": ["y"] * parameters["Y_WIDTH"]}, parameters):
        pins = {port: [net_of.get(bit, ZERO) for bit in bits] for port, bits in inputs.items()}
        part = made_of(logic, kind, pins, parameters)
        assert len(part) == width
        made += part
    return made


def test_the_selecting_cells():
    for kind, selects in (("$mux", 1), ("$bmux", 2), ("$pmux", 3), ("$bwmux", 3), ("$demux", 2)):
        for trial in range(40):
            choose = random.Random(trial)
            width = 3
            select = [choose.randrange(2) for _ in range(selects)]
            if kind == "$pmux":
                select = [int(i == choose.randrange(-1, 3)) for i in range(3)]
            size = {"$bmux": width * 4}.get(kind, width)
            a = [choose.randrange(2) for _ in range(size)]
            b = [choose.randrange(2) for _ in range(width * (3 if kind == "$pmux" else 1))]
            number = sum(bit << i for i, bit in enumerate(select))
            expected = {
                "$mux": b if select[0] else a,
                "$bwmux": [y if s else x for s, x, y in zip(select, a, b, strict=False)],
                "$bmux": a[number * width :][:width],
                "$demux": [bit if i == number else 0 for i in range(4) for bit in a],
                "$pmux": next((b[i * width :][:width] for i in range(3) if select[i : i + 1] == [1]), a),
            }[kind]
            logic = Logic()
            nets = {port: [logic.net() for _ in word] for port, word in (("A", a), ("B", b), ("S", select))}
            known = {
                net: bit
                for port, word in (("A", a), ("B", b), ("S", select))
                for net, bit in zip(nets[port], word, strict=True)
            }
            made = parts_made(logic, kind, nets, {"WIDTH": width, "Y_WIDTH": len(expected)})
            assert evaluated(logic, known, made) == "".join(map(str, reversed(expected))), kind


def test_gates_that_nothing_needs_are_left_out():
    logic = Logic()
    a, b, c = (logic.net() for _ in range(3))
    wanted = logic.and_(a, logic.not_(b))
    logic.xor(wanted, c)
    gates, numbers = logic.needed([wanted, a, b])
    assert [gate[0] for gate in gates] == [NOT, AND]
    assert gates[-1][4] == numbers[wanted] == numbers[-1] - 1
