# SPDX-License-Identifier: Apache-2.0
"""A cell library of Verilog models: what each cell does, found by synthesis, and written as a Liberty file.

From there on a netlist of such cells is one of a Liberty file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.cells import Expression
from resil.rtl_harness.design.model_sources import ModelSources
from resil.rtl_harness.design.primitive_tables import PrimitiveError
from resil.rtl_harness.design.slang import SlangSources, SlangTops, read_tops
from resil.rtl_harness.errors import HarnessError, SimulationError, ToolMissingError
from resil.rtl_harness.tools import run_tool

LIBRARY = "cells.lib"

_SIDE = Path(__file__).parent / "elaboration" / "yosys_side.py"
_GATES, _UNCLEAR = "gates.json", "unclear.json"
# Where all files that are read lie as they do on the disk, and the modules that tables of primitives become.
_TREE, _TABLES = "tree", "tables.v"
_READ = (
    *("--ignore-initial", "--no-synthesis-define", "--no-proc", "--incdir-first", "--single-unit"),
    *("--allow-use-before-declare", "--ignore-assertions", "--ignore-timing"),
)
_DRIVERS, _BEFORE = "drivers.txt", "before.json"
# Nothing is merged: what a model has twice, as voted flip-flops, is more than one flip-flop.
_SCRIPT = (
    *(
        "proc -norom",
        f"tee -q -o {_DRIVERS} check",
        f"write_json {_BEFORE}",
        "delete */t:$print */t:$check",
        "setundef -zero",
    ),
    *("dffunmap", "simplemap", "techmap", "opt_expr", "clean", f"write_json {_GATES}"),
)
# Of files with it, all modules would be black boxes.
_CELLDEFINE = re.compile(rb"`(?:end)?celldefine\b")
_REFUSED = re.compile(rf"^(?:{_TREE}(?P<file>/\S+?):(?P<line>\d+): )?ERROR: (?P<reason>.*)", re.MULTILINE)
_DRIVEN = re.compile(
    r"multiple conflicting drivers for (\S+?)\.\\(\S+?):\n((?:    .*\n)*    module input.*\n)?", re.MULTILINE
)
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_FLIP_FLOP = re.compile(r"\$_DFF_(?P<clock>[PN])(?:(?P<reset>[PN])(?P<value>[01]))?_")
_LOADED = re.compile(r"\$_ALDFF_(?P<clock>[PN])(?P<reset>[PN])_")
_LATCH = re.compile(r"\$_DLATCH_(?P<enable>[PN])(?:(?P<reset>[PN])(?P<value>[01]))?_")
_BOTH = ("$_DFFSR_", "$_DFFSRE_", "$_DLATCHSR_", "$_SR_")
_TEST = re.compile(r"(?i)(?:t|s)(?!\w*clk)")
# Pins in a function that is written out.
_LONGEST = 4000
_SHOWN = 40

_Bit = int | str


@dataclass(frozen=True)
class VerilogCells:
    """Verilog files of models of cells, and how they are read.

    Attributes:
        files: With a module for each cell.
        include_dirs, defines: As of the target that names them.
    """

    files: tuple[Path, ...]
    include_dirs: tuple[Path, ...]
    defines: Mapping[str, str]


class _UnclearError(Exception):
    """Why it is not understood what a cell does."""


def derived_library(given: VerilogCells, cells: Collection[str]) -> Path:
    """Return a Liberty file of what models of cells do; from the cache if it was derived before.

    Areas are not in a model: they are 0.

    Args:
        given: The models.
        cells: Names of the cells that are wanted.

    Raises:
        HarnessError: The files cannot be read, or it is not understood what some cells do: all of these are
            named, each with the reason.
        ToolMissingError: If pyosys is not installed.
    """
    names = sorted(cells)
    design = read_tops(names, SlangSources(given.files, given.include_dirs, given.defines))
    sources = ModelSources(design.keeps[0].sourceManager)
    ports, unclear = _ports(design, names, sources)
    text = ""
    if ports:
        read = {file: _CELLDEFINE.sub(b"", sources.replaced(file)) for file in _files(design)}
        # What is refused is named with its file.
        files = [str(file) for file in (*given.files, *read)]
        modules = "\n".join([*sources.modules, ""]).encode()
        code = (_yosys_version(), Path(__file__), _SIDE)
        key = content_key(*read.values(), modules, files, given.defines, [*ports], *code)

        def build(folder: Path) -> None:
            for file, own in read.items():
                copy = folder / _copied(file)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(own)
            (folder / _TABLES).write_bytes(modules)
            gates, refused = _gates(given, [*ports], folder)
            shutil.rmtree(folder / _TREE)
            texts, more = _texts({name: ports[name] for name in gates}, gates)
            write_atomically(folder / LIBRARY, _library(given, texts).encode())
            write_atomically(folder / _UNCLEAR, json.dumps(refused | more).encode())

        folder = cached_folder("cell-library", key, build)
        unclear |= json.loads((folder / _UNCLEAR).read_text(encoding="utf-8"))
        text = str(folder / LIBRARY)
    if unclear:
        raise _not_understood(given, unclear)
    return Path(text)


def _library(given: VerilogCells, texts: Sequence[str]) -> str:
    said = ", ".join(file.name for file in given.files)
    return f"/* What the models of {said} do. */\nlibrary (derived) {{\n{''.join(texts)}}}\n"


def _not_understood(given: VerilogCells, unclear: Mapping[str, str]) -> HarnessError:
    shown = [f"  {name}: {why}" for name, why in sorted(unclear.items())]
    if len(shown) > _SHOWN:
        shown = [*shown[:_SHOWN], f"  and {len(shown) - _SHOWN} more"]
    files = ", ".join(str(file) for file in given.files)
    return HarnessError(
        f"{files}: expected models that say what each cell of the netlist does, found {len(unclear)} that "
        "are not understood:\n"
        + "\n".join(shown)
        + "\nWrite these as assign, always_ff and always_latch of one "
        "bit, or name the library's Liberty file as cells; a module of the same name among the sources is "
        "simulated as it is, without sites in logic",
        "cells",
    )


def _yosys_version() -> str:
    try:
        return metadata.version("pyosys")
    except metadata.PackageNotFoundError as error:
        raise ToolMissingError("expected the Python package pyosys, found none; pip install it") from error


def _files(design: SlangTops) -> list[Path]:
    """Return all files that were read, what they include among them."""
    manager = design.keeps[0].sourceManager
    found = {Path(manager.getFullPath(own)) for own in manager.getAllBuffers()}
    return sorted(file for file in found if file.is_file())


def _copied(file: Path) -> str:
    """Return where the copy of a file or folder lies, from the folder of the work."""
    return f"{_TREE}{file.resolve().as_posix()}"


@dataclass(frozen=True)
class _Ports:
    """Pins of a cell in the order of its model."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def _ports(
    design: SlangTops, names: Sequence[str], sources: ModelSources
) -> tuple[dict[str, _Ports], dict[str, str]]:
    """Return the pins of each cell, and what is in the way of the others."""
    found: dict[str, _Ports] = {}
    unclear: dict[str, str] = {}
    for name in names:
        top = design.tops.get(name)
        try:
            if top is None:
                raise _UnclearError("no module that is read: see which macro it asks for (defines)")
            found[name] = _pins(top)
            sources.replace_below(top)
        except (_UnclearError, PrimitiveError) as error:
            found.pop(name, None)
            unclear[name] = str(error)
    return found, unclear


