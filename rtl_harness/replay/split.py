# SPDX-License-Identifier: Apache-2.0
"""Ports in both directions, split: what drives them in the design, and whether it does, become outputs.

A simulator resolves what several drivers put on a net, and a bench cannot see which of them did. In copies of
the sources each port in both directions is an input that has the resolved value, and two outputs say what the
design drives and which bits of it: `PORT_resil_out` and `PORT_resil_on`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from resil.rtl_harness.design.source_tree import SourceTree, TextChange, names, nodes
from resil.rtl_harness.errors import HarnessError

OUT, ON = "_resil_out", "_resil_on"

_LITERAL = re.compile(r"(\d*)\s*'s?([bodh])([0-9a-fxz?_]+)", re.IGNORECASE)
_BITS = {"b": 1, "o": 3, "h": 4, "d": 0}
# Primitives that drive where their control is 1 or 0, and whether they invert.
_SWITCHED = {"bufif1": ("", ""), "bufif0": ("", "!"), "notif1": ("~", ""), "notif0": ("~", "!")}
_PULLS = ("pullup", "pulldown")
_ASSIGNMENTS = ("AssignmentExpression", "NonblockingAssignmentExpression")
_REMEDY = (
    "drive it in the form `assign port = enable ? value : 'z`, by bufif, or through a module that does, or "
    "put the top into a module of yours with separate inputs, outputs and enables, and record that"
)


@dataclass
class _Module:
    """A module that has ports in both directions, or one that instantiates such modules."""

    name: str
    file: Path
    tree: SourceTree
    node: Any
    directions: dict[str, str]
    """Of its ports, in their order; "" of what is none of "input", "output" and "inout"."""

    @property
    def inouts(self) -> tuple[str, ...]:
        return tuple(name for name, direction in self.directions.items() if direction == "inout")


def split_sources(
    top: str, sources: Sequence[Path], defines: Mapping[str, str], ports: Sequence[str]
) -> dict[Path, bytes]:
    """Return the new text of each source that has to change, so that ports in both directions are split.

    Lines stay where they are.

    Args:
        top: Module whose ports are split, and those of modules that it hands them on to.
        sources: All files of the design.
        defines: Macros.
        ports: Ports of the top in both directions.

    Raises:
        HarnessError: What drives such a port cannot be followed.
    """
    modules = _modules(sources, defines)
    return _PortSplitter(top, modules, ports).texts()


def _modules(sources: Sequence[Path], defines: Mapping[str, str]) -> dict[str, _Module]:
    found: dict[str, _Module] = {}
    for file in sources:
        tree = SourceTree(file.read_bytes(), defines.items())
        for node in nodes(tree.root):
            if node.kind.name == "ModuleDeclaration":
                name = str(node.header.name.valueText)
                found[name] = _Module(name, file, tree, node, _directions(node))
    return found


def _directions(module: Any) -> dict[str, str]:  # noqa: ANN401
    found: dict[str, str] = {}
    listed = module.header.ports
    if listed is None:
        return found
    if listed.kind.name == "AnsiPortList":
        direction = "inout"
        for port in (own for own in listed.ports if hasattr(own, "header")):
            token = getattr(port.header, "direction", None)
            said = str(token.valueText) if token is not None else ""
            if said or not hasattr(port.header, "direction"):
                direction = said
            if hasattr(port, "declarator"):
                found[str(port.declarator.name.valueText)] = direction
        return found
    order = [str(own.name.valueText) for own in nodes(listed) if own.kind.name == "PortReference"]
    found = dict.fromkeys(order, "")
    for own in nodes(*module.members):
        if own.kind.name == "PortDeclaration":
            direction = str(own.header.direction.valueText)
            found |= {str(each.name.valueText): direction for each in _declarators(own)}
    return found


def _declarators(node: Any) -> Iterator[Any]:  # noqa: ANN401
    return (own for own in node.declarators if hasattr(own, "name"))


class _PortSplitter:
    """Changes the modules through which the ports of a top reach what drives them."""

    def __init__(self, top: str, modules: Mapping[str, _Module], ports: Sequence[str]) -> None:
        self._modules = modules
        self._changes: dict[Path, set[TextChange]] = {}
        self._done: list[str] = []
        if top not in modules or set(modules[top].inouts) != {*ports}:
            raise HarnessError(
                f"top: expected the ports {', '.join(ports)} of {top} in one of the sources themselves, "
                "found none there: they come from a macro, or from an included file; write them out, or "
                "put the top into a module of yours",
                f"top.{ports[0]}",
            )
        waiting = [top]
        while waiting:
            name = waiting.pop()
            if name not in self._done:
                self._done.append(name)
                waiting += self._module(modules[name])
        self._require_all_split()

    def texts(self) -> dict[Path, bytes]:
        """Return the changed files."""
        found = {}
        for file, changes in self._changes.items():
            content = file.read_bytes()
            for change in sorted(changes, reverse=True):
                content = content[: change.first] + change.text + content[change.end :]
            found[file] = content
        return found

    def _refuse(self, module: _Module, node: Any, what: str) -> NoReturn:  # noqa: ANN401
        shown = node
        while (span := module.tree.span(shown)) is None and shown.parent is not None:
            shown = shown.parent
        line = f":{module.tree.text.count(chr(10), 0, span[0]) + 1}" if span else ""
        raise HarnessError(
            f"{module.file.name}{line}: {module.name}: expected drivers of ports in both directions "
            f"({', '.join(module.inouts)}) of which it can be read when they drive, found {what}; {_REMEDY}",
            f"top.{module.inouts[0] if module.inouts else module.name}",
        )

    def _span(self, module: _Module, node: Any) -> tuple[int, int]:  # noqa: ANN401
        span = module.tree.span(node)
        if span is None:
            self._refuse(module, node, f"text that a macro or an included file gives, {str(node).strip()!r}")
        return span

    def _change(self, module: _Module, first: int, end: int, text: str) -> None:
        self._changes.setdefault(module.file, set()).add(TextChange(first, end, text.encode()))

    def _module(self, module: _Module) -> list[str]:
        """Change a module; return the modules that it hands its ports on to."""
        self._ports(module)
        handed: list[str] = []
        floating = self._floating(module)
        for own in nodes(*module.node.members):
            kind = own.kind.name
            if kind == "ContinuousAssign":
                self._assign(module, own, floating)
            elif kind == "PrimitiveInstantiation":
                self._primitive(module, own, floating)
            elif kind == "HierarchyInstantiation":
                handed += self._instances(module, own)
            elif kind == "NetAlias" and {*names(own)} & {*module.inouts}:
                self._refuse(module, own, "an alias")
        return handed

    def _floating(self, module: _Module) -> dict[str, str]:
        """Return nets of a module, but its ports in both directions, that may be Z, and why."""
        found: dict[str, str] = {}
        copies: list[tuple[set[str], set[str]]] = []
        for own in nodes(*module.node.members):
            kind = own.kind.name
            if kind in _ASSIGNMENTS:
                if _has_z(own.right):
                    found |= dict.fromkeys(_base_names(own.left), "gets Z by an assignment of its own")
                copies.append(({*_base_names(own.left)}, {*_passed(own.right)}))
            elif kind == "Declarator" and own.initializer is not None:
                name = str(own.name.valueText)
                if _has_z(own.initializer):
                    found[name] = "gets Z where it is declared"
                copies.append(({name}, {*_passed(own.initializer.expr)}))
            elif kind == "PrimitiveInstantiation" and str(own.type.valueText) in _SWITCHED:
                for one in _each_instance(own):
                    pins = [each.expr for each in one.connections if hasattr(each, "expr")]
                    found |= dict.fromkeys(_base_names(pins[0]), "a primitive may leave open")
            elif kind == "HierarchyInstantiation":
                name = str(own.type.valueText)
                sub = self._modules.get(name)
                if sub is None or not self._leaves_open(name, frozenset()):
                    continue
                for one in _each_instance(own):
                    for pin, _, expression in _connections(one, sub):
                        if sub.directions.get(pin) != "input":
                            found |= dict.fromkeys(_base_names(expression), f"{name} may leave open")
        while more := {
            name: f"is a copy of {min(held & found.keys())}, which {found[min(held & found.keys())]}"
            for taken, held in copies
            if held & found.keys()
            for name in taken - found.keys() - {*module.inouts}
        }:
            found |= more
        return {name: why for name, why in found.items() if name not in module.inouts}

    def _leaves_open(self, name: str, around: frozenset[str]) -> bool:
        """Whether Z stands anywhere in a module, or below it."""
        module = self._modules.get(name)
        if module is None or name in around:
            return False
        for own in nodes(*module.node.members):
            kind = own.kind.name
            if kind in _ASSIGNMENTS and _has_z(own.right):
                return True
            if kind == "PrimitiveInstantiation" and str(own.type.valueText) in _SWITCHED:
                return True
            if kind == "HierarchyInstantiation" and self._leaves_open(
                str(own.type.valueText), around | {name}
            ):
                return True
        return False

    def _ports(self, module: _Module) -> None:
        text, listed = module.tree.text, module.node.header.ports
        close = module.tree.place(listed.closeParen)
        if close is None:
            self._refuse(module, listed, "a list of ports that a macro gives")
        ansi = listed.kind.name == "AnsiPortList"
        added, kind_text = [], ""
        if ansi:
            for port in (own for own in listed.ports if hasattr(own, "declarator")):
                name = str(port.declarator.name.valueText)
                token = getattr(port.header, "direction", None)
                if token is not None and token.valueText:
                    kind_text = self._type_text(module, port.header)
                if module.directions[name] != "inout":
                    continue
                self._split_token(module, port, token)
                if len(port.declarator.dimensions):
                    self._refuse(module, port, f"{name}, an array that is not packed")
                added += [f"output wire {kind_text}{name}{suffix}" for suffix in (OUT, ON)]
            self._change(module, close, close, "".join(f", {own}" for own in added))
            return
        for own in nodes(*module.node.members):
            if own.kind.name == "PortDeclaration" and str(own.header.direction.valueText) == "inout":
                self._split_token(module, own, own.header.direction)
                kind_text = self._type_text(module, own.header)
                each = [str(one.name.valueText) for one in _declarators(own)]
                outputs = ", ".join(f"{name}{suffix}" for name in each for suffix in (OUT, ON))
                end = self._span(module, own)[1]
                self._change(module, end, end, f" output wire {kind_text}{outputs};")
        order = "".join(f", {name}{suffix}" for name in module.inouts for suffix in (OUT, ON))
        assert text[close] == ")"
        self._change(module, close, close, order)

    def _split_token(self, module: _Module, node: Any, token: Any) -> None:  # noqa: ANN401
        if token is None or not token.valueText:
            return
        place = module.tree.place(token)
        if place is None:
            self._refuse(module, node, "a direction that a macro gives")
        self._change(module, place, place + len("inout"), "input")

    def _type_text(self, module: _Module, header: Any) -> str:  # noqa: ANN401
        first, end = self._span(module, header.dataType)
        text = module.tree.text[first:end].strip()
        return f"{text} " if text else ""

    def _assign(self, module: _Module, own: Any, floating: Mapping[str, str]) -> None:  # noqa: ANN401
        for one in (each for each in own.assignments if hasattr(each, "left")):
            targets = self._targets(module, one.left)
            if not targets & {*module.inouts}:
                continue
            if not targets <= {*module.inouts}:
                self._refuse(module, one, "one assignment to such a port and to another net")
            if own.strength is not None:
                self._refuse(module, own, "a strength of a driver")
            value, on = self._sides(module, one.right, floating)
            first, end = self._span(module, one)
            texts = [
                f"{self._renamed(module, one.left, suffix)} = {side}"
                for suffix, side in ((OUT, value), (ON, on))
            ]
            self._change(module, first, end, _on_lines(module.tree.text[first:end], ", ".join(texts)))

    def _targets(self, module: _Module, node: Any) -> set[str]:  # noqa: ANN401
        kind = node.kind.name
        if kind in ("IdentifierName", "IdentifierSelectName"):
            return {str(node.identifier.valueText)}
        if kind == "ConcatenationExpression":
            return set().union(*(self._targets(module, own) for own in _parts(node)))
        if {*names(node)} & {*module.inouts}:
            self._refuse(module, node, f"an assignment to {str(node).strip()}")
        return {""}

    def _renamed(self, module: _Module, node: Any, suffix: str) -> str:  # noqa: ANN401
        """Return the text of an expression with other names of the ports, but not in its indices."""
        first, end = self._span(module, node)
        text = module.tree.text[first:end]
        for own in sorted(_bases(node), key=lambda each: -int(each.location.offset)):
            if str(own.valueText) in module.inouts:
                at = own.location.offset - first + len(str(own.valueText))
                text = text[:at] + suffix + text[at:]
        return text

    def _sides(self, module: _Module, node: Any, floating: Mapping[str, str]) -> tuple[str, str]:  # noqa: ANN401
        """Return what an expression drives, 0 where nothing, and which bits it drives."""
        kind = node.kind.name
        first, end = self._span(module, node)
        text = module.tree.text[first:end]
        if kind == "ParenthesizedExpression":
            return self._sides(module, node.expression, floating)
        if kind == "ConditionalExpression":
            one, other = (self._sides(module, own, floating) for own in (node.left, node.right))
            at, to = self._span(module, node.predicate)
            choice = module.tree.text[at:to]
            return (
                f"(({choice}) ? {one[0]} : {other[0]})",
                f"(({choice}) ? {one[1]} : {other[1]})",
            )
        if not _has_z(node):
            loose = next((name for name in _passed(node) if name in floating), "")
            if loose:
                self._refuse(module, node, f"{loose}, which {floating[loose]}")
            return f"({text})", "'1"
        if kind in ("UnbasedUnsizedLiteralExpression", "IntegerVectorExpression"):
            return self._literal(module, node, text)
        if kind == "ConcatenationExpression":
            return self._concatenated(module, [*_parts(node)], floating)
        if kind == "MultipleConcatenationExpression":
            at, to = self._span(module, node.expression)
            value, on = self._concatenated(module, [*_parts(node.concatenation)], floating)
            count = module.tree.text[at:to]
            return f"{{{count}{value}}}", f"{{{count}{on}}}"
        self._refuse(module, node, f"the expression {text}")

    def _concatenated(
        self, module: _Module, parts: Sequence[Any], floating: Mapping[str, str]
    ) -> tuple[str, str]:
        values, ons = [], []
        for own in parts:
            value, on = self._sides(module, own, floating)
            if "'1" in on or "'0" in on:
                # In a concatenation a value has its own width: that of the part.
                first, end = self._span(module, own)
                wide = f"$bits({module.tree.text[first:end]})"
                on = re.sub(r"(?<![\w])'([01])(?!\w)", rf"{{{wide}{{1'b\1}}}}", on)
            values.append(value)
            ons.append(on)
        return f"{{{', '.join(values)}}}", f"{{{', '.join(ons)}}}"

    def _literal(self, module: _Module, node: Any, text: str) -> tuple[str, str]:  # noqa: ANN401
        if node.kind.name == "UnbasedUnsizedLiteralExpression":
            return "'0", "'0"
        found = _LITERAL.fullmatch(text.strip())
        per = _BITS[found[2].lower()] if found else 0
        digits = found[3].replace("_", "").lower() if found else ""
        if not found or (not per and digits not in ("z", "?")) or (not found[1] and set(digits) > {"z", "?"}):
            self._refuse(module, node, f"the number {text}")
        if not found[1]:
            if not set(digits) <= {"z", "?"}:
                self._refuse(module, node, f"the number {text}, which has no size")
            return "'0", "'0"
        size, per = int(found[1]), per or 1
        open_bits = "".join(("1" if digit in "z?" else "0") * per for digit in digits)
        open_bits = ((size - len(open_bits)) * (open_bits[0]) + open_bits)[-size:]
        value = re.sub(r"[zZ?]", "0", text) if _BITS[found[2].lower()] else f"{size}'b0"
        return value, f"{size}'b{open_bits.translate(str.maketrans('01', '10'))}"

    def _primitive(self, module: _Module, own: Any, floating: Mapping[str, str]) -> None:  # noqa: ANN401
        kind = str(own.type.valueText)
        if not {*names(own)} & {*module.inouts}:
            return
        texts = []
        for one in _each_instance(own):
            pins = [each.expr for each in one.connections if hasattr(each, "expr")]
            driven = {*names(pins[0])} & {*module.inouts}
            if kind in _PULLS and driven:
                # What is on the port where nothing drives it, the recording has.
                continue
            if (
                kind not in _SWITCHED
                or not driven
                or {name for pin in pins[1:] for name in names(pin)} & {*floating}
            ):
                reads_only = kind in ("buf", "not", "and", "or", "nand", "nor", "xor", "xnor") and not driven
                if reads_only:
                    return
                self._refuse(module, own, f"the primitive {kind}")
            invert, level = _SWITCHED[kind]
            data, control = (module.tree.text[slice(*self._span(module, pin))] for pin in pins[1:3])
            on = f"({level}({control}))"
            texts.append(f"assign {self._renamed(module, pins[0], OUT)} = {on} & ({invert}({data}));")
            texts.append(f"assign {self._renamed(module, pins[0], ON)} = {on};")
        first, end = self._span(module, own)
        self._change(module, first, end, _on_lines(module.tree.text[first:end], " ".join(texts)))

    def _instances(self, module: _Module, own: Any) -> list[str]:  # noqa: ANN401
        """Connect the outputs of instances that ports are handed on to; return their modules."""
        name = str(own.type.valueText)
        handed: list[str] = []
        for one in _each_instance(own):
            sub = self._modules.get(name)
            for pin, node, expression in _connections(one, sub):
                driven = {*names(expression)} & {*module.inouts}
                direction = sub.directions.get(pin, "") if sub is not None else ""
                if direction == "inout":
                    if not driven:
                        continue
                    handed.append(name)
                elif driven and direction != "input":
                    what = f"an output {pin}" if direction else f"a pin {pin} of unknown direction"
                    self._refuse(module, node, f"{what} of {name} that drives {', '.join(sorted(driven))}")
            if name in handed:
                self._connect(module, one, self._modules[name])
        return handed

    def _connect(self, module: _Module, instance: Any, sub: _Module) -> None:  # noqa: ANN401
        wild = any(own.kind.name == "WildcardPortConnection" for own in instance.connections)
        pins = {pin: (node, expression) for pin, node, expression in _connections(instance, sub)}
        ordered = any(own.kind.name == "OrderedPortConnection" for own in instance.connections)
        texts = []
        for name in sub.inouts:
            node, expression = pins.get(name, (None, None))
            own = {*_base_names(expression)} if expression is not None else {name} if wild else set()
            if not own or not own <= {*module.inouts}:
                self._refuse(
                    module, instance, f"{sub.name} with {name} connected to no port of {module.name}"
                )
            if expression is None:
                continue
            for suffix in (OUT, ON):
                text = f"{name}{suffix}" if node is expression else self._renamed(module, expression, suffix)
                texts.append(text if ordered else f".{name}{suffix}({text})")
        if ordered and len([*_listed(instance)]) != len(sub.directions):
            self._refuse(module, instance, f"{sub.name} with some ports of a list left out")
        close = module.tree.place(instance.closeParen)
        if close is None:
            self._refuse(module, instance, f"an instance of {sub.name} that a macro gives")
        if texts:
            self._change(module, close, close, "".join(f", {text}" for text in texts))

    def _require_all_split(self) -> None:
        """Refuse modules that are split and are instances elsewhere, on nets within the design."""
        changed = {*self._done}
        for module in self._modules.values():
            for own in nodes(*module.node.members):
                if own.kind.name != "HierarchyInstantiation" or str(own.type.valueText) not in changed:
                    continue
                sub = self._modules[str(own.type.valueText)]
                for one in _each_instance(own):
                    bases = {
                        name
                        for pin, _, expression in _connections(one, sub)
                        if pin in sub.inouts
                        for name in _base_names(expression)
                    }
                    if module.name not in changed or not bases <= {*module.inouts}:
                        self._refuse(
                            module, own, f"{sub.name}, which also drives ports of the top, on a net within"
                        )


def _on_lines(before: str, text: str) -> str:
    """Return a text that takes as many lines as what it replaces."""
    return text.replace("\n", " ") + "\n" * before.count("\n")


def _each_instance(node: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the instances that one instantiation makes, without the commas between."""
    return (own for own in node.instances if hasattr(own, "connections"))


