# SPDX-License-Identifier: Apache-2.0
"""RTL as synthesis reads it, where a simulator would take it for something else.

All front ends read copies of a target's files. In these copies, by one rule for all engines:

- A case statement marked `full_case`, by an attribute or a comment, that has no default gets one, in which
  all that it assigns is 0. To synthesis the values that it leaves out cannot come, so that there is no latch;
  a simulator would keep the old value, of a latch that no hardware has. An upset makes such values come.
- Of conditions that exclude each other by a promise alone (`parallel_case`, `unique if`, `unique case
  (1'b1)`) the first counts that holds, in the order of the text. An upset makes several hold; what hardware
  does then is open, and each synthesis does something else.
- The initial value of a variable that reads other signals (`logic x = a & b;`) is taken away. It would be
  evaluated once at the beginning of a simulation, and has no hardware.
- A function that several processes call has variables of its own in each call. To the language they are those
  of one function, and the netlist would have one net that all of these processes drive. So has each function
  of a package or outside all modules, whoever calls it.
- A register that is assigned in its asynchronous reset alone keeps its value at every clock, and a variable
  that has an initial value alone is that constant (`held_values`): the front end of synthesis would take both
  for undefined.
- A function or task that is imported from C (DPI) does nothing, and what is exported to C is not: see
  `foreign_code`, which refuses a design that takes what C gives.
- A comment that a macro pastes together for other tools (`/``* synopsys sync_set_reset ... *``/`) is taken
  away, as simulators take it for a mistake.

Lines keep their numbers. Text that comes from macros stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from resil.rtl_harness.design.foreign_code import without_c
from resil.rtl_harness.design.held_values import constants, values_held
from resil.rtl_harness.design.source_tree import (
    ASSIGNMENTS,
    MODULES,
    SourceTree,
    TextChange,
    declared,
    names,
    nodes,
)

# What a file must hold to be worth reading for this.
_CASES = re.compile(rb"full_case|parallel_case|\bunique0?\s+(?:if|case)\b")
_INITIAL = re.compile(rb"\b(?:logic|reg|bit)\b[^;=()]{0,200}=(?!=)")
_EDGES = re.compile(rb"\b(?:pos|neg)edge\b[^)]*(?:,|\bor\b)\s*(?:pos|neg)edge\b|\binitial\b")
_C = re.compile(rb'\b(?:im|ex)port\s*"DPI')
_FUNCTION = re.compile(rb"\bfunction\b(?!\s+(?:automatic|static)\b)")
_PASTED = re.compile(rb"/``\*(?![^*]*(?:translate_o|full_case|parallel_case))[^*\n]*\*``/")
_AUTOMATIC = b" automatic"
_PROCESS = re.compile(
    r"(?:Always\w*|Initial|Final)Block|ContinuousAssign|FunctionDeclaration|TaskDeclaration"
)
_REPEATED = ("LoopGenerate", "FunctionDeclaration", "TaskDeclaration")
_PARALLEL, _PRIORITY = b"parallel_case", b"priority_case"
_COMMENT = re.compile(r"//[^\n]*full_case|/\*(?:(?!\*/).)*full_case", re.DOTALL)


@lru_cache(maxsize=4096)
def as_synthesised(content: bytes, defines: tuple[tuple[str, str], ...] = ()) -> bytes:
    """Return the text of a file of RTL as the front ends shall read it.

    Args:
        content: The file's.
        defines: Macros of the target, with their values.

    >>> as_synthesised(b"module m(input a); logic x = a; endmodule")
    b'module m(input a); logic x    ; endmodule'
    """
    content = _PASTED.sub(lambda found: b" " * len(found[0]), content)
    if not any(own.search(content) for own in (_CASES, _INITIAL, _EDGES, _FUNCTION, _C)):
        return content
    changes = [*_Rewriter(SourceTree(content, defines)).changes()]
    for change in sorted(set(changes), reverse=True):
        content = content[: change.first] + change.text + content[change.end :]
    return content


class _Rewriter:
    """Finds changes in the tree of one file."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree

    def changes(self) -> Iterator[TextChange]:
        """Yield all changes."""
        for node in nodes(self.tree.root):
            kind = node.kind.name
            if kind == "CaseStatement":
                open_choice = str(node.expr).replace(" ", "").endswith("1'b1")
                yield from self._case(node)
                yield from self._promise(node, only_if=open_choice)
            elif kind == "ConditionalStatement":
                yield from self._promise(node, only_if=True)
            elif kind == "AttributeSpec" and node.name.valueText == "parallel_case":
                place = self.tree.place(node.name)
                if place is not None:
                    yield TextChange(place, place + len(_PARALLEL), _PRIORITY)
            elif kind in MODULES:
                yield from self._initial(node)
                yield from self._functions(node)
                yield from values_held(self.tree, node)
                if kind == "ModuleDeclaration":
                    yield from constants(self.tree, node)
            elif kind in ("DPIImport", "DPIExport"):
                yield from without_c(self.tree, node)
            elif kind == "FunctionDeclaration" and not _inside(node):
                yield from self._automatic(node)

    def _promise(self, node: Any, *, only_if: bool) -> Iterator[TextChange]:  # noqa: ANN401
        """Take `unique` away, where it says that conditions exclude each other which the text leaves open."""
        token = node.uniqueOrPriority
        word = "" if token is None else str(token.valueText)
        place = None if not only_if or not word.startswith("unique") else self.tree.place(token)
        if place is not None:
            yield TextChange(place, place + len(word), b" " * len(word))

    def _case(self, node: Any) -> Iterator[TextChange]:  # noqa: ANN401
        span = self.tree.span(node)
        if span is None or not self._is_full(node, span[0]):
            return
        if any(item.kind.name == "DefaultCaseItem" for item in node.items):
            return
        inside = {name for own in nodes(*node.items) for name in declared(own)}
        targets: dict[str, str] = {}
        for own in nodes(*node.items):
            if own.kind.name in ASSIGNMENTS:
                named = [*names(own.left)]
                place = self.tree.span(own.left)
                left = named[0] if set(named) & inside or place is None else self.tree.text[slice(*place)]
                if left not in inside:
                    targets[" ".join(left.split())] = ASSIGNMENTS[own.kind.name]
        if targets:
            said = " ".join(f"{left} {sign} '0;" for left, sign in targets.items())
            closes = self.tree.place(node.endcase)
            if closes is None:
                return
            yield TextChange(closes, closes, f"default: begin {said} end ".encode("latin-1"))

    def _is_full(self, node: Any, first: int) -> bool:  # noqa: ANN401
        word = node.uniqueOrPriority
        if word is not None and word.valueText == "unique" and str(node.expr).strip().endswith("1'b1"):
            return True
        if any("full_case" in str(own) for own in node.attributes):
            return True
        items = [*node.items]
        before = self.tree.span(items[0]) if items else None
        return before is not None and _COMMENT.search(self.tree.text[first : before[0]]) is not None

    def _functions(self, module: Any) -> Iterator[TextChange]:  # noqa: ANN401
        own_nodes = [*nodes(module)]
        callers: dict[str, set[int]] = {}
        for own in own_nodes:
            if own.kind.name == "InvocationExpression":
                for name in [*names(own.left)][:1]:
                    callers.setdefault(name, set()).update(_processes(own))
        for own in own_nodes:
            if own.kind.name == "FunctionDeclaration":
                name = str(own.prototype.name).strip()
                if len(callers.get(name, ())) > 1:
                    yield from self._automatic(own)

    def _automatic(self, function: Any) -> Iterator[TextChange]:  # noqa: ANN401
        place = self.tree.place(function.prototype.keyword)
        if place is not None and not str(function.prototype.lifetime).strip():
            place += len("function")
            yield TextChange(place, place, _AUTOMATIC)

    def _initial(self, module: Any) -> Iterator[TextChange]:  # noqa: ANN401
        signals = {name for own in nodes(module) for name in declared(own)}
        for own in nodes(*module.members):
            if own.kind.name != "DataDeclaration" or own.parent.kind.name not in (
                "ModuleDeclaration",
                "GenerateBlock",
                "SyntaxList",
            ):
                continue
            for declarator in own.declarators:
                value = getattr(declarator, "initializer", None)
                span = None if value is None else self.tree.span(value)
                if span is None or not signals.intersection(names(value)):
                    continue
                old = self.tree.text[slice(*span)]
                yield TextChange(*span, "".join(c if c == "\n" else " " for c in old).encode("latin-1"))


def _inside(node: Any) -> bool:  # noqa: ANN401
    """Whether a function belongs to a module or a class, or to a package that says how long values live."""
    while node.parent is not None:
        node = node.parent
        header = getattr(node, "header", None) if node.kind.name == "PackageDeclaration" else None
        if header is not None and str(header.lifetime).strip():
            return True
        if node.kind.name in (*MODULES, "ClassDeclaration", "ProgramDeclaration"):
            return True
    return False


def _processes(node: Any) -> set[int]:  # noqa: ANN401
    """Return where the process or assignment begins that a node lies in; two places if it may be several."""
    begins, several = 0, False
    while node.parent is not None:
        if _PROCESS.fullmatch(node.kind.name) and not begins:
            begins = int(node.sourceRange.start.offset)
        several |= node.kind.name in _REPEATED
        node = node.parent
    return {begins, -1} if several else {begins}
