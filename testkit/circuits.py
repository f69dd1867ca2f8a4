# SPDX-License-Identifier: Apache-2.0
"""Small circuits of the textbooks as netlists of cells, and what comes of every fault of them, one by one.

The judge knows nothing but the cells: it evaluates all of them after each edge of the clock, once for each
fault, and shares no code with what it judges.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from resil.rtl_harness.design.area_library import gate_table

CELLS: dict[str, Callable[..., int]] = {
    "BUF": lambda a: a,
    "INV": lambda a: 1 - a,
    "AND2": lambda a, b: a & b,
    "NAND2": lambda a, b: 1 - (a & b),
    "OR2": lambda a, b: a | b,
    "NOR2": lambda a, b: 1 - (a | b),
    "XOR2": lambda a, b: a ^ b,
}
STORES = "DFFR"
# Inputs of cells by name, in the order of their operands, and what some of them make of an input alone.
PINS = "AB"
# How the names of the flip-flops of outputs begin.
_OUT = "o_"
_DECIDED = {"AND2": (0, 0), "NAND2": (0, 1), "OR2": (1, 1), "NOR2": (1, 0)}


@dataclass(frozen=True)
class Cell:
    """A cell: its name, its type in the library, the nets of its operands, and that of its output."""

    name: str
    type: str
    operands: tuple[str, ...]
    output: str


@dataclass(frozen=True)
class Circuit:
    """A circuit; inputs come in through buffers, and outputs go out through flip-flops.

    So faults of inputs are faults of pins.

    Attributes:
        name: Of its module.
        inputs: Nets, the least significant bit of a vector first.
        outputs: Likewise, of the flip-flops.
        cells: Each after those that it depends on, flip-flops aside; these are 0 out of reset.
        vectors: What it is given, a number a cycle; a power of 2 of them.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    cells: tuple[Cell, ...]
    vectors: tuple[int, ...]


def _circuit(name: str, text: str, vectors: Sequence[int] = ()) -> Circuit:
    """Return the circuit of lines: `in` and `out` with nets, and a net, the type of its cell and operands."""
    lines = [line.split() for line in text.strip().splitlines()]
    (inputs,), (outputs,) = ([line[1:] for line in lines if line[0] == kind] for kind in ("in", "out"))
    cells = [Cell(f"i_{net}", "BUF", (f"port_{net}",), net) for net in inputs]
    cells += [
        Cell(f"g_{net}", kind, tuple(own), net) for net, kind, *own in lines if net not in ("in", "out")
    ]
    cells += [Cell(f"{_OUT}{net}", STORES, (net,), f"q_{net}") for net in outputs]
    every = tuple(vectors) or tuple(range(1 << len(inputs)))
    return Circuit(name, tuple(inputs), tuple(f"q_{net}" for net in outputs), tuple(cells), every)


# Six NANDs: ISCAS-85.
_C17 = """
in 1 2 3 6 7
out 22 23
10 NAND2 1 3
11 NAND2 3 6
16 NAND2 2 11
19 NAND2 11 7
22 NAND2 10 16
23 NAND2 16 19
"""

# Three flip-flops: ISCAS-89.
_S27 = """
in G0 G1 G2 G3
out G17
G5 DFFR G10
G6 DFFR G11
G7 DFFR G13
G14 INV G0
G8 AND2 G14 G6
G12 NOR2 G1 G7
G15 OR2 G12 G8
G16 OR2 G3 G8
G9 NAND2 G16 G15
G11 NOR2 G5 G9
G10 NOR2 G14 G11
G13 NOR2 G2 G12
G17 INV G11
"""

# The majority of three, and whether an odd number of seven is 1.
_VOTER = """
in a b c
out m
ab AND2 a b
bc AND2 b c
ac AND2 a c
o OR2 ab bc
m OR2 o ac
"""
_PARITY = """
in a b c d e f g
out p
ab XOR2 a b
cd XOR2 c d
ef XOR2 e f
abcd XOR2 ab cd
efg XOR2 ef g
p XOR2 abcd efg
"""


