# SPDX-License-Identifier: Apache-2.0
"""What the front ends do not share: functions in C (DPI), and primitives of a user's own (UDP).

A simulator would call the C code, and synthesis leaves the call out without a word. In the copies that both
read, an imported function is one of SystemVerilog that does nothing, and nothing of the design may take what
it gives: only what is no hardware does, as `final`, assertions, and initial blocks that print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.slang import SlangDesign
from resil.rtl_harness.design.source_tree import SourceTree, TextChange
from resil.rtl_harness.errors import HarnessError

# Of functions and tasks that were imported.
_MARK = "resil_imported_from_c"
# What a copy holds in which there may be such code.
FOREIGN = re.compile(_MARK.encode() + rb"|^\s*primitive\b", re.MULTILINE)
_PRINTS = (
    *("$display", "$displayb", "$displayh", "$displayo", "$write", "$strobe", "$monitor", "$fdisplay"),
    *("$fwrite", "$info", "$warning", "$error", "$fflush", "$fclose", "$sformatf", "$time", "$realtime"),
    *("$timeformat", "$unsigned", "$signed", "$bits"),
)
_ASSERTIONS = (
    "ConcurrentAssertionStatement",
    "ImmediateAssertionStatement",
    "PropertySymbol",
    "SequenceSymbol",
)
_INITIAL, _FINAL = "Initial", "Final"
# In an initial block: what runs for long, or at another time, if nothing comes from C.
_NOT_SILENT = (
    *("ForLoopStatement", "ForeachLoopStatement", "ForeverLoopStatement", "RepeatLoopStatement"),
    *("WhileLoopStatement", "DoWhileLoopStatement", "TimedStatement", "WaitStatement", "WaitOrderStatement"),
    *(
        "WaitForkStatement",
        "EventTriggerStatement",
        "ProceduralAssignStatement",
        "ImmediateAssertionStatement",
    ),
)


def without_c(tree: SourceTree, node: Any) -> Iterator[TextChange]:  # noqa: ANN401
    """Make a function or task that is imported from C one that does nothing, and take an export to C away."""
    span = tree.span(node)
    if span is None:
        return
    first, end = span
    if node.kind.name == "DPIExport":
        yield TextChange(first, end, _blank(tree.text[first:end]))
        return
    word, method = node.method.keyword, tree.span(node.method)
    begins, keyword = tree.place(node.keyword), tree.place(word)
    if method is None or begins is None or keyword is None:
        return
    kind = str(word.valueText)
    yield TextChange(begins, keyword, f"(* {_MARK} *) ".encode() + _blank(tree.text[begins:keyword]))
    yield TextChange(keyword + len(kind), keyword + len(kind), b" automatic")
    yield TextChange(end, end, f" end{kind}".encode())


def _blank(text: str) -> bytes:
    return b"\n" * text.count("\n")


def require_no_foreign_code(design: SlangDesign, origins: Mapping[Path, Path]) -> None:
    """Require that no hardware of a design is in C, or in a primitive of a user's own.

    Args:
        design: As slang reads the copies.
        origins: Of what each is a copy.

    Raises:
        HarnessError: Something is, with its file and line, and what to do.
    """
    _ForeignCode(design, {str(copy): str(file) for copy, file in origins.items()}).scope(design.top)


class _ForeignCode:
    """Walks through a design: instances, processes, and the functions that they call."""

    def __init__(self, design: SlangDesign, origins: Mapping[str, str]) -> None:
        self.origins = origins
        self.compilation = design.keeps[1]
        self.manager = design.keeps[0].sourceManager
        self.seen: set[tuple[str, int]] = set()

    def scope(self, node: Any) -> None:  # noqa: ANN401
        node.visit(self._look)

    def _look(self, node: Any) -> Any:  # noqa: ANN401
        from pyslang import ast

        kind = type(node).__name__
        skipped = kind in (*_ASSERTIONS, "SubroutineSymbol")
        skipped |= kind == "GenerateBlockSymbol" and bool(node.isUninstantiated)
        if kind == "PrimitiveInstanceSymbol":
            self._primitive(node)
        elif kind == "ProceduralBlockSymbol":
            process = str(node.procedureKind).rpartition(".")[2]
            skipped = process == _FINAL or (process == _INITIAL and _is_silent(node, self._is_imported))
        elif kind == "ExpressionStatement" and (call := _called(node.expr)) is not None:
            # What it gives is not taken.
            skipped = self._is_imported(call.subroutine) and not _hands_out(call.subroutine)
            for argument in call.arguments if skipped else ():
                argument.visit(self._look)
        elif kind == "CallExpression" and not node.isSystemCall:
            self._call(node)
        return ast.VisitAction.Skip if skipped else ast.VisitAction.Advance

    def _call(self, node: Any) -> None:  # noqa: ANN401
        called = node.subroutine
        if self._is_imported(called):
            raise HarnessError(
                f"{self._place(node.sourceRange.start)}: expected a design in Verilog, found that it takes "
                f"what {called.name} gives, a {_kind(called)} in C ({self._place(called.location)}, "
                'import "DPI-C"): synthesis has no hardware for it. Write it in Verilog; or, if it is no '
                "hardware, leave the code out by the macro that it asks for, as "
                'defines = { SYNTHESIS = "1" }',
                "sources.dpi",
            )
        place = str(called.location.buffer), int(called.location.offset)
        if place not in self.seen:
            self.seen.add(place)
            called.body.visit(self._look)

    def _primitive(self, node: Any) -> None:  # noqa: ANN401
        own = node.primitiveType
        if not str(own.primitiveKind).endswith("UserDefined"):
            return
        raise HarnessError(
            f"{self._place(node.location)}: expected instances of modules and gates, found one of "
            f"{own.name} ({self._place(own.location)}, primitive ... endprimitive), which synthesis does "
            "not read. Write it as a module with the same ports: an assign or an always block in place "
            "of the table. For cells of a library name its Liberty file (cells), and leave out their models",
            "sources.primitive",
        )

    def _is_imported(self, called: Any) -> bool:  # noqa: ANN401
        return any(own.name == _MARK for own in self.compilation.getAttributes(called))

    def _place(self, location: Any) -> str:  # noqa: ANN401
        file = str(self.manager.getFullPath(location.buffer))
        return f"{self.origins.get(file, file)}:{self.manager.getLineNumber(location)}"


def _kind(called: Any) -> str:  # noqa: ANN401
    return str(called.subroutineKind).rpartition(".")[2].lower()


def _called(expression: Any) -> Any:  # noqa: ANN401
    """Return the call of a user's function that a statement is, by itself or cast to void; else None."""
    while type(expression).__name__ == "ConversionExpression":
        expression = expression.operand
    own = type(expression).__name__ == "CallExpression" and not expression.isSystemCall
    return expression if own else None


def _hands_out(called: Any) -> bool:  # noqa: ANN401
    """Whether a function changes what it is called with."""
    return any(not str(own.direction).endswith(".In") for own in called.arguments)


def _is_silent(block: Any, is_imported: Any) -> bool:  # noqa: ANN401
    """Whether an initial block may call C and decides nothing but what is printed."""
    from pyslang import ast

    silent = True

    def look(node: Any) -> Any:  # noqa: ANN401
        nonlocal silent
        kind = type(node).__name__
        if kind in _NOT_SILENT:
            silent = False
        elif kind == "AssignmentExpression":
            silent &= _is_local(node.left)
        elif kind == "CallExpression":
            if node.isSystemCall:
                silent &= str(node.subroutineName) in _PRINTS
            else:
                silent &= is_imported(node.subroutine)
        return ast.VisitAction.Advance

    block.visit(look)
    return silent


def _is_local(left: Any) -> bool:  # noqa: ANN401
    """Whether what is assigned is a variable that is declared within the process."""
    return type(left).__name__ == "NamedValueExpression" and bool(left.symbol.parentScope.isProceduralContext)
