# SPDX-License-Identifier: Apache-2.0
"""The part of the C++ driver that differs between designs, written from the headers Verilator generates.

Verilator keeps the whole state of a model in one object, the symbol table, which holds each module class
that was not inlined as a member. The glue lists the variables of these classes, so that the driver can copy
the state of one instance into another, and names the ports that a target names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError, SimulationError

PREFIX = "Vdut"

_PORT = re.compile(r"^\s*VL_(IN|OUT|INOUT)(8|16|64|W|)\(&(\w+),(\d+),(\d+)", re.MULTILINE)
_PORT_MEMBER = re.compile(r"^VL_(?:IN|OUT|INOUT)(?:8|16|64|W|)\((\w+),")
_MEMBER = re.compile(r"^(?P<type>[\w:<>*,/ ]+?)[ >](?P<name>\w+)(?:\[\d+\])?;$")
_ROOT = f"{PREFIX}___024root"
_EDGES = re.compile(rf"void ({_ROOT}___eval_triggers(?:_vec)?__act)\({_ROOT}\* vlSelf\) {{")
_INSTANCE = re.compile(rf"^\s+{PREFIX}_\w+\s+(\w+);$", re.MULTILINE)


@dataclass(frozen=True)
class PortList:
    """Ports of the compiled top.

    Attributes:
        inputs: Names of inputs and inouts.
        outputs: Width in bits by name of output.
    """

    inputs: tuple[str, ...]
    outputs: Mapping[str, int]


def read_ports(folder: Path) -> PortList:
    """Return the ports of the model that Verilator wrote into `folder`."""
    found = _PORT.findall((folder / f"{PREFIX}.h").read_text())
    inputs = tuple(name for direction, _, name, _, _ in found if direction != "OUT")
    outputs = {
        name: int(left) - int(right) + 1 for direction, _, name, left, right in found if direction == "OUT"
    }
    return PortList(inputs, outputs)


def check_ports(target: Target, ports: PortList) -> None:
    """Raise HarnessError unless the top is closed and has the ports that the target names."""
    open_inputs = sorted(set(ports.inputs) - {target.clock, target.reset})
    if open_inputs:
        raise HarnessError(
            f"target {target.name}: top {target.top} must have only clock and reset as inputs, found "
            f"{', '.join(open_inputs)} too; wrap it in a bench that drives them"
        )
    for key, port in (("clock", target.clock), ("reset", target.reset)):
        if port not in ports.inputs:
            raise HarnessError(_no_port(target, key, port, ports.inputs))
    for key, port in target.outputs.items():
        if port not in ports.outputs:
            raise HarnessError(_no_port(target, key, port, tuple(ports.outputs)))
        if ports.outputs[port] > 64:
            raise HarnessError(
                f"target {target.name}: {key} = {port} of top {target.top} has {ports.outputs[port]} bits; "
                "at most 64 can be read"
            )


def write_glue(target: Target, folder: Path) -> None:
    """Write `glue.h` for the model in `folder`.

    Raises:
        HarnessError: If the top is not closed or lacks a port that the target names.
        SimulationError: If the headers are not as this Verilator version is known to write them.
    """
    check_ports(target, read_ports(folder))
    symbols = (folder / f"{PREFIX}__Syms.h").read_text()
    section = _between(symbols, "// MODULE INSTANCE STATE", "// ", f"{PREFIX}__Syms.h")
    groups = [(m.group(0).split()[0], m.group(1)) for m in _INSTANCE.finditer(section)]
    if not groups:
        raise SimulationError(
            f"expected module instances in {PREFIX}__Syms.h, found none; Verilator is too new or old"
        )
    classes = {cls: _members(folder, cls) for cls, _ in groups}
    (folder / "glue.h").write_text(_render(target, groups, classes, _edge_detector(folder)))


def _edge_detector(folder: Path) -> str:
    """Return the function that looks for edges of clocks and keeps their levels for the next time."""
    for file in sorted(folder.glob(f"{_ROOT}*.cpp")):
        if found := _EDGES.search(file.read_text()):
            return found[1]
    raise SimulationError(
        f"expected a function eval_triggers in {_ROOT}*.cpp, found none; Verilator is too new or too old"
    )


def _members(folder: Path, cls: str) -> list[tuple[str, str]]:
    """Return type and name of each state variable of a module class, in the order of declaration."""
    text = (folder / f"{cls}.h").read_text()
    section = _between(text, "// DESIGN SPECIFIC STATE", "// INTERNAL VARIABLES", f"{cls}.h")
    section = re.sub(r"/\*.*?\*/|//[^\n]*", " ", section, flags=re.DOTALL)
    members = []
    for line in map(str.strip, section.splitlines()):
        if line in ("", "struct {", "};") or line.startswith("static const"):
            continue
        if port := _PORT_MEMBER.match(line):
            members.append(("port", port.group(1)))
        elif plain := _MEMBER.match(re.sub(r"\s+", " ", line)):
            members.append((line[: line.rindex(plain["name"])].strip(), plain["name"]))
        else:
            raise SimulationError(
                f"expected a variable in {cls}.h, found {line!r}; Verilator is too new or too old"
            )
    return members


def _render(
    target: Target, groups: list[tuple[str, str]], classes: Mapping[str, list[tuple[str, str]]], edges: str
) -> str:
    level = "!active" if target.reset_active_low else "active"
    lines = [
        "// Generated for one design; see glue.py.",
        '#pragma GCC diagnostic ignored "-Winvalid-offsetof"',
        "#ifndef RESIL_GLUE_H",
        "#define RESIL_GLUE_H",
        "#include <cstddef>",
        "#include <cstdint>",
        f'#include "{PREFIX}.h"',
        f'#include "{PREFIX}__Syms.h"',
        "",
        f"using GlueModel = {PREFIX};",
        f"using GlueSyms = {PREFIX}__Syms;",
        f"void {PREFIX}___024root___eval_settle({PREFIX}___024root*);",
        f"inline void glue_settle(GlueSyms& syms) {{ {PREFIX}___024root___eval_settle(&syms.TOP); }}",
        f"void {PREFIX}___024root___eval({PREFIX}___024root*);",
        f"inline void glue_eval(GlueSyms& syms) {{ {PREFIX}___024root___eval(&syms.TOP); }}",
        f"void {edges}({PREFIX}___024root*);",
        f"inline void glue_forget_edges(GlueSyms& syms) {{ {edges}(&syms.TOP); }}",
        f"inline void set_clock(GlueModel& model, int value) {{ model.{target.clock} = value; }}",
        f"inline void set_reset(GlueModel& model, bool active) {{ model.{target.reset} = {level}; }}",
    ]
    for key in ("done", "status", "operation", "inferences"):
        value = f"model.{port}" if (port := getattr(target, key)) else "0"
        lines.append(f"inline uint64_t port_{key}(const GlueModel& model) {{ return {value}; }}")
    # A bit for each alarm, in the order of the target.
    up = [f"uint64_t{{model.{a.output} != 0}} << {i}" for i, a in enumerate(target.alarms.values())]
    lines.append(f"inline uint64_t port_alarms(const GlueModel& model) {{ return {' | '.join(up) or '0'}; }}")
    return "\n".join([*lines, "", *_tables(groups, classes), "#endif", ""])


def _tables(groups: list[tuple[str, str]], classes: Mapping[str, list[tuple[str, str]]]) -> list[str]:
    """Return the tables of members as macros: the driver defines `Member` before it expands them."""
    lines = []
    for cls, members in classes.items():
        lines.append(f"#define GLUE_MEMBERS_{cls} \\")
        for _, name in members:
            lines.append(f"  member<decltype({cls}::{name})>(offsetof({cls}, {name})), \\")
        lines.append("")
    lines.append("#define GLUE_CLASSES(CLASS) \\")
    lines += [f"  CLASS({cls}, GLUE_MEMBERS_{cls}) \\" for cls in classes]
    lines += ["", "#define GLUE_INSTANCES(INSTANCE) \\"]
    lines += [f"  INSTANCE({cls}, {name}) \\" for cls, name in groups]
    strings = [
        f"  to.{instance}.{name} = from.{instance}.{name};"
        for cls, instance in groups
        for kind, name in classes[cls]
        if kind == "std::string"
    ]
    lines += ["", "inline void glue_copy_strings(GlueSyms& to, const GlueSyms& from) {"]
    return [*lines, *strings, "}", ""]


def _no_port(target: Target, key: str, port: str, known: tuple[str, ...]) -> str:
    return (
        f"target {target.name}: {key} = {port!r} is no such port of top {target.top}, which has "
        f"{', '.join(known) or 'none'}; correct the target file"
    )


def _between(text: str, begin: str, end: str, where: str) -> str:
    start = text.find(begin)
    stop = text.find(end, start + len(begin))
    if start < 0 or stop < 0:
        raise SimulationError(
            f"expected the section {begin!r} in {where}, found none; Verilator is too new or too old"
        )
    return text[start + len(begin) : stop]
