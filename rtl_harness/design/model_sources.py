# SPDX-License-Identifier: Apache-2.0
"""Verilog models of cells with what synthesis does not read put into words that it does read.

Instances of primitives become instances of modules, supply nets become wires. Lines stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.primitive_tables import PrimitiveError, module_of, table_of

# Nets that synthesis does not read, with what drives them.
_NETS = {"supply0": "'0", "supply1": "'1", "tri0": None, "tri1": None, "trireg": None}


class ModelSources:
    """Models of cells in which instances of primitives are instances of modules, and supply nets wires."""

    def __init__(self, manager: Any) -> None:  # noqa: ANN401
        """Begin with `manager` of slang, which knows the files."""
        self._manager = manager
        self._done: dict[str, str] = {}
        self._changes: dict[Path, dict[tuple[int, int], bytes]] = {}

    @property
    def modules(self) -> tuple[str, ...]:
        """What tables became, a line each."""
        return tuple(self._done.values())

    def replaced(self, file: Path) -> bytes:
        """Return the content of a file, of as many lines as it has."""
        text = file.read_bytes()
        for (start, end), new in sorted(self._changes.get(file, {}).items(), reverse=True):
            lines = text[start:end].count(b"\n") - new.count(b"\n")
            text = b"".join((text[:start], new, b"\n" * lines, text[end:]))
        return text

    def replace_below(self, top: Any) -> None:  # noqa: ANN401
        """Replace all instances of primitives, and supply nets, in a module and below it.

        Raises:
            PrimitiveError: One cannot be replaced; says where it is and why.
        """
        from pyslang import ast

        found: list[tuple[Any, str, Callable[[Any], None]]] = []

        def look(node: Any) -> Any:  # noqa: ANN401
            kind = type(node).__name__
            if kind == "PrimitiveInstanceSymbol" and _is_users(node.primitiveType):
                what = f"an instance of {node.primitiveType.name} (primitive ... endprimitive)"
                found.append((node, what, self._replace))
            if kind == "NetSymbol" and (net := str(node.netType.name)) in _NETS:
                found.append((node, f"{net} {node.name}", self._drive))
            return ast.VisitAction.Advance

        top.visit(look)
        for node, what, replace in found:
            try:
                replace(node)
            except PrimitiveError as error:
                file = self._manager.getFullPath(node.location.buffer)
                line = self._manager.getLineNumber(node.location)
                raise PrimitiveError(f"{file}:{line}: {what}: {error}") from None

    def _drive(self, net: Any) -> None:  # noqa: ANN401
        """Make a wire with a constant of a supply net."""
        kind = str(net.netType.name)
        if _NETS[kind] is None:
            raise PrimitiveError("a net that keeps or pulls what nothing drives")
        statement = net.syntax.parent
        if not hasattr(statement, "netType"):
            raise PrimitiveError("a port")
        first, last = statement.netType, statement.declarators[-1].getLastToken()
        file = self._place(first.location)
        self._place(last.location)
        text = file.read_bytes()
        start, end = first.location.offset, last.location.offset + len(last.rawText)
        named = text[start + len(kind) : end].decode(errors="replace")
        if not text[start:end].startswith(kind.encode()):
            raise PrimitiveError("its place in the file is not found")
        new = "wire " + named.replace(",", f" = {_NETS[kind]},") + f" = {_NETS[kind]}"
        self._changes.setdefault(file, {})[start, end] = new.encode()

    def _replace(self, instance: Any) -> None:  # noqa: ANN401
        name = str(instance.primitiveType.name)
        module = f"\\resil_table${name} "
        if name not in self._done:
            self._done[name] = module_of(table_of(instance.primitiveType), module)
        statement = instance.syntax.parent
        last = statement.getLastToken()
        first = statement.type if hasattr(statement, "type") else statement.getFirstToken()
        file = self._place(first.location)
        self._place(last.location)
        text = file.read_bytes()
        start, end = first.location.offset, last.location.offset + 1
        if not text[start:].removeprefix(b"\\").startswith(name.encode()):
            raise PrimitiveError("its place in the file is not found")
        new = []
        for node in statement.instances:
            if not hasattr(node, "openParen"):
                continue
            if node.decl is not None and len(node.decl.dimensions):
                raise PrimitiveError("an array of instances")
            self._place(node.openParen.location)
            self._place(node.closeParen.location)
            pins = text[node.openParen.location.offset : node.closeParen.location.offset + 1]
            inner = f"\\resil_instance${node.openParen.location.offset} "
            new.append(module.encode() + inner.encode() + pins + b";")
        self._changes.setdefault(file, {})[start, end] = b" ".join(new)

    def _place(self, location: Any) -> Path:  # noqa: ANN401
        if self._manager.isMacroLoc(location):
            raise PrimitiveError("it is written by a macro")
        return Path(self._manager.getFullPath(location.buffer))


def _is_users(primitive: Any) -> bool:  # noqa: ANN401
    return str(primitive.primitiveKind).endswith("UserDefined")
