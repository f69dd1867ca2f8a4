# SPDX-License-Identifier: Apache-2.0
"""Cells as C++ on 32 machines give what Yosys' own evaluation of the cell gives."""

import random
import re
from dataclasses import dataclass, field

import numpy as np
import pytest
from pyosys import libyosys

from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.engine.fast.lanes import build
from resil.rtl_harness.engine.fast.lanes.design import read_design
from resil.rtl_harness.engine.fast.lanes.emit import source
from resil.rtl_harness.engine.fast.lanes.words import UnsupportedLanesError
from resil.rtl_harness.engine.fast.native.sweep import PLACE
from resil.rtl_harness.tools import compiler_version
from tests.rtl_harness.engine.fast.lanes.machines import MACHINES, Machines

SHIFTS = {"$shl", "$shr", "$sshl", "$sshr"}
SIGNED_AMOUNT = {"$shift", "$shiftx"}
REDUCED = {f"$reduce_{name}" for name in ("and", "or", "xor", "xnor", "bool")}
ONE_INPUT = {"$neg", "$not", "$pos", "$logic_not", *REDUCED}
BITWISE = {"$and", "$or", "$xor", "$xnor"}
TRUTHS = {
    *REDUCED,
    "$logic_not",
    "$logic_and",
    "$logic_or",
    "$eq",
    "$ne",
    "$eqx",
    "$nex",
    "$lt",
    "$le",
    "$gt",
    "$ge",
}
SELECTING = {"$mux", "$pmux", "$bmux", "$demux", "$bwmux"}
KINDS = sorted(ONE_INPUT | BITWISE | TRUTHS | SHIFTS | SIGNED_AMOUNT | SELECTING | {"$add", "$sub", "$mul"})
WIDTHS = (range(1, 13), range(1, 13), range(13, 40), range(60, 65), range(65, 129))
TRIALS = 5


@dataclass
class Made:
    """A cell, what it is fed with, and where its result is."""

    kind: str
    parameters: dict
    operands: dict = field(default_factory=dict)
    result: list = field(default_factory=list)

    def __str__(self):
        return f"{self.kind} {self.parameters}"


class Netlist:
    """Registers that keep what they hold, cells behind them, and registers that take the results."""

    def __init__(self):
        self.cells = {}
        self.nets = 2
        self.ports = {
            "clk": {"direction": "input", "bits": [2]},
            "done": {"direction": "output", "bits": ["0"]},
        }

    def new(self, width):
        self.nets += width
        return [*range(self.nets - width + 1, self.nets + 1)]

    def register(self, width, data=None):
        q = self.new(width)
        parameters = {"WIDTH": f"{width:b}", "CLK_POLARITY": "1"}
        pins = {"CLK": [2], "D": data or q, "Q": q}
        self.add("$dff", parameters, pins)
        return q

    def add(self, kind, parameters, pins):
        self.cells[f"c{len(self.cells)}"] = {"type": kind, "parameters": parameters, "connections": pins}

    def operand(self, width, choose):
        """Bits of a register; or of several, with constants between, and one again and again."""
        if choose.randrange(2):
            return self.register(width)
        bits = []
        while len(bits) < width:
            size = choose.randint(1, width)
            kind = choose.randrange(4)
            if kind == 0:
                bits += [choose.choice("01") for _ in range(size)]
            elif kind == 1:
                bits += self.register(1) * size
            else:
                first = choose.randrange(20)
                bits += self.register(size + first + choose.randrange(9))[first : first + size]
        return bits[:width]

    def put(self, kind, parameters, choose):
        made = Made(kind, parameters)
        for port, width in widths(kind, parameters).items():
            made.operands[port] = self.operand(width, choose)
        output = self.new(output_width(kind, parameters))
        written = {name: f"{value:032b}" for name, value in parameters.items()}
        self.add(kind, written, {**made.operands, "Y": output})
        made.result = self.register(len(output), output)
        if choose.randrange(2):
            self.ports[f"y{len(self.ports)}"] = {"direction": "output", "bits": made.result}
        return made


def ports(kind):
    return ("A",) if kind in ONE_INPUT else ("A", "B")