def _pins(top: Any) -> _Ports:  # noqa: ANN401
    pins: dict[str, list[str]] = {"In": [], "Out": []}
    parameters = [own for own in top.body.parameters if own.isPortParam or not own.isLocalParam]
    if parameters:
        raise _UnclearError(f"a module with parameters ({parameters[0].name})")
    for port in top.body.portList:
        direction = str(port.direction).rpartition(".")[2]
        if direction not in pins:
            raise _UnclearError(f"{port.name} is neither input nor output")
        if not _PLAIN.fullmatch(port.name):
            raise _UnclearError(f"the name of {port.name!r} is not of letters, digits and _ alone")
        if port.type.bitWidth != 1 or not port.type.isIntegral:
            raise _UnclearError(f"{port.name} is not of one bit")
        pins[direction].append(port.name)
    return _Ports(tuple(pins["In"]), tuple(pins["Out"]))


def _gates(
    given: VerilogCells, names: Sequence[str], folder: Path
) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
    """Return each cell as gates, and what the front end says of those that it refuses."""
    lines = [f'-I "{_copied(include)}"' for include in given.include_dirs]
    lines += [f"-D {name}={value}" if value else f"-D {name}" for name, value in given.defines.items()]
    lines += [f'"{_copied(file)}"' for file in given.files] + [_TABLES]
    (folder / "models.f").write_text("\n".join(lines) + "\n", encoding="utf-8")
    tops = " ".join(f"--top {name}" for name in names)
    script = [f"read_slang -f models.f {tops} {' '.join(_READ)}", *_SCRIPT]
    (folder / "script.ys").write_text("\n".join(script) + "\n", encoding="utf-8")
    try:
        run_tool([sys.executable, str(_SIDE), "script.ys"], folder, "Yosys")
    except SimulationError as error:
        if len(names) == 1:
            return {}, {names[0]: _reason(str(error))}
        half = len(names) // 2
        found: dict[str, Mapping[str, Any]] = {}
        refused: dict[str, str] = {}
        for part in (names[:half], names[half:]):
            own, more = _gates(given, part, folder)
            found |= own
            refused |= more
        return found, refused
    twice = _driven_twice(folder)
    modules = json.loads((folder / _GATES).read_text(encoding="utf-8"))["modules"]
    for file in (_GATES, _BEFORE):
        (folder / file).unlink()
    return {name: modules[name] for name in names if name not in twice}, twice


