# SPDX-License-Identifier: Apache-2.0
"""The ports of a design's top, as slang reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from resil.rtl_harness.design.parameter_values import TopParameter, parameters_of
from resil.rtl_harness.design.slang import SlangSources, read_design
from resil.rtl_harness.design.target import Parameters, Target
from resil.rtl_harness.errors import HarnessError

# Stands behind the name of a port in both directions, for the bits of it that the design drives.
DRIVES = ":driven"
# An array of more elements is a memory, and no port.
_MOST_ELEMENTS = 4096


@dataclass(frozen=True)
class PortHolder:
    """A port that is no vector: an unpacked array or an interface. What it holds is a port each to a replay.

    Attributes:
        name: Of the port.
        declared: What a bench declares to connect it, with `{}` in place of the name.
        inputs: Of an interface its own input ports, as a clock.
        is_interface: It is an interface.
    """

    name: str
    declared: str
    inputs: tuple[str, ...] = ()
    is_interface: bool = False


@dataclass(frozen=True)
class TopPort:
    """One port of a top, or what a port that is no vector holds.

    Attributes:
        name: As declared; of what another port holds as waveforms have it: `data[0]`, `bus.valid`.
        direction: "input", "output" or "inout".
        width: In bits.
        enum: The type, if it is an enumeration of a package, which takes no vector without a cast; else "".
        holder: The port that holds it; None if it is a port of its own.
        is_union: It is a packed union, whose members are the same bits.
    """

    name: str
    direction: str
    width: int
    enum: str = ""
    holder: PortHolder | None = None
    is_union: bool = False

    @property
    def symbol(self) -> str:
        """Its name as part of other names."""
        return symbol_of(self.name)

    @property
    def is_driven(self) -> bool:
        """Whether the environment drives it, always or at times."""
        return self.direction != "output"

    @property
    def drives(self) -> bool:
        """Whether the design drives it, always or at times."""
        return self.direction != "input"

    @property
    def is_inout(self) -> bool:
        """Whether it is in both directions."""
        return self.direction == "inout"

    @property
    def enable(self) -> TopPort:
        """Of a port in both directions: which of its bits the design drives, as an output."""
        return TopPort(f"{self.name}{DRIVES}", "output", self.width)


def symbol_of(name: str) -> str:
    """Return the name of a port, or of what one holds, as part of other names."""
    return re.sub(r"\W", "_", name.replace(DRIVES, "_resil_on").replace(".", "__").replace("]", ""))


def read_ports(target: Target, parameters: Parameters) -> tuple[TopPort, ...]:
    """Return the ports of the target's top, in their order; see `read_top`."""
    return read_top(target, parameters)[0]


def read_top(target: Target, parameters: Parameters) -> tuple[tuple[TopPort, ...], tuple[TopParameter, ...]]:
    """Return the ports of the target's top, in their order, and its parameters with their values.

    Args:
        target: Its files are read as they are.
        parameters: Of the top.

    Raises:
        HarnessError: The RTL cannot be read, has no such top, or a port is of a kind that no waveform drives.
    """
    given = SlangSources(target.sources, target.include_dirs, target.defines)
    design = read_design(target.name, target.top, given, parameters)
    return ports_of(target.name, design.top), parameters_of(design.top)


def ports_of(name: str, top: Any) -> tuple[TopPort, ...]:  # noqa: ANN401
    """Return the ports of an instance of slang; `name` is the target's, for messages.

    An unpacked array is a port for each element, an interface one for each member of its modport.

    Raises:
        HarnessError: As `read_ports`.
    """
    found = tuple(port for own in top.body.portList for port in _ports(name, own))
    symbols: dict[str, str] = {}
    for port in found:
        if (other := symbols.setdefault(port.symbol, port.name)) != port.name:
            _refuse(name, port.name, f"{other} by another name in a bench")
    return found


def _refuse(target: str, name: str, reason: str) -> NoReturn:
    raise HarnessError(
        f"target {target}: top: expected ports of bits, found {name}, "
        f"which is {reason}; put the top into a module of yours whose ports are vectors, and record that",
        f"top.{name}",
    )


def _directions() -> dict[Any, str]:
    from pyslang import ast

    kinds = ast.ArgumentDirection
    return {kinds.In: "input", kinds.Out: "output", kinds.InOut: "inout"}