def widths(kind, parameters):
    """Width of each input."""
    if kind not in SELECTING:
        return {port: parameters[f"{port}_WIDTH"] for port in ports(kind)}
    width, selects = parameters["WIDTH"], parameters.get("S_WIDTH", 1)
    return {
        "$mux": {"A": width, "B": width, "S": 1},
        "$bwmux": {"A": width, "B": width, "S": width},
        "$pmux": {"A": width, "B": width * selects, "S": selects},
        "$bmux": {"A": width << selects, "S": selects},
        "$demux": {"A": width, "S": selects},
    }[kind]


def output_width(kind, parameters):
    if kind == "$demux":
        return parameters["WIDTH"] << parameters["S_WIDTH"]
    return parameters["WIDTH" if kind in SELECTING else "Y_WIDTH"]


def random_cell(kind, trial, choose):
    def width():
        return choose.choice(WIDTHS[trial % len(WIDTHS)])

    if kind in SELECTING:
        selects = {} if kind in {"$mux", "$bwmux"} else {"S_WIDTH": choose.randint(1, 3)}
        return {"WIDTH": width(), **selects}
    parameters = {"Y_WIDTH": choose.choice((1, 1, 1, 7, 70)) if kind in TRUTHS else width()}
    for port in ports(kind):
        shifting = port == "B" and kind in SHIFTS | SIGNED_AMOUNT
        parameters[f"{port}_WIDTH"] = choose.choice((3, 5, 7, 8, 12)) if shifting else width()
        parameters[f"{port}_SIGNED"] = choose.randrange(2)
    if kind in SHIFTS:
        parameters["B_SIGNED"] = 0
    elif kind == "$shiftx":
        parameters["A_SIGNED"] = 0
    elif kind not in SIGNED_AMOUNT and "B" in ports(kind):
        parameters["B_SIGNED"] = parameters["A_SIGNED"]
    return parameters


def judged(made, inputs, folder):
    """Return what Yosys says that the cell gives for each of the inputs; what is undefined is 0."""
    sizes = widths(made.kind, made.parameters)
    lines = ["module \\top"]
    lines += [f"  wire width {w} input {i} \\{port}" for i, (port, w) in enumerate(sizes.items(), 1)]
    lines += [f"  wire width {len(made.result)} output 9 \\Y", f"  cell {made.kind} \\made"]
    lines += [f"    parameter \\{name} {value}" for name, value in made.parameters.items()]
    lines += [f"    connect \\{p} \\{p}" for p in (*sizes, "Y")]
    (folder / "cell.il").write_text("\n".join([*lines, "  end", "end", ""]))
    log = folder / "log"
    log.unlink(missing_ok=True)
    design = libyosys.Design()
    libyosys.run_pass(f"read_rtlil {folder / 'cell.il'}", design)
    for values in inputs:
        given = " ".join(f"-set {p} {sizes[p]}'b{value:0{sizes[p]}b}" for p, value in values.items())
        libyosys.run_pass(f"tee -q -a {log} eval {given} -show Y", design)
    found = [line.split("=")[1].strip() for line in log.read_text().splitlines() if "Eval result" in line]
    return [value_of(word.rstrip("."), len(made.result)) for word in found]


def value_of(text, width):
    """Read a value as Yosys writes it: of 32 bits that are all defined as a number, others as bits."""
    _, sign, bits = text.partition("'")
    return int(bits.replace("x", "0"), 2) if sign else int(text) & ((1 << width) - 1)


