# SPDX-License-Identifier: Apache-2.0
"""A design as C++ source: state, logic, the edge of the clock."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from resil.rtl_harness.engine.fast.lanes.design import LaneDesign
from resil.rtl_harness.engine.fast.lanes.expressions import (
    LIVE,
    Writer,
    element_bits,
    literal,
    name_of,
    type_of,
)
from resil.rtl_harness.engine.fast.lanes.guards import Condition, Guard, Statement, common
from resil.rtl_harness.engine.fast.lanes.storage import StorageWriter
from resil.rtl_harness.engine.fast.lanes.words import Bit, Bits, Piece, UnsupportedLanesError

PARTS = 160  # statements of a function
NEAR = 32  # statements among which one with the same select is looked for
# Members of a structure: a compiler looks for the name of each among all before it. With the 31,498 of the
# 32-MAC NPU in one, GCC took 60 s, 46 of them for this.
MEMBERS = 128
_NAME = re.compile(r"\bs\.p(\d+)\b")
_LIVE = re.compile(rf"\b{LIVE}\b")
_SELECT = re.compile(r"= choose\((.*?), ")


def source(design: LaneDesign, done: str, operation: str, alarms: Sequence[str]) -> str:
    """Return the design as one source file, to be compiled with `lanes.h` and `machine.h`.

    Args:
        design: With these ports among its outputs.
        done: Port that ends a run.
        operation: Port that counts operations, "" if there is none.
        alarms: Ports that are alarms, in the target's order.
    """
    return "\n".join(_Emitter(design, done, operation, alarms).lines())


class _Emitter:
    def __init__(self, design: LaneDesign, done: str, operation: str, alarms: Sequence[str]) -> None:
        self.design = design
        self.words = design.words
        self.writer = Writer(design.words)
        self.storage = StorageWriter(design, done, operation, alarms)
        self._kept: set[Piece] = set()  # read at the edge, or from outside
        self._gone: set[Piece] = set()  # local to a function
        self.next: list[tuple[Piece, str]] = []  # values of flip-flops that must be taken before any changes

    def lines(self) -> list[str]:
        taken = self._taken()
        commit = list(self._commit())
        tables = [*self._resets(), "}  // namespace", *self.storage.tables()]
        mentioned = set(map(int, _NAME.findall("\n".join([*commit, *tables]))))
        self._kept = {p for p in self.words.pieces if p.number in mentioned}
        functions = [*self._cycle([*self.design.statements, *taken]), *commit]
        return [
            "// Generated from a netlist; see rtl_harness/engine/fast/lanes.",
            '#include "lanes.h"',
            '#include "lane_calls.h"',
            "#include <vector>",
            "namespace {",
            *self._state(functions),
            *self.storage.reads(),
            *functions,
            *tables,
            '#include "machine.h"',
            "",
        ]

    # ---- state

    def _state(self, functions: Iterable[str]) -> list[str]:
        """Write the state: masks beside masks, and what is used together close together."""
        used: dict[int, int] = {}
        for line in functions:
            for name in _NAME.findall(line):
                used.setdefault(int(name), len(used))
        pieces = sorted(
            (p for p in self.words.pieces if p not in self._gone),
            key=lambda p: (p.width > 1, used.get(p.number, len(used)), p.number),
        )
        members = [*(f"  {type_of(p.width)} p{p.number};" for p in pieces), *self.storage.members()]
        lines: list[str] = []
        bases: list[str] = []
        for at in range(0, len(members), MEMBERS):
            bases.append(f"State{len(bases)}")
            lines += [f"struct {bases[-1]} {{", *members[at : at + MEMBERS], "};"]
        return [*lines, f"struct alignas(64) State : {', '.join(bases)} {{}};", ""]

    # ---- one cycle

    def _cycle(self, statements: Sequence[Statement]) -> Iterator[str]:
        parts: list[list[str]] = [[]]
        count = 0
        readers: dict[Piece, list[Statement]] = defaultdict(list)
        for s in statements:
            assert s.guard
            for piece in s.reads | self._reads_of(s.guard):
                readers[piece].append(s)
        around: list[Condition] = []  # that the lines so far have opened

        def leave(depth: int) -> None:
            parts[-1] += ["  }"] * (len(around) - depth)
            del around[depth:]

        for guard, group in self._scheduled(statements):
            chain = guard.chain()
            for at in range(0, len(group), PARTS):
                chunk = self._local(group[at : at + PARTS], readers)
                if count + len(chunk) > PARTS and parts[-1]:
                    leave(0)
                    parts.append([])
                    count = 0
                count += len(chunk)
                leave(_shared(around, chain))
                parts[-1] += [f"  if ({self._condition(c)}) {{" for c in chain[len(around) :]]
                around += chain[len(around) :]
                live = f"  const M {LIVE} = {self._live(guard)};"
                parts[-1] += ["  {", *([live] if any(map(_LIVE.search, chunk)) else []), *chunk, "  }"]
        leave(0)
        for i, body in enumerate(parts):
            yield f"__attribute__((noinline)) void part{i}(State& s) {{"
            yield from body
            yield "}"
        yield "void evaluate(State& s) {"
        yield from (f"  part{i}(s);" for i in range(len(parts)))
        yield "}"

    def _local(self, group: Sequence[Statement], readers: Mapping[Piece, Sequence[Statement]]) -> list[str]:
        """Return statements; what only they read among themselves is no part of the state."""
        own = set(map(id, group))
        local: dict[str, str] = {}
        for s in group:
            if len(s.targets) == 1 and s.text.startswith(f"{name_of(s.targets[0])} = "):
                piece = s.targets[0]
                if piece in self._kept or any(id(r) not in own for r in readers.get(piece, ())):
                    continue
                if any(piece in self._reads_of(r.guard) for r in readers.get(piece, ()) if r.guard):
                    continue
                local[name_of(piece)] = f"const {type_of(piece.width)} l{piece.number}"
                self._gone.add(piece)
        lines = []
        for s in group:
            text = _NAME.sub(lambda m: f"l{m[1]}" if m[0] in local else m[0], s.text)
            target = name_of(s.targets[0])
            if target in local:
                text = local[target] + text[len(target) - 1 :]
            lines.append(f"  {text}")
        return lines

    def _live(self, guard: Guard) -> str:
        """Return a mask of the machines in which a guard's statements matter: all its conditions hold."""
        parts = [
            self.writer.any_of(nets) if rising else f"~{self.writer.mask(nets[0])}"
            for nets, rising in guard.chain()
        ]
        return " & ".join(parts) or "~M{0}"

    def _condition(self, condition: Condition) -> str:
        nets, rising = condition
        if rising:
            return f"{self.writer.any_of(nets)} != 0"
        return f"{self.writer.mask(nets[0])} != ~M{{0}}"

    def _reads_of(self, guard: Guard) -> set[Piece]:
        return {self.words.home(bit)[0] for nets, _ in guard.chain() for bit in nets if isinstance(bit, int)}

    def _scheduled(self, statements: Sequence[Statement]) -> Iterator[tuple[Guard, list[Statement]]]:
        """Order statements so that those of a guard stand together, near guards and equal selects, too."""
        setter = {p: i for i, s in enumerate(statements) for p in s.targets}
        waits = [0] * len(statements)
        readers: dict[int, list[int]] = defaultdict(list)
        for i, s in enumerate(statements):
            assert s.guard
            needed = {setter[p] for p in s.reads | self._reads_of(s.guard) if p in setter}
            waits[i] = len(needed)
            for j in needed:
                readers[j].append(i)
        ready: dict[int, list[int]] = defaultdict(list)
        guards: dict[int, Guard] = {}
        for i, s in enumerate(statements):
            assert s.guard
            guards[id(s.guard)] = s.guard
            if not waits[i]:
                ready[id(s.guard)].append(i)
        root = id(self.design.root)
        chains = {name: guard.chain() for name, guard in guards.items()}
        found = [_SELECT.search(s.text) for s in statements]
        selects = [match[1] if match else "" for match in found]
        now = root
        while any(ready.values()):
            if ready.get(root):
                now = root
            else:
                last = chains[now]
                near = (g for g in ready if ready[g])
                now = max(near, key=lambda g: (_shared(last, chains[g]), len(ready[g])))
            group: list[Statement] = []
            select = ""
            while waiting := ready[now]:
                at = max(
                    range(max(0, len(waiting) - NEAR), len(waiting)),
                    key=lambda k: (selects[waiting[k]] == select, k),
                )
                i = waiting.pop(at)
                select = selects[i]
                group.append(statements[i])
                for j in readers[i]:
                    waits[j] -= 1
                    if not waits[j]:
                        ready[id(statements[j].guard)].append(j)
            yield guards[now], group

    # ---- the edge

    def _taken(self) -> list[Statement]:
        """Return what keeps the next values of flip-flops that are other flip-flops' present ones."""
        own = {f.piece for f in self.design.flip_flops}
        made: dict[Bits, Statement] = {}
        for f in self.design.flip_flops:
            self.writer.fresh()
            value = self._value(f.data, f.piece.width)
            reads = frozenset(self.writer.reads)
            if not reads & own or f.never:
                continue
            if f.data not in made:
                target = Piece(len(self.words.pieces), -2, 0, f.piece.width)
                self.words.pieces.append(target)
                made[f.data] = Statement(f"{name_of(target)} = {value};", (target,), reads, ())
            statement = made[f.data]
            statement.guard = common(statement.guard, f.guard(self.design.root))
            self.next.append((f.piece, name_of(statement.targets[0])))
        return list(made.values())

    def _value(self, bits: Sequence[Bit], width: int) -> str:
        return self.writer.mask(bits[0]) if width == 1 else self.writer.word(bits, element_bits(width))

    def _commit(self) -> Iterator[str]:
        taken = dict(self.next)
        groups: dict[tuple[Bit | None, bool], list[str]] = defaultdict(list)
        for f in self.design.flip_flops:
            q = name_of(f.piece)
            value = taken.get(f.piece) or self._value(f.data, f.piece.width)
            if f.enable is None or f.enable == ("1" if f.rising else "0"):
                groups[None, True].append(f"{q} = {value};")
            elif isinstance(f.enable, int):
                if f.piece.width == 1:
                    text = f"{q} = ({value} & enable) | ({q} & ~enable);"
                else:
                    text = f"{q} = choose(enable, {value}, {q});"
                groups[f.enable, f.rising].append(text)
        parts = []
        body: list[str] = []
        # An enable may itself be a flip-flop: all are taken before any changes.
        enables = [key for key in groups if key[0] is not None]
        yield "struct Enables {"
        yield from (f"  M e{i};" for i in range(len(enables)))
        yield "};"
        for i, key in enumerate(enables):
            body += [f"  if (const M enable = e.e{i}) {{", *(f"    {t}" for t in groups[key]), "  }"]
            if len(body) > 2 * PARTS:
                parts.append(body)
                body = []
        plain = groups.get((None, True), [])
        for at in range(0, len(plain), 2 * PARTS):
            parts.append([f"  {t}" for t in plain[at : at + 2 * PARTS]])
        if body:
            parts.append(body)
        for i, lines in enumerate(parts):
            yield f"__attribute__((noinline)) void commit{i}(State& s, const Enables& e) {{"
            yield from lines
            yield "}"
        for i, port in enumerate(self.design.writes):
            yield from self.storage.write(i, port)
        yield "void edge(State& s) {"
        yield "  Enables e;"
        for i, (net, rising) in enumerate(enables):
            assert net is not None
            yield f"  e.e{i} = {'' if rising else '~'}{self.writer.mask(net)};"
        yield from (f"  write{i}(s);" for i in range(len(self.design.writes)))
        yield from (f"  commit{i}(s, e);" for i in range(len(parts)))
        yield "}"

    def _resets(self) -> Iterator[str]:
        """Write the asynchronous resets: where they are active before an edge, and what all of them do.

        The latter returns whether one was active in a machine.
        """
        groups: dict[tuple[int, bool], list[str]] = defaultdict(list)
        inputs = {p for pieces in self.words.inputs.values() for p in pieces}
        own = {f.piece for f in self.design.flip_flops}
        for f in self.design.flip_flops:
            if not isinstance(f.reset, int):
                continue
            piece, _ = self.words.home(f.reset)
            if piece in inputs:
                continue
            if piece not in own:
                cell = self.words.cells[f.piece.cell]
                raise UnsupportedLanesError(f"the asynchronous reset of {cell.name} comes from logic")
            q = name_of(f.piece)
            if f.piece.width == 1:
                text = f"{q} |= m;" if f.reset_value else f"{q} &= ~m;"
            else:
                text = f"{q} = choose(m, all<{type_of(f.piece.width)}>({literal(f.reset_value)}), {q});"
            groups[f.reset, f.reset_level].append(text)
        yield f"struct Resets {{ M held[{max(1, len(groups))}]; }};"
        yield "void hold(const State& s, Resets& r) {"
        for i, (net, level) in enumerate(groups):
            yield f"  r.held[{i}] = {'' if level else '~'}{self.writer.mask(net)};"
        yield "}"
        yield "bool resets(State& s, const Resets& r) {"
        yield "  bool any = false;"
        for i, ((net, level), texts) in enumerate(groups.items()):
            yield f"  if (const M m = r.held[{i}] | {'' if level else '~'}{self.writer.mask(net)}) {{"
            yield "    any = true;"
            yield from (f"    {t}" for t in texts)
            yield "  }"
        yield "  return any;"
        yield "}"


def _shared(one: Sequence[Condition], other: Sequence[Condition]) -> int:
    """Return how many conditions two chains begin with in common."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
