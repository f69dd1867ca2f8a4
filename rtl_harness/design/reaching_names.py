# SPDX-License-Identifier: Apache-2.0
"""Names of what lies inside an instance, used outside it: synthesis that keeps boundaries refuses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from resil.rtl_harness.design.parameter_values import ParameterValue
from resil.rtl_harness.design.slang import SlangDesign, SlangSources, read_design
from resil.rtl_harness.design.snapshot import snapshot_of
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError

# The macro behind which designs have what is no hardware.
SYNTHESIS = "SYNTHESIS"
# How many of them a message has, and a remark.
_NAMED, _FEW = 4, 2


class ReachingName(NamedTuple):
    """A name that reaches into an instance of a module, as `u_sub.state_q`, or out of one.

    Attributes:
        file: In which it stands.
        line: There.
        name: As it is written.
    """

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.name}"


def reaching_names(design: SlangDesign) -> tuple[ReachingName, ...]:
    """Return the names of variables and nets of other instances, from the top down, each place once.

    Assertions may have such names: no front end here reads them. So may what lies in an interface, or in a
    generate block of the same instance.
    """
    from pyslang import ast

    manager = design.keeps[0].sourceManager
    assertions = (ast.ConcurrentAssertionStatement, ast.ImmediateAssertionStatement, ast.PropertySymbol)
    found: dict[ReachingName, None] = {}
    waiting = [design.top.body]
    while waiting:
        body = waiting.pop(0)

        def look(node: Any, body: Any = body) -> Any:  # noqa: ANN401
            if isinstance(node, assertions):
                return ast.VisitAction.Skip
            if isinstance(node, ast.InstanceSymbol):
                waiting.append(node.body)
                # What its ports are connected to stands here.
                for connection in node.portConnections:
                    if connection.expression is not None:
                        connection.expression.visit(look)
                return ast.VisitAction.Skip
            if isinstance(node, ast.HierarchicalValueExpression) and _reaches(node.symbol, body):
                start = node.sourceRange.start
                place = str(manager.getFullPath(start.buffer)), manager.getLineNumber(start)
                found[ReachingName(*place, str(node.syntax).strip())] = None
            return ast.VisitAction.Advance

        body.visit(look)
    return tuple(found)


def _reaches(symbol: Any, body: Any) -> bool:  # noqa: ANN401
    from pyslang import ast

    if symbol.kind not in (ast.SymbolKind.Variable, ast.SymbolKind.Net):
        return False
    around = symbol.parentScope.containingInstance
    module = around.definition.definitionKind == ast.DefinitionKind.Module
    return bool(module and around.hierarchicalPath != body.hierarchicalPath)


def read_for_synthesis(
    name: str, top: str, given: SlangSources, parameters: Mapping[str, ParameterValue]
) -> tuple[SlangDesign, SlangSources, tuple[str, ...]]:
    """Read a design; with SYNTHESIS defined, where without it alone names reach into instances.

    Args:
        name: For messages.
        top: Module at the top.
        given: What is read.
        parameters: Of the top.

    Returns:
        The design, what was read, and what a person should know of such names.

    Raises:
        HarnessError: As `read_design`.
    """
    read = read_design(name, top, given, parameters)
    names = reaching_names(read)
    if not names:
        return read, given, ()
    again = _defined(name, top, given, parameters)
    if again is None:
        return read, given, (f"names reach into instances, which synthesis refuses: {_places(names, _FEW)}",)
    return *again, (f"{SYNTHESIS} is defined: without it names reach into instances: {_places(names, _FEW)}",)


def _defined(
    name: str, top: str, given: SlangSources, parameters: Mapping[str, ParameterValue]
) -> tuple[SlangDesign, SlangSources] | None:
    """Return the design with SYNTHESIS defined, and what was read; None if that leaves such names in it."""
    if SYNTHESIS in given.defines:
        return None
    defined = replace(given, defines={**given.defines, SYNTHESIS: "1"})
    try:
        read = read_design(name, top, defined, parameters)
    except HarnessError:
        return None
    return None if reaching_names(read) else (read, defined)


def refused_names(target: Target, parameters: Mapping[str, ParameterValue]) -> str:
    """Return why synthesis refuses a target for names that reach into instances; "" without any.

    Args:
        target: Its files are read as they are.
        parameters: Of the top.
    """
    given = SlangSources(target.sources, target.include_dirs, target.defines)
    try:
        found = reaching_names(read_design(target.name, target.top, given, parameters))
    except HarnessError:
        return ""
    if not found:
        return ""
    origins = {str(copy): str(file) for copy, file in snapshot_of(target).origins.items()}
    names = tuple(own._replace(file=origins.get(own.file, own.file)) for own in found)
    if _defined(target.name, target.top, given, parameters) is not None:
        do = f'none is left with defines = {{ {SYNTHESIS} = "1" }} in the target file'
    else:
        do = (
            "leave out the code that has them, if it is no hardware, by a macro that it asks for (defines), "
            "or lead the signals through ports"
        )
    return (
        f"target {target.name}: expected blocks that read each other through ports alone, found names that "
        f"reach into instances; {do}: {_places(names, _NAMED)}"
    )


def _places(names: tuple[ReachingName, ...], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(map(str, names[:most]))}{more}"
