# SPDX-License-Identifier: Apache-2.0
"""Small edits of SystemVerilog source text: ports of a module, the module of an instance, further lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_PIN = re.compile(r"\s*\.(?P<name>\w+)\s*(?P<open>\()?")
_CONDITION = re.compile(r"`(?:ifdef|ifndef|elsif)\s+\w+|`(?:else|endif)\b")
_DIRECTION = re.compile(r"\b(?:input|output|inout)\b")


class NotEditableError(Exception):
    """The text is not of the kind that can be edited; the message says why."""


@dataclass(frozen=True, slots=True)
class _ModuleHeader:
    """Where the parts of a module lie in a text: behind its last port, behind its header, and its end."""

    ports_end: int
    body: int
    end: int
    has_ports: bool


@dataclass
class SourceText:
    """The text of a source file.

    Attributes:
        text: As it stands.
    """

    text: str

    def modules(self) -> list[str]:
        """Return the names of the modules that it defines."""
        return re.findall(r"\bmodule\s+(?:automatic\s+|static\s+)?(\w+)", _masked(self.text))

    def uses(self, module: str, word: str) -> bool:
        """Whether a module has an identifier named `word`."""
        start, end = self._extent(module)
        return re.search(rf"\b{re.escape(word)}\b", _masked(self.text)[start:end]) is not None

    def check_module(self, module: str) -> None:
        """Raise NotEditableError unless ports can be added to a module."""
        self._header(module)

    def check_instance(self, module: str, of: str, name: str) -> None:
        """Raise NotEditableError unless an instance in a module can be given ports."""
        self._instance(module, of, name)

    def add_ports(self, module: str, ports: str) -> None:
        """Add declarations of ports, joined by commas, behind the last one."""
        header = self._header(module)
        comma = "," if header.has_ports else ""
        self._insert(header.ports_end, f"{comma}\n{ports}")

    def add_at_begin(self, module: str, lines: str) -> None:
        """Add lines behind the header."""
        self._insert(self._header(module).body, f"\n{lines}")

    def add_at_end(self, module: str, lines: str) -> None:
        """Add lines before `endmodule`."""
        self._insert(self._header(module).end, f"{lines}\n")

    def change_instance(self, module: str, of: str, name: str, new: str, connections: str) -> None:
        """Make the instance `name` one of module `new`, and add connections of ports to it."""
        start, last, has_ports = self._instance(module, of, name)
        comma = "," if has_ports else ""
        self._insert(last, f"{comma}\n{connections}")
        self.text = self.text[:start] + new + self.text[start + len(of) :]

    def _insert(self, place: int, text: str) -> None:
        self.text = self.text[:place].rstrip(" ") + text + self.text[place:]

    def _extent(self, module: str) -> tuple[int, int]:
        masked = _masked(self.text)
        begins = list(re.finditer(rf"\bmodule\s+(?:automatic\s+|static\s+)?{re.escape(module)}\b", masked))
        if len(begins) != 1:
            raise NotEditableError(f"module {module} is defined {len(begins)} times")
        end = re.search(r"\bendmodule\b", masked[begins[0].end() :])
        if end is None:
            raise NotEditableError(f"module {module} has no endmodule")
        return begins[0].end(), begins[0].end() + end.start()

    def _header(self, module: str) -> _ModuleHeader:
        masked = _masked(self.text)
        place, end = self._extent(module)
        while found := re.match(r"\s*import\b[^;]*;", masked[place:end]):
            place += found.end()
        if found := re.match(r"\s*#\s*\(", masked[place:end]):
            place = _closing(masked, place + found.end() - 1, end) + 1
        found = re.match(r"\s*\(", masked[place:end])
        if found is None:
            raise NotEditableError(f"module {module} has no list of ports")
        first = place + found.end()
        closing = _closing(masked, first - 1, end)
        ports = masked[first:closing]
        if ports.strip() and not _DIRECTION.search(ports):
            raise NotEditableError(f"the list of ports of module {module} gives no directions")
        semicolon = masked.find(";", closing, end)
        if semicolon < 0:
            raise NotEditableError(f"the header of module {module} has no end")
        return _ModuleHeader(_behind_text(masked, first, closing), semicolon + 1, end, bool(ports.strip()))

    def _instance(self, module: str, of: str, name: str) -> tuple[int, int, bool]:
        """Return where an instance begins, where its last connection ends, and whether it has any.

        Raises:
            NotEditableError: It is not there, or connects its ports by their order.
        """
        start, first, closing = self._found_instance(module, of, name)
        masked = _masked(self.text)
        connections = masked[first:closing].strip()
        if connections and not connections.startswith("."):
            raise NotEditableError(f"{of} {name} connects its ports by their order")
        return start, _behind_text(masked, first, closing), bool(connections)

    def _found_instance(self, module: str, of: str, name: str) -> tuple[int, int, int]:
        """Return where an instance begins, and where its connections begin and end."""
        masked = _masked(self.text)
        start, end = self._extent(module)
        found: list[tuple[int, int]] = []
        for begin in re.finditer(rf"\b{re.escape(of)}\b", masked[start:end]):
            place = start + begin.end()
            if parameters := re.match(r"\s*#\s*\(", masked[place:end]):
                place = _closing(masked, place + parameters.end() - 1, end) + 1
            if own := re.match(rf"\s*{re.escape(name)}\s*\(", masked[place:end]):
                found.append((start + begin.start(), place + own.end()))
        if len(found) != 1:
            raise NotEditableError(f"{of} {name} is found {len(found)} times in the text of {module}")
        begins, first = found[0]
        return begins, first, _closing(masked, first - 1, end)

    def instance_parts(
        self, module: str, of: str, name: str, ports: Sequence[str]
    ) -> tuple[str, dict[str, str]]:
        """Return the text of an instance before its name, and what its ports are connected to.

        Connections are by name, by order, or by `.*`. Those in branches of the preprocessor count if the
        module has such a port.

        Args:
            module: That it is in.
            of: Its own module.
            name: Its own name.
            ports: Of its module, in their order.

        Raises:
            NotEditableError: What ports are connected to cannot be read from the text.
        """
        start, first, closing = self._found_instance(module, of, name)
        before = re.sub(rf"{re.escape(name)}\s*\($", "", self.text[start:first])
        text = _SKIPPED.sub(lambda found: found[0] if found[0][0] == '"' else " ", self.text[first:closing])
        bare, branches = _CONDITION.subn(" ", text)
        pieces = _pieces(bare)
        try:
            if not bare.strip() or bare.lstrip().startswith("."):
                named = [piece for piece in pieces if piece.strip() != ".*"]
                found = [pin for piece in named for pin in _connection(piece)]
                if len(named) < len(pieces):
                    found += [(port, port) for port in ports if port not in dict(found)]
            elif branches or len(pieces) > len(ports):
                raise NotEditableError("its ports are connected by an order that is not known")
            else:
                found = [*zip(ports, (piece.strip() for piece in pieces), strict=False)]
        except NotEditableError as error:
            raise NotEditableError(f"{of} {name}: {error}") from error
        connected: dict[str, str] = {}
        for port, own in found:
            if connected.setdefault(port, own) != own:
                raise NotEditableError(f"{of} {name} connects its port {port} in two ways")
        connected = {port: connected[port] for port in ports if port in connected}
        if not connected:
            raise NotEditableError(f"{of} {name} connects no ports")
        return before, connected


def _connection(piece: str) -> list[tuple[str, str]]:
    """Return a port and what it is connected to: none for an empty piece."""
    if not piece.strip():
        return []
    pin = _PIN.match(piece)
    if pin is None:
        raise NotEditableError(f"expected connections by names, found {piece.strip()}")
    if not pin["open"]:
        return [(pin["name"], pin["name"])]
    closing = _closing(_masked(piece), pin.end() - 1, len(piece))
    if piece[closing + 1 :].strip():
        raise NotEditableError(f"expected a comma behind its port {pin['name']}, found {piece.strip()}")
    return [(pin["name"], piece[pin.end() : closing].strip())]


def _pieces(text: str) -> list[str]:
    """Return what stands between the commas that are in no parenthesis, bracket, brace or string."""
    pieces, depth, begin = [], 0, 0
    for place, letter in enumerate(_masked(text)):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            pieces.append(text[begin:place])
            begin = place + 1
    return [*pieces, text[begin:]]


@lru_cache
def _masked(text: str) -> str:
    """Return the text with comments and strings blanked, every character in its place."""
    return _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _behind_text(masked: str, first: int, closing: int) -> int:
    """Return the place behind the last character between two places that is no blank and no comment."""
    return first + len(masked[first:closing].rstrip())


def _closing(masked: str, opening: int, end: int) -> int:
    depth = 0
    for place in range(opening, end):
        depth += (masked[place] == "(") - (masked[place] == ")")
        if depth == 0:
            return place
    raise NotEditableError("a parenthesis is not closed")
