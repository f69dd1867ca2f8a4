# SPDX-License-Identifier: Apache-2.0
"""Declared types of a design's variables, from the syntax tree that slang dumps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from resil.rtl_harness.design.elaboration.syntax_tree import (
    DIMENSION,
    Node,
    blocks_of_array,
    instances_of_array,
    members,
    read_tree,
    tops,
    type_aliases,
)

_DECLARING = {"Port", "Net", "Variable", "Parameter", "TypeParameter", "TypeAlias", "EmptyMember"}
_WAITING = {"Timed", "Wait", "WaitFork", "WaitOrder"}
# System tasks that give storage its content.
_FILLS = ("$readmem", "$fread", "$fscanf", "$sscanf", "$value$plusargs")
_SCOPES = {"GenerateBlock", "StatementBlock", "InstanceArray", "GenerateBlockArray", "Instance"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable or net.

    Attributes:
        scope: Hierarchical path of the scope that declares it, below the top.
        module: Name of the module definition that holds it.
        name: Its name.
        unpacked: Declared bounds of the unpacked dimensions, outermost first.
        left: Left bound of the packed range; None if it has several packed dimensions or is a structure.
        right: Right bound, likewise.
        unpacked_struct: It is, or is an array of, an unpacked structure.
        port: It is an output of its module.
    """

    scope: str
    module: str
    name: str
    unpacked: tuple[tuple[int, int], ...] = ()
    left: int | None = None
    right: int | None = None
    unpacked_struct: bool = False
    port: bool = False

    @property
    def words(self) -> int:
        """Number of packed words in the unpacked array; 1 if it is none."""
        count = 1
        for left, right in self.unpacked:
            count *= abs(left - right) + 1
        return count

    def indices(self, word: int) -> tuple[int, ...]:
        """Return the declared indices of the word that is `word` steps from the leftmost one."""
        found: list[int] = []
        for left, right in reversed(self.unpacked):
            word, step = divmod(word, abs(left - right) + 1)
            found.append(left + step if left <= right else left - step)
        return tuple(reversed(found))


@dataclass
class Declarations:
    """All declarations of a design.

    Attributes:
        variables: By hierarchical path below the top.
        instances: Module name of each instance, by hierarchical path.
        scopes: Paths of instances and generate blocks.
        stubs: Module name of each instance that has outputs and nothing that drives them, by path.
        waiting: Paths of scopes with an initial block that waits for an event or a time.
        subroutines: Paths of functions and tasks.
        initial: Values that whole variables begin with, in binary, by path, where they are constants.
        loaded: Paths of variables that an asynchronous reset or load assigns.
        begun: Paths of variables that an initial block assigns, or that are declared with a value.
        filled: Those of them that may begin with something else than zeros or the constant in `initial`.
    """

    variables: dict[str, Declaration] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    scopes: set[str] = field(default_factory=set)
    stubs: dict[str, str] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    subroutines: set[str] = field(default_factory=set)
    initial: dict[str, str] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)
    begun: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)


def read_declarations(log: str, top: str) -> Declarations:
    """Collect the declarations below instance `top` from the log of `read_slang --dump-ast`.

    Raises:
        ValueError: If the log holds no syntax tree.
    """
    return _Reader(read_tree(log)).read(top)