def _multiplier(width: int) -> str:
    """Return an array multiplier: a row of adders adds each further row of partial products."""
    lines = [f"in {' '.join(f'{name}{i}' for name in 'ab' for i in range(width))}"]
    for i in range(width):
        lines += [f"p{i}_{j} AND2 a{j} b{i}" for j in range(width)]
    outputs, above = ["p0_0"], [f"p0_{j}" for j in range(1, width)]
    for i in range(1, width):
        carry, sums = "", []
        for j in range(width):
            at, one = f"{i}_{j}", f"p{i}_{j}"
            other = above[j] if j < len(above) else ""
            operands = [net for net in (one, other, carry) if net]
            if len(operands) == 1:
                sums.append(operands[0])
                carry = ""
                continue
            lines += [f"x{at} XOR2 {operands[0]} {operands[1]}", f"k{at} AND2 {operands[0]} {operands[1]}"]
            if len(operands) == 2:
                sums.append(f"x{at}")
                carry = f"k{at}"
                continue
            lines += [f"s{at} XOR2 x{at} {carry}", f"l{at} AND2 x{at} {carry}", f"c{at} OR2 k{at} l{at}"]
            sums.append(f"s{at}")
            carry = f"c{at}"
        outputs.append(sums[0])
        above = [*sums[1:], *([carry] if carry else [])]
    lines.append(f"out {' '.join([*outputs, *above])}")
    return "\n".join(lines)


def circuits() -> dict[str, Circuit]:
    """Return the circuits by name: all vectors of those without flip-flops, 1,024 drawn ones of the other."""
    drawn = random.Random(27).choices(range(16), k=1024)
    made = (
        _circuit("c17", _C17),
        _circuit("s27", _S27, drawn),
        _circuit("voter", _VOTER),
        _circuit("parity7", _PARITY),
        _circuit("multiplier4", _multiplier(4)),
    )
    return {own.name: own for own in made}


@dataclass(frozen=True)
class CellFault:
    """A fault of a cell.

    Attributes:
        kind: "stuck" or "open" of a pin, or "pulse" of the output.
        cell: Name of the cell.
        pin: Of the library.
        at: Value at which the pin is held or open; cycle of the pulse, counted from the release of reset.
    """

    kind: str
    cell: str
    pin: str
    at: int


def pins_of(cell: Cell) -> list[str]:
    """Return the pins of a cell, its output last."""
    return ["D", "C", "R", "Q"] if cell.type == STORES else [*PINS[: len(cell.operands)], "Y"]


def faults_of(circuit: Circuit, kind: str) -> Iterator[CellFault]:
    """Yield all faults of a kind."""
    for cell in circuit.cells:
        *inputs, output = pins_of(cell)
        if kind == "pulse":
            if cell.type != STORES:
                yield from (CellFault(kind, cell.name, output, at) for at in range(len(circuit.vectors) + 2))
            continue
        for pin in [*inputs, output] if kind == "stuck" else [p for p in inputs if p not in "CR"]:
            yield from (CellFault(kind, cell.name, pin, value) for value in (0, 1))


class Machine:
    """A circuit with a fault, or without.

    After the release of reset the first vector lies on the inputs; after each edge the next one does, the
    first once more after the first edge and at the end. Two edges more follow the last vector.

    Attributes:
        outputs: A number for each cycle; the first is of no vector.
        states: What the flip-flops hold after each edge, by name.
    """

    def __init__(
        self, circuit: Circuit, fault: CellFault | None = None, right: Machine | None = None
    ) -> None:
        """Run a circuit; beside that without a fault, one with a pulse runs where it differs alone."""
        self._circuit = circuit
        self._fault = fault
        self.stored = {cell.name: 0 for cell in circuit.cells if cell.type == STORES}
        self.outputs: list[int] = []
        self.states: list[dict[str, int]] = []
        self._values: dict[str, int] = {}
        vectors = (*circuit.vectors, circuit.vectors[0])
        first = 0
        begun = right if fault is not None and fault.kind == "pulse" else None
        if begun is not None and fault is not None:
            first = min(fault.at, len(vectors))
            self.outputs, self.states = begun.outputs[:first], begun.states[:first]
            self.stored = dict(begun.states[first])
        else:
            self._settle(circuit.vectors[0], -1)
            self._edge()
        for cycle, vector in enumerate(vectors[first:], first):
            self.states.append(dict(self.stored))
            self._settle(vector, cycle)
            self.outputs.append(sum(self._values[net] << i for i, net in enumerate(circuit.outputs)))
            self._edge()
            if begun is not None and self.stored == begun.states[cycle + 1]:
                self.outputs += begun.outputs[cycle + 1 :]
                self.states += begun.states[cycle + 1 :]
                return
        self.states.append(dict(self.stored))

    def _of(self, cell: Cell) -> CellFault | None:
        return self._fault if self._fault is not None and self._fault.cell == cell.name else None

    def _settle(self, vector: int, cycle: int) -> None:
        before, values = self._values, dict[str, int]()
        for i, net in enumerate(self._circuit.inputs):
            values[f"port_{net}"] = vector >> i & 1
        for cell in self._circuit.cells:
            if cell.type == STORES:
                values[cell.output] = self._driven(cell, self.stored[cell.name], cycle)
        for cell in self._circuit.cells:
            if cell.type == STORES:
                continue
            gives, own = CELLS[cell.type], [values[net] for net in cell.operands]
            fault = self._of(cell)
            value = gives(*own)
            if fault is not None and fault.pin in PINS:
                own[PINS.index(fault.pin)] = fault.at
                other = gives(*own)
                if fault.kind == "stuck":
                    value = other
                elif other != value and before:
                    value = before[cell.output]
            values[cell.output] = self._driven(cell, value, cycle)
        self._values = values

    def _driven(self, cell: Cell, value: int, cycle: int) -> int:
        fault = self._of(cell)
        if fault is None or fault.pin not in "QY":
            return value
        return value ^ (fault.at == cycle) if fault.kind == "pulse" else fault.at

    def _edge(self) -> None:
        for cell in self._circuit.cells:
            if cell.type != STORES:
                continue
            fault, held = self._of(cell), self.stored[cell.name]
            taken = self._values[cell.operands[0]]
            if fault is not None and fault.pin == "D":
                taken = held if fault.kind == "open" and taken != fault.at else fault.at
            elif fault is not None and fault.pin == "C":
                taken = held
            elif fault is not None and fault.pin == "R" and fault.at == 0:
                taken = 0
            self.stored[cell.name] = taken


