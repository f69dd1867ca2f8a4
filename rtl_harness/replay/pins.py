# SPDX-License-Identifier: Apache-2.0
"""The instance of a design in a bench, with all kinds of ports."""

from __future__ import annotations

from collections.abc import Sequence

from resil.rtl_harness.design.target import Parameters
from resil.rtl_harness.replay.ports import PortHolder, TopPort


def instance_text(
    top: str, parameters: Parameters, instance: str, connected: Sequence[tuple[TopPort, str]], *more: str
) -> str:
    """Return an instance, and before it the arrays and interfaces that are its ports.

    Args:
        top: Module.
        parameters: Of it.
        instance: Its name.
        connected: Ports, and what an input gets, or which signal an output drives. A port in both directions
            has what is on it.
        more: Further pins.
    """
    values = dict(connected)
    held: dict[PortHolder, list[TopPort]] = {}
    for port in values:
        if port.holder is not None:
            held.setdefault(port.holder, []).append(port)
    pins = [f".{port.name}({_given(port, value)})" for port, value in connected if port.holder is None]
    pins += [f".{holder.name}({_signal(holder)})" for holder in held]
    given = ", ".join(f".{name}({value})" for name, value in parameters.items())
    lines = [line for holder, ports in held.items() for line in _held(holder, ports, values)]
    joined = ",\n".join(f"    {pin}" for pin in [*pins, *more])
    return (
        "\n".join([*lines, f"  {top}{f' #({given})' if given else ''} {instance} (", joined, "  );"]) + "\n"
    )


def _given(port: TopPort, value: str) -> str:
    return f"{port.enum}'({value})" if port.enum and port.is_driven else value


def _signal(holder: PortHolder) -> str:
    return f"pin_{holder.name}"


def _held(holder: PortHolder, ports: Sequence[TopPort], values: dict[TopPort, str]) -> list[str]:
    declared, lines = holder.declared.replace("{}", _signal(holder)), []
    for port in ports:
        value, path = values[port], _signal(holder) + port.name.removeprefix(holder.name)
        if port.name in holder.inputs:
            declared = declared.replace(f"{{{port.name.rpartition('.')[2]}}}", value)
        elif not port.is_driven:
            lines.append(f"  assign {value} = {path};")
        elif port.enum and "::" not in port.enum:
            # An enumeration of an interface has no name here: as a concatenation it takes a vector.
            lines.append("  // verilator lint_off ENUMVALUE")
            lines.append(f"  assign {{{path}}} = {value};")
            lines.append("  // verilator lint_on ENUMVALUE")
        else:
            lines.append(f"  assign {path} = {_given(port, value)};")
    return [f"  {declared};", *lines]
