# SPDX-License-Identifier: Apache-2.0
"""The ports of a design's top, as slang reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from resil.rtl_harness.design.parameter_values import TopParameter, parameters_of
from resil.rtl_harness.design.slang import SlangSources, read_design
from resil.rtl_harness.design.target import Parameters, Target
from resil.rtl_harness.errors import HarnessError

# Stands behind the name of a port in both directions, for the bits of it that the design drives.
DRIVES = ":driven"


@dataclass(frozen=True)
class TopPort:
    """One port of a top.

    Attributes:
        name: As declared.
        direction: "input", "output" or "inout".
        width: In bits.
        enum: The type, if it is an enumeration of a package, which takes no vector without a cast; else "".
    """

    name: str
    direction: str
    width: int
    enum: str = ""

    @property
    def symbol(self) -> str:
        """Its name as part of other names."""
        return self.name.replace(DRIVES, "_resil_on")

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
            an interface, or an array that is not packed.
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
    directions: dict[Any, str] = {
        ast.ArgumentDirection.In: "input",
        ast.ArgumentDirection.Out: "output",
        ast.ArgumentDirection.InOut: "inout",
    }
    direction = directions.get(getattr(found, "direction", None), "")
    reason = ""
    if kind is None:
        reason = "an interface"
    elif not direction:
        reason = "a reference, which no hardware has"
    elif not kind.isIntegral:
        reason = f"of type {kind}"
    elif kind.isEnum and direction != "output" and "::" not in str(kind):
        reason = f"of the enumeration {kind}, which no package declares"
    if reason:
        raise HarnessError(
            f"target {target}: top: expected ports of bits, found {name}, "
            f"which is {reason}; put the top into a module of yours whose ports are vectors, and record that",
            f"top.{name}",
        )
    return TopPort(name, direction, int(kind.bitWidth), str(kind) if kind.isEnum else "")