class Compiled:
    """A netlist as a library, whose registers are set and read by their nets."""

    def __init__(self, netlist):
        module = {"ports": netlist.ports, "cells": netlist.cells}
        outputs = [name for name in netlist.ports if name != "clk"]
        design = read_design(module, "clk", {"clk": False}, outputs)
        text = source(design, "done", "", [])

        def fill(place):
            (place / build.SOURCE).write_text(text)
            build.compile_source("cells", place)

        # The compiler takes half a minute for all kinds; the same text by the same flags is the same library.
        flags = (*build.FLAGS, *build.flags_of(build.path()))
        headers = (*sorted(build.HERE.glob("*.h")), build.CALLS)
        key = content_key(text, headers, compiler_version(), build.processor(), *flags)
        folder = cached_folder("test-cells", key, fill)
        self.pieces = [design.words.nets(f.piece) for f in design.flip_flops]
        places = [(8 * i, 0, len(nets), i, 0) for i, nets in enumerate(self.pieces)]
        self.machines = Machines(folder / build.LIBRARY, np.array(places, PLACE))

    def cycle(self, machines):
        """Take values of nets, one dict for each machine, through one edge."""
        rows = np.zeros((MACHINES, len(self.pieces)), np.uint64)
        for row, values in zip(rows, machines, strict=True):
            for i, nets in enumerate(self.pieces):
                row[i] = sum(values.get(net, 0) << at for at, net in enumerate(nets))
        for machine, row in enumerate(rows):
            self.machines.load(machine, row)
        assert self.machines.run(1) == 1
        found = []
        for machine, row in enumerate(rows):
            self.machines.store(machine, row)
            held = [int(word) for word in row]
            found.append(
                {n: held[i] >> at & 1 for i, nets in enumerate(self.pieces) for at, n in enumerate(nets)}
            )
        return found


def number(bits, values):
    return sum((int(bit) if isinstance(bit, str) else values[bit]) << i for i, bit in enumerate(bits))


@pytest.fixture(scope="module")
def cells():
    """All cells in one netlist, random values of its registers, and what Yosys says of them."""
    netlist, made = Netlist(), []
    for kind in KINDS:
        choose = random.Random(kind)
        made += [netlist.put(kind, random_cell(kind, trial, choose), choose) for trial in range(TRIALS)]
    choose = random.Random(7)
    machines = [{net: choose.randrange(2) for net in range(3, netlist.nets + 1)} for _ in range(MACHINES)]
    for cell in made:
        if cell.kind == "$pmux":  # of the selects at most one is 1; they may be nets or constants
            for values in machines:
                for bit in (bits := [b for b in cell.operands["S"] if isinstance(b, int)]):
                    values[bit] = 0
                if bits and "1" not in cell.operands["S"] and choose.randrange(4):
                    net = choose.choice(bits)
                    values[net] = int(cell.operands["S"].count(net) == 1)
        elif cell.kind in {"$eq", "$ne", "$le", "$lt", "$logic_not", "$reduce_or", "$reduce_and"}:
            for values in machines[::3]:
                one = choose.randrange(2)
                values.update({net: one for p in cell.operands.values() for net in p if isinstance(net, int)})
    return netlist, made, machines


@pytest.fixture(scope="module")
def expected(cells, tmp_path_factory):
    _, made, machines = cells
    folder = tmp_path_factory.mktemp("judged")
    results = []
    for cell in made:
        inputs = [{p: number(bits, values) for p, bits in cell.operands.items()} for values in machines[::2]]
        results.append(judged(cell, inputs, folder))
    return results


@pytest.fixture(scope="module", params=build.paths())
def compiled(request, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "path", lambda: request.param)
        return Compiled(cells[0])


@pytest.fixture(scope="module")
def found(compiled, cells):
    return compiled.cycle(cells[2])


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_gives_what_yosys_says(kind, cells, expected, found):
    _, made, machines = cells
    count = 0
    for cell, wanted in zip(made, expected, strict=True):
        if cell.kind == kind:
            given = [{p: number(bits, v) for p, bits in cell.operands.items()} for v in machines[::2]]
            for inputs, word, values in zip(given, wanted, found[::2], strict=True):
                if kind == "$pmux" and inputs["S"].bit_count() > 1:
                    continue  # undefined
                assert number(cell.result, values) == word, (str(cell), inputs)
                count += 1
    assert count > TRIALS * 8


@pytest.mark.parametrize("kind", ["$div", "$dlatch", "$check"])
def test_other_cells_are_refused_by_name(kind):
    netlist = Netlist()
    a, b, y = netlist.register(4), netlist.register(4), netlist.new(4)
    pins = {"$div": {"A": a, "B": b, "Y": y}, "$dlatch": {"EN": a[:1], "D": b, "Q": y}, "$check": {"A": a}}[
        kind
    ]
    netlist.add(kind, {"A_SIGNED": "0", "B_SIGNED": "0"}, pins)
    with pytest.raises(UnsupportedLanesError, match=re.escape(f"is a {kind}")):
        read_design({"ports": netlist.ports, "cells": netlist.cells}, "clk", {"clk": False}, ["done"])