def _ports(target: str, found: Any) -> Iterator[TopPort]:  # noqa: ANN401
    name = str(getattr(found, "name", ""))
    kind: Any = getattr(found, "type", None)
    if kind is None:
        yield from _members(target, name, found)
        return
    direction = _directions().get(getattr(found, "direction", None), "")
    if not direction:
        _refuse(target, name, "a reference, which no hardware has")
    if kind.isUnpackedArray:
        if direction == "inout":
            _refuse(target, name, "an array in both directions that is not packed")
        holder = PortHolder(name, _array_text(target, name, kind))
        for path, element in _elements(target, name, kind):
            yield _port(target, f"{name}{path}", direction, element, holder)
    else:
        yield _port(target, name, direction, kind, None)


def _port(target: str, name: str, direction: str, kind: Any, holder: PortHolder | None) -> TopPort:  # noqa: ANN401
    in_interface = holder is not None and holder.is_interface
    if not kind.isIntegral:
        _refuse(target, name, f"of type {kind}")
    if kind.isEnum and direction != "output" and "::" not in str(kind) and not in_interface:
        _refuse(target, name, f"of the enumeration {kind}, which no package declares")
    enum = str(kind) if kind.isEnum else ""
    return TopPort(name, direction, int(kind.bitWidth), enum, holder, bool(kind.isPackedUnion))


def _array_text(target: str, name: str, kind: Any) -> str:  # noqa: ANN401
    """Return the declaration of an array with elements that are equivalent to those of the port."""
    dimensions, element = "", kind
    while element.isUnpackedArray:
        if not element.hasFixedRange:
            _refuse(target, name, f"of type {kind}, whose size is not fixed")
        own = element.canonicalType.range
        dimensions += f"[{own.left}:{own.right}]"
        element = element.canonicalType.elementType
    if element.isEnum:
        if "::" not in str(element):
            _refuse(target, name, f"an array of the enumeration {element}, which no package declares")
        return f"{element} {{}} {dimensions}"
    if not element.isIntegral:
        _refuse(target, name, f"of type {kind}")
    base = "logic" if element.isFourState else "bit"
    sign = " signed" if element.isSigned else ""
    return f"{base}{sign} [{int(element.bitWidth) - 1}:0] {{}} {dimensions}"


def _elements(target: str, name: str, kind: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield the index of each element of an unpacked array and its type."""
    if not kind.isUnpackedArray:
        yield "", kind
        return
    if not kind.hasFixedRange or kind.canonicalType.range.width > _MOST_ELEMENTS:
        _refuse(target, name, f"of type {kind}, a memory")
    own = kind.canonicalType.range
    step = 1 if own.right >= own.left else -1
    for index in range(own.left, own.right + step, step):
        for path, element in _elements(target, name, kind.canonicalType.elementType):
            yield f"[{index}]{path}", element


def _members(target: str, name: str, found: Any) -> Iterator[TopPort]:  # noqa: ANN401
    """Yield the members of the modport of a port that is an interface, and its own inputs."""
    from pyslang import ast

    if getattr(found, "interfaceDef", None) is None:
        _refuse(target, name, "an interface of any kind, or one that is not there")
    kind = str(found.interfaceDef.name)
    if len(found.declaredRange or ()):
        _refuse(target, name, f"an array of interfaces {kind}")
    instance, modport = found.connection
    if instance is None or modport is None:
        _refuse(target, name, f"the interface {kind} without a modport, which says no directions")
    own = [port for port in instance.body.portList if getattr(port, "type", None) is not None]
    for port in own:
        if port.direction != ast.ArgumentDirection.In or not port.type.isIntegral:
            _refuse(target, name, f"the interface {kind} with a port {port.name} that is no input of bits")
    inputs = tuple(f"{name}.{port.name}" for port in own)
    pins = ", ".join(f".{port.name}({{{port.name}}})" for port in own)
    holder = PortHolder(name, f"{kind} {{}} ({pins})", inputs, is_interface=True)
    for port in own:
        yield TopPort(f"{name}.{port.name}", "input", int(port.type.bitWidth), "", holder)
    for member in modport:
        if member.kind != ast.SymbolKind.ModportPort:
            _refuse(
                target,
                name,
                f"{kind}.{modport.name} with {member.name or 'a part'}, a task or clocking block",
            )
        if member.explicitConnection is not None:
            _refuse(target, name, f"{kind}.{modport.name} with {member.name}, an expression")
        path = f"{name}.{member.name}"
        direction = _directions().get(member.direction, "")
        if path in inputs:
            continue
        if direction in ("", "inout"):
            _refuse(target, path, "a member of an interface in both directions")
        for index, element in _elements(target, path, member.type):
            yield _port(target, f"{path}{index}", direction, element, holder)
