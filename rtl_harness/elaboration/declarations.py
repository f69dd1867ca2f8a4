"""Declared types of a design's variables, from the syntax tree that slang dumps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Node = Mapping[str, object]

_DIMENSION = re.compile(r"\[(-?\d+):(-?\d+)\]")
_DECLARING = {"Port", "Net", "Variable", "Parameter", "TypeParameter", "TypeAlias", "EmptyMember"}
_WAITING = {"Timed", "Wait", "WaitFork", "WaitOrder"}
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
    """

    variables: dict[str, Declaration] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    scopes: set[str] = field(default_factory=set)
    stubs: dict[str, str] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)


def read_declarations(log: str, top: str) -> Declarations:
    """Collect the declarations below instance `top` from the log of `read_slang --dump-ast`.

    Raises:
        ValueError: If the log holds no syntax tree.
    """
    start = log.find("\n{")
    if start < 0:
        raise ValueError("the log of read_slang holds no syntax tree")
    root, _ = json.JSONDecoder().raw_decode(log, start + 1)
    return _Reader(root).read(top)


class _Reader:
    def __init__(self, root: Node) -> None:
        self.root = root
        self.aliases: dict[str, str] = {}
        self.found = Declarations()

    def read(self, top: str) -> Declarations:
        self._collect_aliases(self.root)
        for member in _members(self.root):
            if member["kind"] == "Instance" and member["name"] == top:
                self._instance(member, "")
        return self.found

    def _collect_aliases(self, node: object) -> None:
        if isinstance(node, dict):
            if node.get("kind") == "TypeAlias":
                self.aliases[str(node["addr"])] = str(node["target"])
            for value in node.values():
                if isinstance(value, dict | list):
                    self._collect_aliases(value)
        elif isinstance(node, list):
            for item in node:
                self._collect_aliases(item)

    def _instance(self, node: Node, path: str) -> None:
        body = node["body"]
        assert isinstance(body, dict)
        self.found.instances[path] = str(body.get("definition", "")).split(" ")[-1] or str(body["name"])
        if _is_stub(body):
            self.found.stubs[path] = self.found.instances[path]
        self._scope(body, path, self.found.instances[path])

    def _scope(self, node: Node, path: str, module: str) -> None:
        self.found.scopes.add(path)
        outputs = {m["name"] for m in _members(node) if m["kind"] == "Port" and m.get("direction") != "In"}
        for member in _members(node):
            kind, name = str(member["kind"]), str(member["name"])
            below = f"{path}.{name}" if path and name else path or name
            if kind == "Instance":
                self._instance(member, below)
            elif kind == "InstanceArray":
                self._instance_array(member, below)
            elif kind == "GenerateBlockArray":
                self._generate_array(member, below, module)
            elif kind in _SCOPES:
                if not member.get("isUninstantiated", False):
                    self._scope(member, below, module)
            elif kind == "ProceduralBlock" and member.get("procedureKind") == "Initial":
                if _waits(member["body"]):
                    self.found.waiting.add(path)
            elif kind in {"Variable", "Net"}:
                self._declare(member, path, module, name in outputs)

    def _instance_array(self, node: Node, path: str) -> None:
        left, right = _bounds(str(node["range"]))
        step = 1 if left <= right else -1
        for position, member in enumerate(_members(node)):
            below = f"{path}[{left + step * position}]"
            if member["kind"] == "InstanceArray":
                self._instance_array(member, below)
            else:
                self._instance(member, below)

    def _generate_array(self, node: Node, path: str, module: str) -> None:
        for member in _members(node):
            if member["kind"] != "GenerateBlock":
                continue
            genvar = next(m for m in _members(member) if m["kind"] == "Parameter")
            self._scope(member, f"{path}[{genvar['value']}]", module)

    def _declare(self, node: Node, path: str, module: str, port: bool) -> None:
        base, unpacked = self._resolve(str(node["type"]))
        packed = _DIMENSION.findall(base) if re.match(r"(logic|reg|bit)\b", base) else []
        left: int | None = None
        right: int | None = None
        if len(packed) == 1:
            left, right = int(packed[0][0]), int(packed[0][1])
        unpacked_struct = base.startswith(("struct{", "union{"))
        name = str(node["name"])
        declaration = Declaration(path, module, name, unpacked, left, right, unpacked_struct, port)
        self.found.variables[f"{path}.{declaration.name}" if path else declaration.name] = declaration

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
    members = list(_members(body))
    outputs = any(m["kind"] == "Port" and m.get("direction") != "In" for m in members)
    empty = all(m["kind"] in _DECLARING and "initializer" not in m for m in members)
    return outputs and empty


def _waits(node: object) -> bool:
    """Whether a statement holds an event control, a delay or a wait."""
    if isinstance(node, dict):
        return str(node.get("kind")) in _WAITING or any(_waits(value) for value in node.values())
    return isinstance(node, list) and any(_waits(item) for item in node)


def _split_unpacked(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    match = re.match(r"^(.*?)\$((?:\[-?\d+:-?\d+\])+)$", text, re.DOTALL)
    if match is None:
        return text, ()
    return match[1], tuple((int(a), int(b)) for a, b in _DIMENSION.findall(match[2]))


def _bounds(text: str) -> tuple[int, int]:
    match = _DIMENSION.fullmatch(text)
    assert match is not None, text
    return int(match[1]), int(match[2])


def _members(node: Node) -> Iterator[dict[str, object]]:
    members = node.get("members", [])
    assert isinstance(members, list)
    yield from members