def _parts(node: Any) -> Iterator[Any]:  # noqa: ANN401
    return (own for own in node.expressions if hasattr(own, "kind") and hasattr(own, "sourceRange"))


def _bases(node: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the tokens of the names that an expression is made of; those in indices are none."""
    kind = node.kind.name
    if kind in ("IdentifierName", "IdentifierSelectName"):
        yield node.identifier
    elif kind == "ConcatenationExpression":
        for own in _parts(node):
            yield from _bases(own)
    elif kind in ("SimplePropertyExpr", "SimpleSequenceExpr", "ParenthesizedExpression"):
        yield from _bases(getattr(node, "expr", None) or node.expression)
    elif kind == "NamedPortConnection":
        yield node.name


def _base_names(node: Any) -> Iterator[str]:  # noqa: ANN401
    return (str(own.valueText) for own in _bases(node))


def _connections(instance: Any, sub: _Module | None) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401
    """Yield pin, connection and expression of what an instance is connected to, but for wildcards."""
    order = [*sub.directions] if sub is not None else []
    for number, own in enumerate(_listed(instance)):
        kind = own.kind.name
        if kind == "NamedPortConnection":
            implicit = not own.openParen or not own.openParen.valueText
            if implicit:
                yield str(own.name.valueText), own, own
            elif own.expr is not None:
                yield str(own.name.valueText), own, own.expr
        elif kind == "OrderedPortConnection":
            yield (order[number] if number < len(order) else str(number)), own, own.expr


def _listed(instance: Any) -> Iterator[Any]:  # noqa: ANN401
    return (
        own
        for own in instance.connections
        if hasattr(own, "sourceRange") and own.kind.name.endswith("PortConnection")
    )


def _passed(node: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the names of nets that an expression hands on as they are, Z included."""
    kind = node.kind.name
    if kind == "ConditionalExpression":
        for own in (node.left, node.right):
            yield from _passed(own)
    elif kind == "MultipleConcatenationExpression":
        yield from _passed(node.concatenation)
    elif kind == "ConcatenationExpression":
        for own in _parts(node):
            yield from _passed(own)
    elif kind == "ParenthesizedExpression":
        yield from _passed(node.expression)
    else:
        yield from _base_names(node)


def _has_z(node: Any) -> bool:  # noqa: ANN401
    """Whether an expression has a number with Z in it."""
    return any(
        own.kind.name in ("UnbasedUnsizedLiteralExpression", "IntegerVectorExpression")
        and re.search(r"'.*[zZ?]", str(own))
        for own in nodes(node)
    )