Answer = tuple[str, str]
"""The outcome of a fault, and a digest of all outputs, as rows of campaigns have them."""


def judged(circuit: Circuit, faults: Sequence[CellFault]) -> dict[CellFault, Answer]:
    """Return what comes of each fault: whether outputs differ, or else what is stored at the end."""
    right = Machine(circuit)
    found = {}
    for fault in faults:
        wrong = Machine(circuit, fault, right)
        outcome = "masked" if wrong.states[-1] == right.states[-1] else "latent"
        if wrong.outputs[1:] != right.outputs[1:]:
            outcome = "sdc_critical"
        found[fault] = outcome, blake2b(bytes(wrong.outputs[1:]), digest_size=8).hexdigest()
    return found


def core_of(circuit: Circuit) -> list[Cell]:
    """Return the cells of the circuit that the textbooks have: all but the flip-flops of outputs."""
    return [cell for cell in circuit.cells if not cell.name.startswith(_OUT)]


def textbook_classes(circuit: Circuit) -> int:
    """Return how many classes of equivalent stuck-at faults there are by the rules of the textbooks.

    Faults are those of nets, and of branches where a net has several; clocks and resets have none, nor have
    the flip-flops of outputs. What a flip-flop gives is the same as what alone takes it.
    """
    uses = Counter(net for cell in circuit.cells for net in cell.operands)
    above: dict[tuple[str, ...], tuple[str, ...]] = {}

    def root(one: tuple[str, ...]) -> tuple[str, ...]:
        while one in above:
            one = above[one]
        return one

    def join(one: tuple[str, ...], other: tuple[str, ...]) -> None:
        if root(one) != root(other):
            above[root(one)] = root(other)

    every: list[tuple[str, ...]] = []
    for cell in core_of(circuit):
        for value in "01":
            every.append((cell.output, value))
            for pin, net in enumerate(cell.operands):
                own = (cell.name, str(pin), value)
                every.append(own)
                if uses[net] == 1:
                    join(own, (net, value))
                if cell.type in ("BUF", "INV"):
                    join(own, (cell.output, value if cell.type == "BUF" else str(1 - int(value))))
                elif int(value) == _DECIDED.get(cell.type, (2, 0))[0]:
                    join(own, (cell.output, str(_DECIDED[cell.type][1])))
    return len({root(own) for own in every})


