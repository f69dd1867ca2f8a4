# SPDX-License-Identifier: Apache-2.0
"""Where the RTL can be mutated, and how: operators, constants and conditions that hold at run time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyslang.syntax import SyntaxKind, SyntaxNode, SyntaxTree

K = SyntaxKind

_SWAPS = {
    K.AddExpression: ("-",),
    K.SubtractExpression: ("+",),
    K.EqualityExpression: ("!=",),
    K.InequalityExpression: ("==",),
    K.LessThanExpression: ("<=", ">="),
    K.LessThanEqualExpression: ("<", ">"),
    K.GreaterThanExpression: (">=", "<="),
    K.GreaterThanEqualExpression: (">", "<"),
    K.LogicalAndExpression: ("||",),
    K.LogicalOrExpression: ("&&",),
    K.BinaryAndExpression: ("|",),
    K.BinaryOrExpression: ("&",),
    K.BinaryXorExpression: ("|",),
    K.LogicalShiftLeftExpression: (">>",),
    K.LogicalShiftRightExpression: ("<<",),
    K.ArithmeticShiftRightExpression: (">>",),
}
_INVERSIONS = {K.UnaryLogicalNotExpression, K.UnaryBitwiseNotExpression}
_LITERALS = {K.IntegerLiteralExpression, K.IntegerVectorExpression, K.UnbasedUnsizedLiteralExpression}
# What is not evaluated at run time, or is no value.
_SKIPPED = {
    K.ParameterDeclarationStatement,
    K.ParameterPortList,
    K.AnsiPortList,
    K.DataDeclaration,
    K.LocalVariableDeclaration,
    K.TypedefDeclaration,
    K.GenvarDeclaration,
    K.ParameterValueAssignment,
    K.FunctionPrototype,
    K.PackageImportDeclaration,
    K.InitialBlock,
    K.SimpleRangeSelect,
    K.StreamingConcatenationExpression,
}
# Functions that give constants their values are evaluated before run time.
_CONSTANT = re.compile(rb"\b(?:localparam|parameter)\b[^;]*;")
_CALLED = re.compile(r"\b(\w+)\s*\(")
_VECTOR = re.compile(r"(\d*\s*'s?([bdh]))([0-9a-fA-F_]+)$")
_BASES = {"b": 2, "d": 10, "h": 16}


@dataclass(frozen=True)
class Mutation:
    """A change of one expression.

    Attributes:
        file: Source file.
        start: Offset of the expression's first character.
        end: Offset behind its last one.
        line: Line that it begins in.
        kind: "operator", "constant", "condition", "choice" or "reset".
        text: What stands there in the mutant.
        original: What stands there in the source.
        context: The whole line that it begins in.
    """

    file: Path
    start: int
    end: int
    line: int
    kind: str
    text: str
    original: str
    context: str

    @property
    def change(self) -> str:
        """What becomes what, in one line."""
        return " ".join(f"{self.original} -> {self.text}".split())


def mutations(file: Path, design: Iterable[Path] = ()) -> list[Mutation]:
    """Return all mutations of a source file, in the order of the text.

    Args:
        file: To be mutated.
        design: All source files: what gives their constants their values is not evaluated at run time.
    """
    finder = _Finder(file, {file, *design})
    finder.members(SyntaxTree.fromFile(str(file)).root)
    return sorted(finder.found, key=lambda m: (m.start, -m.end, m.text))


class _Finder:
    def __init__(self, file: Path, design: Iterable[Path]) -> None:
        self.file = file
        self.source = file.read_bytes()
        self.found: list[Mutation] = []
        constants = [part for other in design for part in _CONSTANT.findall(other.read_bytes())]
        self.of_constants = set(_CALLED.findall(b"\n".join(constants).decode()))

    def text(self, node: SyntaxNode) -> str:
        return self.source[node.sourceRange.start.offset : node.sourceRange.end.offset].decode()

    def add(self, node: SyntaxNode, kind: str, text: str) -> None:
        start, end = node.sourceRange.start.offset, node.sourceRange.end.offset
        line = self.source.count(b"\n", 0, start) + 1
        context = self.source.splitlines()[line - 1].decode().strip()
        self.found.append(Mutation(self.file, start, end, line, kind, text, self.text(node), context))

    def members(self, node: SyntaxNode) -> None:
        """Look for what is evaluated at run time among declarations and generate constructs."""
        for child in _nodes(node):
            if child.kind in _SKIPPED:
                continue
            if child.kind == K.ContinuousAssign:
                for assignment in _nodes(child):
                    if assignment.kind == K.AssignmentExpression:
                        self.expression(assignment.right)
                    else:
                        self.members(assignment)
            elif child.kind in (K.AlwaysCombBlock, K.AlwaysFFBlock):
                self.statement(child.statement)
            elif child.kind == K.FunctionDeclaration:
                if self.text(child.prototype.name).strip() not in self.of_constants:
                    for item in _nodes(child.items):
                        self.statement(item)
            elif child.kind == K.LoopGenerate:
                self.members(child.block)
            elif child.kind == K.NamedPortConnection:
                if isinstance(child.expr, SyntaxNode):
                    self.expression(child.expr)
            elif child.kind == K.IfGenerate:
                for part in (child.block, child.elseClause):
                    if part is not None:
                        self.members(part)
            else:
                self.members(child)

    def statement(self, node: SyntaxNode, reset: bool = False) -> None:
        """Look for expressions in a statement; `reset`: it gives values after a reset."""
        if node.kind in _SKIPPED:
            return
        if node.kind == K.ConditionalStatement:
            condition = node.predicate.conditions[0].expr
            of_reset = self.text(condition).strip() in ("!rst_ni", "!rst_n")
            if not of_reset:
                self.add(condition, "condition", "1'b1")
                self.add(condition, "condition", "1'b0")
                self.expression(condition)
            self.statement(node.statement, reset=of_reset)
            if node.elseClause is not None:
                self.statement(node.elseClause.clause)
        elif node.kind == K.ForLoopStatement:
            self.statement(node.statement, reset)
        elif node.kind == K.CaseStatement:
            self.expression(node.expr)
            for item in node.items:
                if isinstance(item, SyntaxNode):
                    self.statement(item.clause, reset)
        elif node.kind == K.ExpressionStatement:
            assigned = node.expr
            if assigned.kind in (K.AssignmentExpression, K.NonblockingAssignmentExpression):
                self.expression(assigned.right, "reset" if reset else "constant")
        elif node.kind == K.ReturnStatement:
            if node.returnValue is not None:
                self.expression(node.returnValue)
        elif node.kind == K.TimingControlStatement:
            self.statement(node.statement)
        else:
            for child in _nodes(node):
                self.statement(child, reset)

    def expression(self, node: SyntaxNode, constants: str = "constant") -> None:
        """Look for mutations of an expression and its parts; `constants` is the kind of a constant's."""
        kind = node.kind
        if kind in _SKIPPED:
            return
        if kind in _SWAPS:
            left, right = self.text(node.left), self.text(node.right)
            for operator in _SWAPS[kind]:
                self.add(node, "operator", f"({left}) {operator} ({right})")
        elif kind in _INVERSIONS:
            self.add(node, "operator", self.text(node.operand))
        elif kind in _LITERALS:
            for text in _other_constants(self.text(node)):
                self.add(node, constants, text)
            return
        elif kind == K.ConditionalExpression:
            left, right = self.text(node.left), self.text(node.right)
            self.add(node, "choice", left)
            self.add(node, "choice", right)
        for child in self._parts(node):
            self.expression(child, constants)

    def _parts(self, node: SyntaxNode) -> Iterator[SyntaxNode]:
        """Yield the parts of an expression that are expressions evaluated at run time."""
        kind = node.kind
        if kind == K.CastExpression:
            yield node.right
        elif kind == K.MultipleConcatenationExpression:
            yield node.concatenation
        elif kind == K.AssignmentPatternItem:
            yield node.expr
        elif kind == K.BitSelect:
            if node.expr.kind not in _LITERALS:
                yield node.expr
        elif kind == K.AscendingRangeSelect:
            if node.left.kind not in _LITERALS:
                yield node.left
        elif kind == K.InvocationExpression:
            if self.text(node.left) in ("$signed", "$unsigned") or not self.text(node.left).startswith("$"):
                yield from _nodes(node.arguments)
        else:
            yield from _nodes(node)


def _nodes(node: Any) -> Iterator[SyntaxNode]:
    for child in node or ():
        if isinstance(child, SyntaxNode):
            yield child


def _other_constants(text: str) -> list[str]:
    """Return what may stand in place of a constant: one more and one less, or all bits the other way."""
    if text in ("'0", "'1"):
        return ["'1" if text == "'0" else "'0"]
    if text.isdecimal():
        return [str(int(text) + 1)] + ([str(int(text) - 1)] if int(text) else [])
    found = _VECTOR.match(text)
    if not found:
        return []
    base = _BASES[found[2]]
    width = found[1].partition("'")[0].strip()
    value, most = int(found[3].replace("_", ""), base), (1 << int(width)) - 1 if width else 1 << 30
    signed = "'s" in found[1]
    others = (other for other in (value + 1, value - 1) if 0 <= other <= most)
    return [f"{width}'sh{other:x}" if signed else f"{width}'d{other}" for other in others]