def _driven_twice(folder: Path) -> dict[str, str]:
    """Return cells with nets that several gates drive, and what is said of them.

    A model may drive an input with what it is, through buffers.
    """
    found = _DRIVEN.findall((folder / _DRIVERS).read_text(encoding="utf-8"))
    modules = json.loads((folder / _BEFORE).read_text(encoding="utf-8"))["modules"] if found else {}
    twice: dict[str, str] = {}
    for name, net, of_input in found:
        if name not in modules:
            continue
        if not of_input:
            twice[name] = f"{net} has several drivers"
        elif not _is_itself(modules[name], net):
            twice[name] = f"its input {net} is driven by the model, too"
    return twice


def _is_itself(module: Mapping[str, Any], pin: str) -> bool:
    """Whether all that drives an input in a model is this input, through buffers."""
    (own,) = module["ports"][pin]["bits"]
    drivers: dict[_Bit, list[Mapping[str, Any]]] = {}
    for cell in module["cells"].values():
        for net in cell["connections"].get("Y", ()):
            drivers.setdefault(net, []).append(cell)

    def source(net: _Bit, around: frozenset[_Bit] = frozenset()) -> _Bit:
        """Return the net or constant that a net is a copy of."""
        driving = drivers.get(net, [])
        if net == own or net in around or len(driving) != 1:
            return net
        return copied(driving[0], net, around | {net})

    def copied(cell: Mapping[str, Any], net: _Bit, around: frozenset[_Bit]) -> _Bit:
        kind, nets = cell["type"], cell["connections"]
        neutral = {"$and": "1", "$or": "0", "$buf": ""}.get(kind)
        if neutral is None:
            return net
        taken = {source(of, around) for of in (*nets["A"], *nets.get("B", ()))} - {neutral}
        return taken.pop() if len(taken) == 1 else net

    return all(copied(cell, "", frozenset()) == own for cell in drivers[own])


def _reason(said: str) -> str:
    """Return the first error that Yosys reports, with the file that it means."""
    found = _REFUSED.search(said)
    if found is None:
        return said
    place = "" if found["file"] is None else f"{os.path.normpath(found['file'])}:{found['line']}: "
    return f"{place}{found['reason']}"