_BENCH = """// SPDX-License-Identifier: Apache-2.0
// Gives a circuit a vector a cycle, and keeps what it gives.
module bench #(
  parameter int unsigned Vectors = 2
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o
);
  logic [7:0] in_q[Vectors];
  logic [7:0] out_q[Vectors];
  logic [$clog2(Vectors):0] count_q, last;
  logic runs_q;
  logic [WIDTH_OUT-1:0] out;

  initial begin : load
    string file;
    if ($value$plusargs("input=%s", file)) $readmemh(file, in_q);
  end

  CIRCUIT u_dut (
    .clk_i,
    .rst_ni,
    .in_i (in_q[count_q[$clog2(Vectors)-1:0]][WIDTH_IN-1:0]),
    .out_o(out)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      runs_q  <= 1'b0;
    end else begin
      runs_q <= 1'b1;
      if (runs_q) count_q <= count_q + 1'b1;
    end
  end
  // What a vector has given is out in the cycle after it.
  assign last = count_q - 1'b1;
  always_ff @(posedge clk_i) if (count_q != '0 && !done_o) out_q[last[$clog2(Vectors)-1:0]] <= 8'(out);

  assign done_o = last == ($clog2(Vectors) + 1)'(Vectors);
endmodule
"""

_TARGET = """name = "{name}"
top = "bench"
dut = "u_dut"
sources = ["{name}.v", "bench.sv"]
cells = "cells.lib"
clock = "clk_i"
reset = "rst_ni"
done = "done_o"
parameters = {{ Vectors = {vectors} }}

[blocks]
{name} = "u_dut"

[memories.input]
path = "in_q"
word_bytes = 1
plusarg = "input"
observed = false

[memories.output]
path = "out_q"
word_bytes = 1
plusarg = "output"
"""

_CAMPAIGN = """[campaign]
name = "{name}"
seed = 1

[target]
file = "target.toml"

[workload]
name = "vectors"
decision = "exact"
parameters = {{ Vectors = {vectors} }}

[[workload.images]]
memory = "input"
file = "input.hex"

[workload.output]
memory = "output"
offset = 0
shape = [{vectors}]
dtype = "uint8"

[faults]
kinds = ["logic"]
model = "{model}"
injections = {faults}

[technology]
name = "finfet-16nm"
"""

MODELS: Mapping[str, str] = {"stuck_at": "stuck", "open": "open", "set": "pulse"}
"""Fault models of campaigns, and the kinds of faults that they inject."""


def netlist_text(circuit: Circuit) -> str:
    """Return a circuit as structural Verilog."""
    ins, outs = len(circuit.inputs), len(circuit.outputs)
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"module {circuit.name} (clk_i, rst_ni, in_i, out_o);"]
    lines += ["  input clk_i, rst_ni;", f"  input [{ins - 1}:0] in_i;", f"  output [{outs - 1}:0] out_o;"]
    lines += [f"  wire n_{cell.output};" for cell in circuit.cells]
    nets = {f"port_{net}": f"in_i[{i}]" for i, net in enumerate(circuit.inputs)}
    nets |= {cell.output: f"n_{cell.output}" for cell in circuit.cells}
    for cell in circuit.cells:
        own = dict(zip(pins_of(cell), cell.operands, strict=False))
        pins = {pin: nets[net] for pin, net in own.items()} | {pins_of(cell)[-1]: nets[cell.output]}
        if cell.type == STORES:
            pins |= {"C": "clk_i", "R": "rst_ni"}
        given = ", ".join(f".{pin}({net})" for pin, net in pins.items())
        lines.append(f"  {cell.type} {cell.name} ({given});")
    lines += [f"  assign out_o[{i}] = n_{net};" for i, net in enumerate(circuit.outputs)]
    return "\n".join([*lines, "endmodule", ""])


def write_campaigns(circuit: Circuit, folder: Path) -> dict[str, Path]:
    """Write a circuit as a netlist target, and a campaign of all faults of each model; return these files."""
    folder.mkdir(parents=True, exist_ok=True)
    bench = _BENCH.replace("CIRCUIT", circuit.name)
    for name, nets in (("WIDTH_IN", circuit.inputs), ("WIDTH_OUT", circuit.outputs)):
        bench = bench.replace(name, str(len(nets)))
    given = {"name": circuit.name, "vectors": len(circuit.vectors)}
    files = {
        f"{circuit.name}.v": netlist_text(circuit),
        "bench.sv": bench,
        "cells.lib": gate_table().liberty(),
        "target.toml": _TARGET.format(**given),
        "input.hex": "".join(f"{vector:02x}\n" for vector in circuit.vectors),
    }
    for model, kind in MODELS.items():
        number = len([*faults_of(circuit, kind)])
        files[f"{model}.toml"] = _CAMPAIGN.format(**given, model=model, faults=number)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {model: folder / f"{model}.toml" for model in MODELS}
