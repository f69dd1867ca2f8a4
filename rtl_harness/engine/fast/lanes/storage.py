# SPDX-License-Identifier: Apache-2.0
"""Storage of a design in C++: memories, tables of where all of it lies, what is looked at from outside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from resil.rtl_harness.engine.fast.lanes.design import LaneDesign, Memory, Port
from resil.rtl_harness.engine.fast.lanes.expressions import (
    LIVE,
    Writer,
    element_bits,
    literal,
    name_of,
    ones,
    type_of,
)
from resil.rtl_harness.engine.fast.lanes.words import Bit, Piece

INTERLEAVED = 1 << 20  # bytes of 32 memories that lie word beside word
LANES = 32


class StorageWriter:
    """Writes what concerns memories, tables and ports.

    Args:
        design: The design.
        done: Port that ends a run.
        operation: Port that counts operations, "" if there is none.
        alarms: Ports that are alarms.
    """

    def __init__(self, design: LaneDesign, done: str, operation: str, alarms: Sequence[str]) -> None:
        self.design = design
        self.done, self.operation, self.alarms = done, operation, alarms
        self.words = design.words
        self.writer = Writer(design.words)
        self.written = {port.memory for port in design.writes}
        self.names = {name: f"mem{i}" for i, name in enumerate(design.memories)}

    def members(self) -> Iterator[str]:
        """Write the memories as parts of the state, and the operation counter's last value."""
        yield from self._seen()
        yield "  M undefined;  // machines that select what is undefined"
        yield "  M beyond;  // machines that have written behind the words in use"
        yield f"  uint64_t used[{max(1, len(self.design.memories))}];  // words in use, by memory"
        for memory in self.design.memories.values():
            name = self.names[memory.name]
            if memory.name in self.written:
                layout = "by word" if _mixed(memory) else "by machine"
                yield f"  uint64_t* {name};  // {memory.path}, {layout}"
            else:
                yield f"  const uint64_t* {name};  // {memory.path}, one for all"

    def _place(self, memory: Memory, address: str, limb: int) -> str:
        """Return where a word's limb of machine l lies."""
        limbs, name = _limbs(memory), f"s.{self.names[memory.name]}"
        word = f"size_t{{{address}}} * {limbs} + {limb}" if limbs > 1 else f"size_t{{{address}}}"
        if memory.name not in self.written:
            return f"{name}[{word}]"
        if _mixed(memory):
            return f"{name}[({word}) * kMachines + l]"
        return f"{name}[l * size_t{{{memory.size * limbs}}} + {word}]"

    def reads(self) -> list[str]:
        """Write the read ports."""
        lines = []
        for number, (port, pieces) in enumerate(self.design.reads):
            memory = self.design.memories[port.memory]
            parameters = ", ".join(f"{type_of(p.width)}& y{i}" for i, p in enumerate(pieces))
            lines.append(
                f"template <class S> INLINE void read{number}_(S& s, M {LIVE}, const V32& address, "
                f"{parameters}) {{"
            )
            for i, piece in enumerate(pieces):
                if piece.width == 1:
                    lines.append(f"  M m{i} = 0;")
            lines.append(f"  for (M left = {LIVE}; left; left &= left - 1) {{")
            lines.append("    const int l = __builtin_ctz(left);")
            lines.append(
                "    const uint32_t a = elements(address)[l]"
                + (f" - {memory.first}u;" if memory.first else ";")
            )
            lines.append(f"    const bool inside = a < {memory.size}u;")
            for i, piece in enumerate(pieces):
                value = self._stored(memory, piece)
                if piece.width == 1:
                    lines.append(f"    m{i} |= static_cast<M>(inside ? {value} & 1 : 0) << l;")
                else:
                    kind = f"uint{element_bits(piece.width)}_t"
                    cut = f" & {literal(ones(piece.width))}" if piece.width not in (8, 16, 32, 64) else ""
                    lines.append(f"    elements(y{i})[l] = inside ? static_cast<{kind}>({value}{cut}) : 0;")
            lines.append("  }")
            lines += [f"  y{i} = m{i};" for i, piece in enumerate(pieces) if piece.width == 1]
            lines.append("}")
            lines.append(f"#define read{number}(...) read{number}_(s, __VA_ARGS__)")
        return lines

    def _stored(self, memory: Memory, piece: Piece) -> str:
        limb, shift = divmod(piece.first, 64)
        low = self._place(memory, "a", limb)
        if shift == 0:
            return low
        if shift + piece.width <= 64:
            return f"({low} >> {shift})"
        return f"({low} >> {shift} | {self._place(memory, 'a', limb + 1)} << {64 - shift})"

    def write(self, number: int, port: Port) -> Iterator[str]:
        """Write a write port."""
        memory = self.design.memories[port.memory]
        groups: dict[Bit, int] = defaultdict(int)
        for i, bit in enumerate(port.enable):
            groups[bit] |= 1 << i
        groups.pop("0", None)
        groups.pop("x", None)
        yield f"__attribute__((noinline)) void write{number}(State& s) {{"
        names = []
        for i, bit in enumerate(groups):
            yield f"  const M e{i} = {self.writer.mask(bit)};"
            names.append(f"e{i}")
        yield f"  for (M left = {' | '.join(names)}; left; left &= left - 1) {{"
        yield "    const int l = __builtin_ctz(left);"
        yield f"    const uint64_t given = static_cast<uint64_t>({self.writer.lane(port.address)});"
        yield f"    const uint64_t a = given - {memory.first};"
        yield f"    if (a >= {memory.size}) continue;"
        yield f"    if (a >= s.used[{list(self.names).index(memory.name)}]) s.beyond |= M{{1}} << l;"
        for limb in range(_limbs(memory)):
            bits = port.data[64 * limb : 64 * limb + 64]
            masks = [(f"e{i}", m >> (64 * limb) & ones(64)) for i, m in enumerate(groups.values())]
            chosen = " | ".join(
                f"(e{i} >> l & 1 ? {literal(m)} : 0)"
                for (n, m), i in zip(masks, range(len(masks)), strict=True)
                if m
            )
            if not chosen:
                continue
            place = self._place(memory, "a", limb)
            yield f"    {{ const uint64_t m = {chosen};"
            yield f"      uint64_t& word = {place};"
            yield f"      word = (word & ~m) | (static_cast<uint64_t>({self.writer.lane(bits)}) & m); }}"
        yield "  }"
        yield "}"

    def tables(self) -> Iterator[str]:
        """Write where registers and memories lie, the inputs, and the ports."""
        yield "struct PiecePlace { uint64_t offset; uint32_t size; uint32_t width; };"
        yield "static const PiecePlace kPieces[] = {"
        for f in self.design.flip_flops:
            size = 0 if f.piece.width == 1 else element_bits(f.piece.width) // 8
            yield f"  {{offsetof(State, p{f.piece.number}), {size}, {f.piece.width}}},"
        yield "};"
        yield "enum Layout : uint32_t { kShared, kMixed, kApart };"
        yield "struct MemoryPlace { uint64_t offset; uint64_t words; uint32_t limbs; Layout layout; };"
        yield "static const MemoryPlace kMemories[] = {"
        for memory in self.design.memories.values():
            layout = (
                "kShared" if memory.name not in self.written else "kMixed" if _mixed(memory) else "kApart"
            )
            name, limbs = self.names[memory.name], _limbs(memory)
            yield f"  {{offsetof(State, {name}), {memory.size}, {limbs}, {layout}}},"
        yield "};"
        yield "namespace {"
        yield "void set_inputs(State& s) {"
        for name, value in self.design.inputs.items():
            yield from (f"  {name_of(p)} = {'~M{0}' if value else 'M{0}'};" for p in self.words.inputs[name])
        yield "}"
        yield "}  // namespace"
        yield from self._ports()

    def _ports(self) -> Iterator[str]:
        """Write what is looked at from outside after each edge."""
        outputs = self.design.outputs
        yield "namespace {"
        yield f"M done(const State& s) {{ return {self.writer.any_of(outputs[self.done])}; }}"
        counter = self.words.runs(outputs[self.operation]) if self.operation else []
        yield "M moved(State& s) {"
        yield "  M m = 0;"
        for i, run in enumerate(r for r in counter if r.piece):
            assert run.piece
            now = name_of(run.piece)
            if run.piece.width == 1:
                yield f"  m |= {now} ^ s.seen{i};"
            else:
                yield f"  m |= ~equal({now}, s.seen{i});"
            yield f"  s.seen{i} = {now};"
        yield "  return m;"
        yield "}"
        yield "M alarms(const State& s, const LanesWatch* watch, uint32_t* up) {"
        yield "  M any = 0;"
        for i, name in enumerate(self.alarms):
            yield f"  any |= up[{i}] = {self.writer.any_of(outputs[name])} & watch->alarms[{i}];"
        yield "  return any;"
        yield "}"
        number = self.writer.lane(outputs[self.operation]) if self.operation else "0"
        yield f"uint64_t operation(const State& s, int l) {{ return static_cast<uint64_t>({number}); }}"
        yield "}  // namespace"

    def _seen(self) -> Iterator[str]:
        """Write the operation counter's last value, as part of the state."""
        runs = self.words.runs(self.design.outputs[self.operation]) if self.operation else []
        for i, run in enumerate(r for r in runs if r.piece):
            assert run.piece
            yield f"  {type_of(run.piece.width)} seen{i};"


def _limbs(memory: Memory) -> int:
    return -(-memory.width // 64)


def _mixed(memory: Memory) -> bool:
    return memory.size * _limbs(memory) * 8 * LANES <= INTERLEAVED