def _texts(
    ports: Mapping[str, _Ports], gates: Mapping[str, Mapping[str, Any]]
) -> tuple[list[str], dict[str, str]]:
    texts: list[str] = []
    unclear: dict[str, str] = {}
    for name, pins in ports.items():
        try:
            texts.append(_Cell(name, pins, gates[name]).text())
        except _UnclearError as error:
            unclear[name] = str(error)
    return texts, unclear


class _Cell:
    """A cell as gates, of which its groups of a Liberty file are made."""

    def __init__(self, name: str, pins: _Ports, module: Mapping[str, Any]) -> None:
        self.name, self.pins = name, pins
        self.module = module
        self.port = {name: own["bits"][0] for name, own in module["ports"].items()}
        self.known: dict[_Bit, Expression] = {"0": _constant(0), "1": _constant(1)}
        self.known |= {self.port[pin]: Expression("pin", pin) for pin in pins.inputs}
        self.length: dict[_Bit, int] = {}
        self.gate: dict[_Bit, tuple[str, Mapping[str, Sequence[_Bit]]]] = {}
        self.stores: list[tuple[str, Mapping[str, Sequence[_Bit]]]] = []
        for cell in module["cells"].values():
            kind, nets = cell["type"], cell["connections"]
            if kind == "$_TBUF_":
                raise _UnclearError("an output that can be switched off")
            if kind.startswith(_BOTH):
                raise _UnclearError("a flip-flop or latch with both set and reset")
            if "Q" in nets:
                self.stores.append((kind, nets))
            else:
                self.gate[nets["Y"][0]] = kind, nets
        self.state = _free("IQ", pins)
        self.inverse = _free("IQN", pins)
        if len(self.stores) > 1:
            raise _UnclearError("several flip-flops or latches in one cell")
        for _, nets in self.stores:
            self.known[nets["Q"][0]] = Expression("pin", self.state)

    def text(self) -> str:
        head, uses = self._stored()
        lines = [f'  cell ("{self.name}") {{ area : 0;{head}']
        for pin in self.pins.inputs:
            lines.append(f"    pin ({pin}) {{ direction : input;{uses.get(pin, '')} }}")
        for pin in self.pins.outputs:
            function = "" if uses.get(pin) else f' function : "{_written(self._of(self.port[pin]))}";'
            lines.append(f"    pin ({pin}) {{ direction : output;{function}{uses.get(pin, '')} }}")
        return "\n".join([*lines, "  }", ""])

    def _stored(self) -> tuple[str, Mapping[str, str]]:
        """Return what the cell stores, and what is said of its pins if it gates a clock."""
        if not self.stores:
            return "", {}
        kind, nets = self.stores[0]
        if found := _LATCH.fullmatch(kind):
            return self._latch(found, nets)
        found = _FLIP_FLOP.fullmatch(kind) or _LOADED.fullmatch(kind)
        if found is None:
            raise _UnclearError(f"storage of a kind that has no name in a library ({kind})")
        clock = self._edge("the clock", nets["C"][0], found["clock"])
        taken = f'clocked_on : "{_written(clock)}"; next_state : "{_written(self._of(nets["D"][0]))}";'
        forced = self._forced(found, nets)
        return f"\n    ff ({self.state}, {self.inverse}) {{ {taken}{forced} }}", {}

    def _latch(
        self, found: re.Match[str], nets: Mapping[str, Sequence[_Bit]]
    ) -> tuple[str, Mapping[str, str]]:
        if found["reset"]:
            raise _UnclearError("a latch with set or reset")
        is_open = found["enable"] == "P"
        enable = self._of(nets["E"][0])
        # What it would take while it is closed does not matter.
        data = self._with(nets["E"][0], _constant(int(is_open)), nets["D"][0])
        pin = enable.operands[0] if enable.operation == "not" else enable
        if pin.operation == "pin":
            data = _replaced(data, pin.name, _constant(int(is_open != (enable.operation == "not"))))
        when = enable if is_open else _not(enable)
        if (uses := self._gating(when, data)) is not None:
            kind = "latch_posedge" if data.operation == "pin" else "latch_posedge_precontrol"
            return f"\n    clock_gating_integrated_cell : {kind};", uses
        text = f'enable : "{_written(when)}"; data_in : "{_written(data)}";'
        return f"\n    latch ({self.state}, {self.inverse}) {{ {text} }}", {}

    def _with(self, net: _Bit, value: Expression, of: _Bit) -> Expression:
        """Return a function in which a net has another value."""
        known = dict(self.known)
        self.known = {bit: own for bit, own in known.items() if bit not in self.gate} | {net: value}
        try:
            return self._of(of)
        finally:
            self.known = known

    def _gating(self, when: Expression, data: Expression) -> Mapping[str, str] | None:
        """Return what pins of a clock gate are for; None if the cell is another one with a latch.

        The latch is open while the clock is low, and the AND of the two is the one output.
        """
        clock = when.operands[0] if when.operation == "not" else None
        enables = data.operands if data.operation == "or" and len(data.operands) == 2 else (data,)
        if clock is None or clock.operation != "pin" or len(self.pins.outputs) != 1:
            return None
        if any(own.operation != "pin" or own in (clock, self._state) for own in enables):
            return None
        output = self.pins.outputs[0]
        gated = self._of(self.port[output])
        if gated.operation != "and" or {*gated.operands} != {clock, self._state}:
            return None
        # In the order of the model; a name of a test pin decides which of two is one.
        names = sorted((own.name for own in enables), key=lambda name: (bool(_TEST.match(name)), name))
        uses = {clock.name: "clock_gate_clock_pin", output: "clock_gate_out_pin"}
        uses |= dict(zip(names, ("clock_gate_enable_pin", "clock_gate_test_pin"), strict=False))
        return {pin: f" {use} : true;" for pin, use in uses.items()}

    @property
    def _state(self) -> Expression:
        return Expression("pin", self.state)

    def _forced(self, found: re.Match[str], nets: Mapping[str, Sequence[_Bit]]) -> str:
        """Return what sets or resets a flip-flop whatever its clock does; "" if nothing does."""
        if not found["reset"] or self._never(nets["L" if "L" in nets else "R"][0], found["reset"]):
            return ""
        net = nets["L" if "L" in nets else "R"][0]
        if "L" in nets:
            when, loaded = self._of(net), self._of(nets["AD"][0])
            pin = when.operands[0] if when.operation == "not" else when
            if pin.operation == "pin":
                # What it would be loaded with at another time does not matter.
                high = (found["reset"] == "P") == (when == pin)
                loaded = _replaced(loaded, pin.name, _constant(int(high)))
            if loaded.operation != "const":
                raise _UnclearError(f"a flip-flop that {_written(loaded)} is loaded into at no clock")
            value = int(loaded.name)
        else:
            value = int(found["value"])
        forced = self._edge("set or reset", net, found["reset"])
        return f' {"preset" if value else "clear"} : "{_written(forced)}";'

    def _never(self, net: _Bit, sign: str) -> bool:
        """Whether a signal that acts while it is high ("P") or low is a constant that does not."""
        return self._of(net) == _constant(int(sign == "N"))

    def _edge(self, what: str, net: _Bit, sign: str) -> Expression:
        function = self._of(net)
        pin = function.operands[0] if function.operation == "not" else function
        if pin.operation != "pin" or pin == self._state:
            raise _UnclearError(f"{what} of a flip-flop is {_written(function)}, more than one pin")
        return function if sign == "P" else _not(function)

    def _of(self, net: _Bit, around: frozenset[_Bit] = frozenset()) -> Expression:
        """Return the function of a net."""
        found = self.known.get(net)
        if found is None:
            if net in around:
                raise _UnclearError("a loop of gates, which may store something")
            if net not in self.gate:
                raise _UnclearError("a pin or net that nothing drives")
            kind, nets = self.gate[net]
            taken = {pin: self._of(own[0], around | {net}) for pin, own in nets.items() if pin != "Y"}
            # A multiplexer says twice what selects.
            self.length[net] = 1 + sum(
                self.length.get(nets[pin][0], 1) for pin in (*taken, "S" if "S" in taken else "A")
            )
            if self.length[net] > _LONGEST:
                raise _UnclearError("a function that is too long for a cell")
            found = _gate(kind, taken)
            self.known[net] = found
        return found