class _Reader:
    def __init__(self, root: Node) -> None:
        self.root = root
        self.aliases = type_aliases(root)
        self.found = Declarations()
        # Variables by the address that references give, and those of variables that processes assign.
        self.places: dict[str, str] = {}
        self.loaded: set[str] = set()
        self.begins: list[tuple[str, str | None]] = []

    def read(self, top: str) -> Declarations:
        for instance in tops(self.root, top):
            self._instance(instance, "")
        self.found.loaded = {self.places[own] for own in self.loaded & self.places.keys()}
        begins = [(self.places[own], value) for own, value in self.begins if own in self.places]
        self.found.begun |= {path for path, _ in begins}
        # A whole word that is given a constant begins so; zeros it begins with anyway.
        for path, value in begins:
            if value:
                self.found.filled |= {path} if self.found.initial.get(path, value) != value else set()
                self.found.initial[path] = value
        for path, value in begins:
            if value is None or (not value and int(self.found.initial.get(path, "0"), 2)):
                self.found.filled.add(path)
        return self.found

    def _instance(self, node: Node, path: str) -> None:
        body = node["body"]
        self.found.instances[path] = str(body.get("definition", "")).split(" ")[-1] or str(body["name"])
        if _is_stub(body):
            self.found.stubs[path] = self.found.instances[path]
        self._scope(body, path, self.found.instances[path])

    def _scope(self, node: Node, path: str, module: str) -> None:
        self.found.scopes.add(path)
        outputs = {m["name"] for m in members(node) if m["kind"] == "Port" and m.get("direction") != "In"}
        for member in members(node):
            kind, name = str(member["kind"]), str(member["name"])
            below = f"{path}.{name}" if path and name else path or name
            if kind == "Instance":
                self._instance(member, below)
            elif kind == "InstanceArray":
                for instance, own in instances_of_array(member, below):
                    self._instance(instance, own)
            elif kind == "GenerateBlockArray":
                for block, own in blocks_of_array(member, below):
                    self._scope(block, own, module)
            elif kind in _SCOPES:
                if not member.get("isUninstantiated", False):
                    self._scope(member, below, module)
            elif kind == "ProceduralBlock" and member.get("procedureKind") == "Initial":
                if _waits(member["body"]):
                    self.found.waiting.add(path)
                self.begins += _begins(member["body"], direct=True)
            elif kind == "ProceduralBlock":
                self.loaded |= {*_loaded(member["body"])}
            elif kind == "Subroutine":
                self.found.subroutines.add(below)
            elif kind in {"Variable", "Net"}:
                self._declare(member, path, module, name in outputs)

    def _declare(self, node: Node, path: str, module: str, port: bool) -> None:
        base, unpacked = self._resolve(str(node["type"]))
        packed = DIMENSION.findall(base) if re.match(r"(logic|reg|bit)\b", base) else []
        left: int | None = None
        right: int | None = None
        if len(packed) == 1:
            left, right = int(packed[0][0]), int(packed[0][1])
        unpacked_struct = base.startswith(("struct{", "union{"))
        name = str(node["name"])
        declaration = Declaration(path, module, name, unpacked, left, right, unpacked_struct, port)
        place = f"{path}.{declaration.name}" if path else declaration.name
        self.found.variables[place] = declaration
        self.places[str(node.get("addr"))] = place
        if "initializer" in node:
            self.found.begun.add(place)
            value = _bits(node["initializer"])
            if value and not unpacked:
                self.found.initial[place] = value
            else:
                self.found.filled.add(place)

    def _resolve(self, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Split a type into its packed part and its unpacked dimensions, following names of types."""
        base, dimensions = _split_unpacked(text)
        reference = re.match(r"(\d+) ([^\[]+)(.*)$", base)
        if reference is None or reference[1] not in self.aliases:
            return base, dimensions
        target, inner = self._resolve(self.aliases[reference[1]])
        return target + reference[3], dimensions + inner


def _is_stub(body: Node) -> bool:
    """Whether a module declares outputs and nothing else than ports and parameters."""
    held = list(members(body))
    outputs = any(m["kind"] == "Port" and m.get("direction") != "In" for m in held)
    empty = all(m["kind"] in _DECLARING and "initializer" not in m for m in held)
    return outputs and empty


def _waits(node: object) -> bool:
    """Whether a statement holds an event control, a delay or a wait."""
    if isinstance(node, dict):
        return str(node.get("kind")) in _WAITING or any(_waits(value) for value in node.values())
    return isinstance(node, list) and any(_waits(item) for item in node)


def _begins(statement: object, *, direct: bool) -> Iterator[tuple[str, str | None]]:
    """Yield the addresses of the variables that an initial block assigns or fills.

    Each comes with the constant in binary that it is assigned to as a whole; "" if these are zeros, perhaps
    of a part or under a condition, and None if it may be anything.

    Args:
        statement: Of the block.
        direct: It is carried out once, whatever comes.
    """
    if isinstance(statement, list):
        for own in statement:
            yield from _begins(own, direct=direct)
    if not isinstance(statement, dict):
        return
    kind = statement.get("kind")
    if kind == "Assignment":
        left, value = statement["left"], _bits(statement["right"])
        whole = direct and left.get("kind") == "NamedValue"
        zero = value and not int(value, 2) and not statement.get("op")
        for address in _targets(left):
            yield address, value if whole and value else "" if zero else None
    elif kind == "Call" and str(statement.get("subroutine", "")).startswith(_FILLS):
        yield from ((address, None) for address in _symbols(statement.get("arguments")))
    direct = direct and kind in {"Block", "List", "ExpressionStatement"}
    for own in statement.values():
        yield from _begins(own, direct=direct)


def _symbols(node: object) -> Iterator[str]:
    """Yield the addresses of all variables that an expression names."""
    for own in node if isinstance(node, list) else node.values() if isinstance(node, dict) else ():
        yield from _symbols(own)
    if isinstance(node, dict) and "symbol" in node:
        yield str(node["symbol"]).partition(" ")[0]


def _assigned(node: object) -> Iterator[str]:
    """Yield the addresses of the variables that statements assign, but for those that loops count with."""
    if isinstance(node, list):
        for own in node:
            yield from _assigned(own)
    elif isinstance(node, dict):
        if node.get("kind") == "Assignment":
            yield from _targets(node["left"])
        loop = node.get("kind") == "ForLoop"
        for key, own in node.items():
            if not loop or key == "body":
                yield from _assigned(own)


def _targets(left: Node) -> Iterator[str]:
    if left.get("kind") == "Concatenation":
        for own in left["operands"]:
            yield from _targets(own)
    elif "symbol" in left:
        yield str(left["symbol"]).partition(" ")[0]
    elif isinstance(left.get("value"), dict):
        yield from _targets(left["value"])


def _loaded(timed: Node) -> Iterator[str]:
    """Yield the addresses of what the asynchronous resets of a process assign: all before its last else."""
    events = timed["timing"].get("events", ()) if timed.get("kind") == "Timed" else ()
    statement = timed.get("stmt")
    for _ in events[1:]:
        while isinstance(statement, dict) and statement["kind"] == "Block":
            statement = statement.get("body")
        if not isinstance(statement, dict) or statement["kind"] != "Conditional":
            return
        yield from _assigned(statement["ifTrue"])
        statement = statement.get("ifFalse")


def _bits(expression: object) -> str:
    """Return the constant of an expression in binary; "" if it is none, or is not known in all bits."""
    text = str(expression.get("constant", "")) if isinstance(expression, dict) else ""
    found = re.fullmatch(r"(?:\d*'s?(?P<base>[bdh]))?(?P<digits>[0-9a-f]+)", text.replace("_", ""))
    if found is None:
        return ""
    return f"{int(found['digits'], {'b': 2, 'h': 16}.get(found['base'], 10)):b}"


def _split_unpacked(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    match = re.match(r"^(.*?)\$((?:\[-?\d+:-?\d+\])+)$", text, re.DOTALL)
    if match is None:
        return text, ()
    return match[1], tuple((int(a), int(b)) for a, b in DIMENSION.findall(match[2]))
