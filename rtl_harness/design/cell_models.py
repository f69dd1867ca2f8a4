# SPDX-License-Identifier: Apache-2.0
"""Behavioural models of the cells of a Liberty file, for netlists of which there is no other."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.area_library import library_text
from resil.rtl_harness.design.cells import CellType, Expression, cells_of
from resil.rtl_harness.errors import HarnessError

MODELS = "cell_models.sv"
# Ways to gate a clock of which a model is made: a latch that is open while the clock is low, and an AND.
GATING = ("latch_posedge", "latch_posedge_precontrol")

_HEADER = "// Cells of "
_MODULE = re.compile(r"\bmodule\s+(?:\\(\S+)|([A-Za-z_][\w$]*))")
_WORD = re.compile(r"[A-Za-z_][\w$]*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# A name, and pins that do not begin with a name. What matched is never tried shorter: netlists are long.
_BY_ORDER = r"(\\\S++|[A-Za-z_][\w$]*+)\s*+(?:\[[^\]]*+\]\s*+)?\(\s*+(?![.)]|\(\*)"
_INSTANCE = re.compile(rf"(?<![\w$\\.])([A-Za-z_][\w$]*+)(?:\s*+#\s*+\([^()]*+\)\s*+|\s++){_BY_ORDER}")
_NEXT = re.compile(rf"\)\s*+,\s*+{_BY_ORDER}")
_SIGNS = {"and": " & ", "or": " | ", "xor": " ^ "}


def modules_of(files: Iterable[Path]) -> set[str]:
    """Return the names of the modules that files define."""
    return {escaped or plain for file in files for escaped, plain in _MODULE.findall(_uncommented(file))}


def cells_used(known: Collection[str], sources: Sequence[Path], said: str) -> set[str]:
    """Return the cells that some source names and none defines.

    Args:
        known: All cells of a library.
        sources: Of a netlist.
        said: What the library is called in messages.

    Raises:
        HarnessError: No source names a cell, or pins of one that is named are connected by their order.
    """
    named: set[str] = set()
    texts = {}
    for source in sources:
        text = _uncommented(source)
        if own := set(known).intersection(_WORD.findall(text)):
            named |= own
            texts[source] = text
    if not named:
        raise HarnessError(
            f"expected sources that are a netlist of the cells of {said}, found none that names a cell; "
            "correct cells, or leave it out",
            "cells",
        )
    used = named - modules_of(sources)
    for source, text in texts.items():
        _require_names(source, text, used, said)
    return used


def cell_models(liberty: Path, sources: Sequence[Path]) -> Path:
    """Return a file with a model of each cell that some source names and none defines; from the cache.

    A flip-flop keeps its bit in a register that is named as the library names its state; nothing removes it
    or merges it with others.

    Raises:
        HarnessError: the library cannot be read, no source names a cell of it, it does not say what a cell
            that is named does, or pins of one are connected by their order.
    """
    cells = cells_of(library_text(liberty, "cells"))
    used = cells_used(cells.keys(), sources, str(liberty))
    models = [model_text(cells[name], liberty) for name in sorted(used)]
    text = "\n".join([f"{_HEADER}{liberty.name}.", *models])

    def build(folder: Path) -> None:
        write_atomically(folder / MODELS, text.encode())

    return cached_folder("cell-models", content_key(text), build) / MODELS


def modelled_cells(sources: Iterable[Path]) -> set[str]:
    """Return the cells of which `cell_models` has made models, by the file that is among the sources."""
    found: set[str] = set()
    for source in sources:
        if source.name == MODELS:
            text = source.read_text(encoding="utf-8", errors="replace")
            if text.startswith(_HEADER):
                found |= {escaped or plain for escaped, plain in _MODULE.findall(text)}
    return found


def model_text(cell: CellType, liberty: Path = Path("the Liberty file")) -> str:
    """Return the model of a cell in Verilog; HarnessError if the library does not say what it does."""
    if cell.beyond and not cell.clock_gate:
        raise _unknown(cell, liberty, cell.beyond)
    if cell.clock_gate:
        body = _clock_gate(cell, liberty)
    elif cell.flip_flop is not None:
        group = cell.flip_flop
        if group.clear is not None and group.preset is not None:
            raise _unknown(cell, liberty, "a flip-flop with both set and reset")
        forced = group.clear if group.clear is not None else group.preset
        events = [_edge(group.clock, cell, liberty)]
        stored = {group.state: group.state, group.inverse: f"~{group.state}"}
        take = f"{group.state} <= {formula(group.next_state, lambda name: stored.get(name, name))};"
        if forced is not None:
            events.append(_edge(forced, cell, liberty))
            take = f"if ({formula(forced)}) {group.state} <= 1'b{int(group.clear is None)}; else {take}"
        body = [f"(* keep *) reg {group.state};", f"always @({' or '.join(events)}) {take}"]
        body += _outputs(cell, stored, liberty)
    elif cell.latch is not None:
        latch = cell.latch
        if latch.clear is not None or latch.preset is not None:
            raise _unknown(cell, liberty, "a latch with set or reset")
        take = f"if ({formula(latch.enable)}) {latch.state} = {formula(latch.data)};"
        body = [f"(* keep *) reg {latch.state};", f"always_latch {take}"]
        body += _outputs(cell, {latch.state: latch.state, latch.inverse: f"~{latch.state}"}, liberty)
    else:
        body = _outputs(cell, {}, liberty)
    gated = [cell.clock_gate_pins[2]] if cell.clock_gate else []
    outputs = list(dict.fromkeys([*cell.outputs, *gated]))
    inputs = [pin for pin in cell.inputs if pin not in outputs]
    ports = [*(f"input wire {pin}" for pin in inputs), *(f"output wire {pin}" for pin in outputs)]
    return "\n".join(
        [f"module {cell.name}({', '.join(ports)});", *(f"  {line}" for line in body), "endmodule"]
    )


def _uncommented(file: Path) -> str:
    return _COMMENT.sub(_blank, file.read_text(encoding="utf-8", errors="replace"))


def _blank(comment: re.Match[str]) -> str:
    """Return what stands for a comment, on as many lines."""
    return " " + "\n" * comment[0].count("\n")


def _require_names(source: Path, text: str, modelled: Collection[str], said: str) -> None:
    """Raise HarnessError if pins of a cell that a model is made of are connected by their order.

    The library gives none: that of the model is not what the netlist was written for.
    """
    found = [(match.start(), match[1], match[2]) for match in _INSTANCE.finditer(text)]
    found += [(match.start(), _first_word(text, match.start()), match[1]) for match in _NEXT.finditer(text)]
    for place, kind, instance in sorted(found):
        if kind in modelled:
            line = text.count("\n", 0, place) + 1
            name = instance.removeprefix("\\")
            raise HarnessError(
                f"{source}:{line}: expected the pins of {name}, a cell {kind}, to be connected by name, "
                f"found them in an order, which {said} does not give; write .PIN(net), or give a "
                "Verilog model of the cell among the sources",
                "sources",
            )


def _first_word(text: str, place: int) -> str:
    """Return the first word of the statement that a place lies in."""
    found = _WORD.search(text, text.rfind(";", 0, place) + 1, place)
    return found[0] if found else ""


def _outputs(cell: CellType, stored: Mapping[str, str], liberty: Path) -> list[str]:
    lines = []
    for pin, function in cell.outputs.items():
        if function is None:
            raise _unknown(cell, liberty, f"no function of {pin}")
        lines.append(f"assign {pin} = {formula(function, lambda name: stored.get(name, name))};")
    return lines


def _clock_gate(cell: CellType, liberty: Path) -> list[str]:
    if cell.gating not in GATING:
        raise _unknown(cell, liberty, f"a clock gate of kind {cell.gating}")
    enable, clock, gated = cell.clock_gate_pins
    opened = " | ".join([enable, *cell.test_pins])
    return [
        "(* keep *) reg open_l;",
        f"always_latch if (!{clock}) open_l = {opened};",
        f"assign {gated} = {clock} & open_l;",
    ]


def _edge(function: Expression, cell: CellType, liberty: Path) -> str:
    inner = function.operands[0] if function.operation == "not" else function
    if inner.operation != "pin":
        raise _unknown(cell, liberty, "a clock, set or reset of more than one pin")
    return f"{'negedge' if function.operation == 'not' else 'posedge'} {inner.name}"


def formula(function: Expression, named: Callable[[str], str] = str) -> str:
    """Return a function as Verilog writes it; `named` gives what stands for a pin."""
    if function.operation == "pin":
        return named(function.name)
    if function.operation == "const":
        return f"1'b{function.name}"
    if function.operation == "not":
        return f"~({formula(function.operands[0], named)})"
    return f"({_SIGNS[function.operation].join(formula(part, named) for part in function.operands)})"


def _unknown(cell: CellType, liberty: Path, why: str) -> HarnessError:
    return HarnessError(
        f"{liberty}: expected to find what the cell {cell.name} does, found {why}; give "
        "a Verilog model of it among the sources",
        "cells",
    )