def _free(name: str, pins: _Ports) -> str:
    """Return a name that no pin has."""
    while name in (*pins.inputs, *pins.outputs):
        name += "_"
    return name


def _constant(value: int) -> Expression:
    return Expression("const", str(value))


def _gate(kind: str, of: Mapping[str, Expression]) -> Expression:
    if kind == "$_NOT_":
        return _not(of["A"])
    if kind == "$_BUF_":
        return of["A"]
    if kind in {"$_AND_", "$_NAND_"}:
        found = _all([of["A"], of["B"]])
    elif kind in {"$_OR_", "$_NOR_"}:
        found = _any([of["A"], of["B"]])
    elif kind in {"$_XOR_", "$_XNOR_"}:
        found = _odd([of["A"], of["B"]])
    elif kind == "$_MUX_":
        found = _any([_all([of["S"], of["B"]]), _all([_not(of["S"]), of["A"]])])
        if of["A"] == of["B"]:
            found = of["A"]
    else:
        raise _UnclearError(f"a gate of a kind that is not known ({kind})")
    return _not(found) if kind in {"$_NAND_", "$_NOR_", "$_XNOR_"} else found


def _not(of: Expression) -> Expression:
    if of.operation == "not":
        return of.operands[0]
    if of.operation == "const":
        return _constant(1 - int(of.name))
    return Expression("not", operands=(of,))


