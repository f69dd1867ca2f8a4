# SPDX-License-Identifier: Apache-2.0
"""The ports of a design's top, as slang reads them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError


@dataclass(frozen=True)
class Port:
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


def read_ports(target: Target, parameters: Mapping[str, int]) -> tuple[Port, ...]:
    """Return the ports of the target's top, in their order.

    Args:
        target: Its files are read as they are.
        parameters: Of the top.

    Raises:
        HarnessError: The RTL cannot be read, has no such top, or a port is of a kind that no waveform drives:
            an interface, an array that is not packed, or in both directions.
    """
    from pyslang import driver

    tool = driver.Driver()
    tool.addStandardArgs()
    words = ["slang", "--top", target.top, *(f"-I{folder}" for folder in target.include_dirs)]
    words += [f"-D{name}={value}" if value else f"-D{name}" for name, value in target.defines.items()]
    words += [f"-G{name}={value}" for name, value in parameters.items()]
    words += [str(source) for source in target.sources]
    read = tool.parseCommandLine(shlex.join(words)) and tool.processOptions() and tool.parseAllSources()
    tops = [*tool.createCompilation().getRoot().topInstances] if read else []
    top = next((own for own in tops if own.name == target.top), None)
    if top is None:
        raise HarnessError(
            f"target {target.name}: top: expected a module {target.top} in the sources, found none that "
            "slang can read; correct the name, or the sources",
            "top",
        )
    return tuple(_port(target, own) for own in top.body.portList)


def _port(target: Target, found: object) -> Port:
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
            f"target {target.name}: top: expected ports that are inputs or outputs of bits, found {name}, "
            f"which is {reason}; put the top into a module of yours whose ports are vectors, and record that",
            f"top.{name}",
        )
    return Port(name, direction, int(kind.bitWidth), str(kind) if kind.isEnum else "")
