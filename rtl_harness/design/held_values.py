# SPDX-License-Identifier: Apache-2.0
"""Registers that only a reset assigns, and variables that only have an initial value, as synthesis has them.

The front end of synthesis takes for undefined what no clocked branch and no continuous assignment drives. To
a simulator and to other synthesis such a register has the value of its reset, and such a variable its
initial one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from resil.rtl_harness.design.source_tree import (
    ASSIGNMENTS,
    SourceTree,
    TextChange,
    declared,
    names,
    nodes,
)

_LITERALS = ("IntegerLiteralExpression", "IntegerVectorExpression")
_PLAIN = ("IdentifierName", "ScopedName")
_TYPES = {"RegType": "reg", "LogicType": "logic"}
_INCREMENTS = ("PostincrementExpression", "PostdecrementExpression")
_CHANGES = (*_INCREMENTS, "UnaryPreincrementExpression", "UnaryPredecrementExpression")
_LENDS = ("InvocationExpression", "NamedPortConnection", "OrderedPortConnection", "WildcardPortConnection")


def values_held(tree: SourceTree, module: Any) -> Iterator[TextChange]:  # noqa: ANN401
    """Let registers keep their values at the clock that only the asynchronous reset of their process assigns.

    `if (!rst_ni) begin a_q <= 0; b_q <= 5; end else a_q <= d;` gets `b_q <= b_q;` behind its `else`, and an
    `else` where it has none. Of a register of which the clocked branch assigns some bits the others are kept.
    What comes from macros stays as it is.
    """
    assigned: Counter[str] | None = None
    for process in nodes(module):
        if process.kind.name not in ("AlwaysBlock", "AlwaysFFBlock"):
            continue
        timed = process.statement
        if timed.kind.name != "TimingControlStatement" or tree.span(process) is None:
            continue
        edges = [own for own in nodes(timed.timingControl) if own.kind.name == "SignalEventExpression"]
        if len(edges) < 2 or not all(str(own.edge).strip() for own in edges):
            continue
        assigned = assigned or _assigned([module])
        yield from _held(tree, timed.statement, len(edges) - 1, assigned)


def _held(
    tree: SourceTree,
    statement: Any,  # noqa: ANN401
    resets: int,
    in_module: Mapping[str, int],
) -> Iterator[TextChange]:
    loaded: list[Any] = []
    clocked, last = statement, None
    while len(loaded) < resets and clocked is not None:
        last = _alone(clocked)
        if last.kind.name != "ConditionalStatement":
            return
        loaded.append(last.statement)
        clocked = None if last.elseClause is None else last.elseClause.clause
    if last is None or len(loaded) < resets:
        return
    here, later = _targets(loaded), {} if clocked is None else _targets([clocked])
    in_process = _assigned([statement])
    held: dict[str, str] = {}
    for name, found in here.items():
        others = in_module[name] > in_process[name]
        for left, sign in found:
            text = _kept(tree, name, left, [own for own, _ in later.get(name, ())], others=others)
            if text:
                held[text] = sign
    said = " ".join(f"{text} {sign} {text};" for text, sign in held.items())
    span = tree.span(loaded[-1] if clocked is None else clocked)
    if not said or span is None:
        return
    if clocked is None:
        yield TextChange(span[0], span[0], b"begin ")
        yield TextChange(span[1], span[1], f" end else begin {said} end".encode("latin-1"))
    elif clocked.kind.name == "SequentialBlockStatement":
        first = next((own for own in clocked.items if not own.kind.name.endswith("Declaration")), None)
        place = tree.place(clocked.end if first is None else first.getFirstToken())
        if place is not None:
            yield TextChange(place, place, f"{said} ".encode("latin-1"))
    else:
        yield TextChange(span[0], span[0], f"begin {said} ".encode("latin-1"))
        yield TextChange(span[1], span[1], b" end")


def _alone(statement: Any) -> Any:  # noqa: ANN401
    """Return the one statement of a block, or of blocks in each other."""
    while statement.kind.name == "SequentialBlockStatement" and len([*statement.items]) == 1:
        statement = statement.items[0]
    return statement


def _targets(statements: list[Any]) -> dict[str, list[tuple[Any, str]]]:
    """Return what is assigned, with the sign of the assignment, by the name of the variable."""
    found: dict[str, list[tuple[Any, str]]] = {}
    inside = {name for own in nodes(*statements) for name in declared(own)}
    for own in nodes(*statements):
        if own.kind.name in ASSIGNMENTS and own.parent.kind.name != "ForLoopStatement":
            for left in _parts(own.left):
                name = next(names(left), "")
                if name and name not in inside:
                    found.setdefault(name, []).append((left, ASSIGNMENTS[own.kind.name]))
    return found


def _parts(left: Any) -> Iterator[Any]:  # noqa: ANN401
    if left.kind.name == "ConcatenationExpression":
        for own in left.expressions:
            if hasattr(own, "kind") and hasattr(own, "sourceRange"):
                yield from _parts(own)
    else:
        yield left


def _kept(
    tree: SourceTree,
    name: str,
    left: Any,  # noqa: ANN401
    later: list[Any],
    *,
    others: bool,
) -> str:
    """Return what has to keep its value of a target of the reset, as text; "" if nothing has."""
    span = tree.span(left)
    if span is None or any(own.kind.name == "IdentifierName" for own in later):
        return ""
    text = tree.text[slice(*span)].strip()
    if not later:
        return text if others or _fixed(left) else name
    # Some of its bits have a clock. Words at an index that is computed are those of a memory: all have.
    return text if left.kind.name == "IdentifierName" and all(map(_fixed, later)) else ""


def _fixed(left: Any) -> bool:  # noqa: ANN401
    """Whether a target is named without a variable index."""
    if left.kind.name in _PLAIN:
        return all(own.kind.name in _PLAIN for own in nodes(left) if own.kind.name.endswith("Name"))
    indices = [own for own in nodes(left) if own.kind.name in ("BitSelect", "SimpleRangeSelect")]
    found = [own for index in indices for own in nodes(index)]
    return bool(indices) and all(own.kind.name in _LITERALS or own in indices for own in found)


def _assigned(statements: Iterable[Any]) -> Counter[str]:
    """Return how often each name is assigned."""
    found: Counter[str] = Counter()
    for own in nodes(*statements):
        if own.kind.name.endswith("AssignmentExpression"):
            found.update(next(names(left), "") for left in _parts(own.left))
        elif own.kind.name in _INCREMENTS:
            found.update([*names(own)][:1])
    return found


def constants(tree: SourceTree, module: Any) -> Iterator[TextChange]:  # noqa: ANN401
    """Let variables be constants that have an initial value alone, from their declaration or from a block.

    `reg [7:0] k = 8'd5;` becomes a net, and `initial k = 8'd5;` an `always_comb`. Nothing else in the file
    may be able to assign them: no process, no call or port of an instance that they are given to.
    """
    declarations = {
        name: own
        for own in nodes(*module.members)
        if own.kind.name == "DataDeclaration"
        for name in _names_of(own)
    }
    signals = {name for own in nodes(module) for name in declared(own)}
    written: Counter[str] | None = None
    for name, own in declarations.items():
        first = next(iter(own.declarators))
        if first.name.value != name or not _begins_whole(own, signals):
            continue
        written = _written(tree) if written is None else written
        place = tree.place(own.type.getFirstToken())
        if place is not None and not any(written[other] for other in _names_of(own)):
            word = _TYPES[own.type.kind.name]
            yield TextChange(place, place + len(word), b"wire" if word == "reg" else b"wire logic")
    for block in nodes(*module.members):
        targets = _set_once(block, declarations, signals)
        if not targets:
            continue
        written = _written(tree) if written is None else written
        place = tree.place(block.keyword)
        if place is not None and all(written[name] == 1 for name in targets):
            yield TextChange(place, place + len("initial"), b"always_comb")


def _names_of(declaration: Any) -> list[str]:  # noqa: ANN401
    return [str(own.name.value) for own in declaration.declarators if hasattr(own, "name")]


def _begins_whole(declaration: Any, signals: set[str]) -> bool:  # noqa: ANN401
    """Whether all that a declaration declares are words of `reg` or `logic` that begin with constants."""
    if declaration.type.kind.name not in _TYPES or [*declaration.modifiers]:
        return False
    own = [one for one in declaration.declarators if hasattr(one, "name")]
    return all(
        one.initializer is not None and not [*one.dimensions] and _is_constant(one.initializer.expr, signals)
        for one in own
    )


def _set_once(block: Any, declarations: Mapping[str, Any], signals: set[str]) -> list[str]:  # noqa: ANN401
    """Return the words that an initial block sets to constants; none if it does anything else."""
    if block.kind.name != "InitialBlock":
        return []
    statement = block.statement
    several = statement.kind.name == "SequentialBlockStatement"
    found = []
    for own in statement.items if several else [statement]:
        set_to = own.expr if own.kind.name == "ExpressionStatement" else own
        if set_to.kind.name != "AssignmentExpression" or set_to.left.kind.name != "IdentifierName":
            return []
        name = str(set_to.left.identifier.value)
        declaration = declarations.get(name)
        if declaration is None or not _is_constant(set_to.right, signals):
            return []
        one = next(own for own in declaration.declarators if hasattr(own, "name") and own.name.value == name)
        if one.initializer is not None or [*one.dimensions]:
            return []
        found.append(name)
    return found


def _is_constant(value: Any, signals: set[str]) -> bool:  # noqa: ANN401
    calls = any(own.kind.name in ("InvocationExpression", "SystemName") for own in nodes(value))
    return not calls and signals.isdisjoint(names(value))


def _written(tree: SourceTree) -> Counter[str]:
    """Return how often each name may be assigned in the file; what is lent counts, with all of its names."""
    found: Counter[str] = Counter()
    for own in nodes(tree.root):
        kind = own.kind.name
        if kind.endswith("AssignmentExpression"):
            found.update(names(own.left))
        elif kind in _CHANGES or kind in _LENDS:
            found.update(names(own))
            if kind == "WildcardPortConnection":
                found.update(name for every in nodes(tree.root) for name in declared(every))
    return found