def _all(operands: Sequence[Expression]) -> Expression:
    return _joined("and", operands, neutral=1)


def _any(operands: Sequence[Expression]) -> Expression:
    return _joined("or", operands, neutral=0)


def _joined(operation: str, operands: Sequence[Expression], *, neutral: int) -> Expression:
    """Return an AND or OR without what decides nothing in it."""
    parts = dict.fromkeys(chain.from_iterable(_parts(operation, own) for own in operands))
    if _constant(1 - neutral) in parts or any(_not(own) in parts for own in parts):
        return _constant(1 - neutral)
    left = tuple(own for own in parts if own != _constant(neutral))
    if len(left) < 2:
        return left[0] if left else _constant(neutral)
    return Expression(operation, operands=left)


def _parts(operation: str, of: Expression) -> tuple[Expression, ...]:
    return of.operands if of.operation == operation else (of,)


def _odd(operands: Sequence[Expression]) -> Expression:
    inverted = False
    parts: dict[Expression, None] = {}
    for own in chain.from_iterable(_parts("xor", each) for each in operands):
        inner = own.operands[0] if own.operation == "not" else own
        inverted ^= own.operation == "not" or own == _constant(1)
        if inner.operation == "const":
            continue
        if inner in parts:
            del parts[inner]
        else:
            parts[inner] = None
    found = Expression("xor", operands=tuple(parts)) if len(parts) > 1 else next(iter(parts), _constant(0))
    return _not(found) if inverted else found


def _replaced(of: Expression, pin: str, value: Expression) -> Expression:
    """Return a function with a constant in the place of a pin."""
    if of.operation == "pin":
        return value if of.name == pin else of
    if of.operation == "const":
        return of
    operands = [_replaced(own, pin, value) for own in of.operands]
    if of.operation == "not":
        return _not(operands[0])
    return {"and": _all, "or": _any, "xor": _odd}[of.operation](operands)


def _written(of: Expression) -> str:
    """Return a function as Liberty has it."""
    return "".join(_words(of))


def _words(of: Expression) -> Iterator[str]:
    if of.operation in {"pin", "const"}:
        yield of.name
    elif of.operation == "not":
        yield "!"
        yield from _words(of.operands[0])
    else:
        sign = {"and": " & ", "or": " | ", "xor": " ^ "}[of.operation]
        yield "("
        for number, own in enumerate(of.operands):
            if number:
                yield sign
            yield from _words(own)
        yield ")"
