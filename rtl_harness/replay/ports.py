# SPDX-License-Identifier: Apache-2.0
"""The ports of a design's top, as slang reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from resil.rtl_harness.design.parameter_values import TopParameter, parameters_of
from resil.rtl_harness.design.slang import SlangSources, read_design
from resil.rtl_harness.design.target import Parameters, Target
from resil.rtl_harness.errors import HarnessError


@dataclass(frozen=True)
class TopPort:
    """One port of a top.

    Attributes:
        name: As declared.
        direction: "input" or "output".
        width: In bits.
        enum: The type, if it is an enumeration of a package, which takes no vector without a cast; else "".
    """

    name: str
    direction: str
    width: int
    enum: str = ""


def read_ports(target: Target, parameters: Parameters) -> tuple[TopPort, ...]:
    """Return the ports of the target's top, in their order; see `read_top`."""
    return read_top(target, parameters)[0]


def read_top(target: Target, parameters: Parameters) -> tuple[tuple[TopPort, ...], tuple[TopParameter, ...]]:
    """Return the ports of the target's top, in their order, and its parameters with their values.

    Args:
        target: Its files are read as they are.
        parameters: Of the top.

    Raises:
        HarnessError: The RTL cannot be read, has no such top, or a port is of a kind that no waveform drives:
            an interface, an array that is not packed, or in both directions.
    """
    given = SlangSources(target.sources, target.include_dirs, target.defines)
    design = read_design(target.name, target.top, given, parameters)
    return ports_of(target.name, design.top), parameters_of(design.top)


def ports_of(name: str, top: Any) -> tuple[TopPort, ...]:  # noqa: ANN401
    """Return the ports of an instance of slang; `name` is the target's, for messages.

    Raises:
        HarnessError: As `read_ports`.
    """
    return tuple(_port(name, own) for own in top.body.portList)


def _port(target: str, found: object) -> TopPort:
    from pyslang import ast

    name = str(getattr(found, "name", ""))
    kind: Any = getattr(found, "type", None)
    directions: dict[Any, str] = {ast.ArgumentDirection.In: "input", ast.ArgumentDirection.Out: "output"}
    direction = directions.get(getattr(found, "direction", None), "")
    reason = ""
    if kind is None:
        reason = "an interface"
    elif not direction:
        reason = "in both directions: nothing records which side drives it"
    elif not kind.isIntegral:
        reason = f"of type {kind}"
    elif kind.isEnum and direction == "input" and "::" not in str(kind):
        reason = f"of the enumeration {kind}, which no package declares"
    if reason:
        raise HarnessError(
            f"target {target}: top: expected ports that are inputs or outputs of bits, found {name}, "
            f"which is {reason}; put the top into a module of yours whose ports are vectors, and record that",
            f"top.{name}",
        )
    return TopPort(name, direction, int(kind.bitWidth), str(kind) if kind.isEnum else "")
