# SPDX-License-Identifier: Apache-2.0
"""Netlists as SystemVerilog: modules with declared parameters and ports, a file each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from resil.rtl_harness.redundancy.modules import Parameter

_MODULE = re.compile(r"^module (\w+) ?\(.*?\);\n(.*?)^endmodule\n", re.DOTALL | re.MULTILINE)
_PORT = re.compile(
    r"^  (input|output|inout)((?: signed)?(?: \[[^\]]*\])?) (\w+);\n(?:^  (?:wire|reg|logic)[^\n]*? \3;\n)?",
    re.MULTILINE,
)
_STORED = re.compile(
    r"^  (?:reg(?: signed)?(?: \[[^\]]*\])? (\w+)|[A-Za-z_]\w* (?:#\(.*?\) )?(\w+) \()",
    re.MULTILINE | re.DOTALL,
)


def module_files(
    text: str, top: str, parameters: Sequence[Parameter], types: Mapping[str, str], made_of: str
) -> dict[str, str]:
    """Return the modules of what `write_verilog` wrote, by name, each as a text of its own.

    Args:
        text: What it wrote.
        top: Module that takes the place of one of the source.
        parameters: That the top is given where it is used; it is made for one value of each.
        types: Of its ports that have one of a package; the netlist has their bits.
        made_of: What the top is, in words, for its first line.
    """
    files = {}
    for name, body in _MODULE.findall(text):
        own = parameters if name == top else ()
        own_types = types if name == top else {}
        what = made_of if name == top else f"A part of {top}, as a netlist."
        files[name] = f"/// {what}\n" + _module(name, body, own, own_types)
    return files


def stored_in(text: str) -> set[str]:
    """Return the names of registers, memories and instances in the text of a module."""
    return {register or instance for register, instance in _STORED.findall(text)}


def _module(name: str, body: str, parameters: Sequence[Parameter], types: Mapping[str, str]) -> str:
    ports = {port: (direction, kind) for direction, kind, port in _PORT.findall(body)}
    rest = _PORT.sub("", body)
    bits = {f"{port}_bits": port for port in types}
    declared = [
        f"  {direction} {types[bits[port]]} {bits[port]}"
        if port in bits
        else f"  {direction} logic{kind} {port}"
        for port, (direction, kind) in ports.items()
    ]
    head = f"module {name}"
    if parameters:
        lines = [
            f"  parameter type {p.name} = logic" if not p.value else f"  parameter {p.name} = {p.value}"
            for p in parameters
        ]
        head += " #(\n" + ",\n".join(lines) + "\n)"
    head += " (\n" + ",\n".join(declared) + "\n);\n"
    for port, own in bits.items():
        direction, kind = ports[port]
        cast = f"{types[own]}'({port})" if "[" not in types[own] else port
        head += f"  logic{kind} {port};\n  assign "
        head += f"{port} = {own};\n" if direction == "input" else f"{own} = {cast};\n"
    head += "".join(_check(name, p) for p in parameters if p.value)
    return f"{head}{rest}endmodule\n"


def _check(module: str, parameter: Parameter) -> str:
    own = parameter.name
    return (
        f"  if ({own} != {parameter.value}) begin : gen_other_{own}\n"
        f'    $error("{module} was made for {own} = {parameter.value}: build the protection again");\n  end\n'
    )
