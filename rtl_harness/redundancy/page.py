# SPDX-License-Identifier: Apache-2.0
"""What a folder of protected RTL says of itself: a page for people, and constraints for synthesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.redundancy.built import BuiltRtl
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.watchdog import DONE, INSTANCE, OPERATION, Timer

_WORDS = {
    Mechanism.HARDENED: "hardened cells, by constraint",
    Mechanism.PARITY: "parity, detects",
    Mechanism.DUPLICATION: "duplication with compare, detects",
    Mechanism.TRIPLICATION: "triplication with vote, corrects and reports",
    Mechanism.MEMORY_PARITY: "parity on memories, detects",
    Mechanism.LOCKSTEP: "lockstep with compared outputs, detects",
    Mechanism.SECDED: "SECDED on memories, corrects one bit of a word, detects two",
}
_TCL = """\
# Constraints for the synthesis of {name}; written by resil. Names are below the design under test.

# Copies, voters and comparators: synthesis must neither merge, move nor remove them.
set resil_redundant {{
{redundant}}}

# Registers for hardened flip-flops: its name as synthesis has it, leftmost and rightmost bit.
set resil_hardened {{
{hardened}}}

foreach path $resil_redundant {{
  set_dont_touch [get_cells -hierarchical -filter "full_name =~ *$path"]
}}

# Define resil_harden before this file is sourced: it is given the cell of each bit, and chooses the library's
# hardened flip-flop for it, whose name resil cannot know.
foreach {{path left right}} $resil_hardened {{
  for {{set bit [expr {{min($left, $right)}}]}} {{$bit <= max($left, $right)}} {{incr bit}} {{
    resil_harden [get_cells -hierarchical -filter "full_name =~ *$path\\[$bit\\]"]
  }}
}}
"""


def constraints_text(target: Target, built: BuiltRtl) -> str:
    """Return the constraints for synthesis, as Tcl."""
    redundant = "".join(f"  {_below(target, r.path)}\n" for r in built.registers)
    redundant += "".join(f"  {_below(target, d)}\n" for m in built.memories for d in m.decoders)
    redundant += f"  {INSTANCE}\n" if built.timer else ""
    redundant += "".join(
        f"  {_below(target, path)}\n" for own in built.locksteps for path in (own.copy, own.compare)
    )
    rows = "".join(f"  {{{_cell(target, c.path)}}} {c.left} {c.right}\n" for c in built.constrained)
    return _TCL.format(name=target.name, redundant=redundant, hardened=rows)


def _below(target: Target, path: str) -> str:
    return path.removeprefix(f"{target.dut}.").replace(".", "/")


def _cell(target: Target, path: str) -> str:
    """Return the name that synthesis gives a register: "_reg" behind it, before the indices of an array."""
    around, dot, name = path.rpartition(".")
    name, bracket, indices = name.partition("[")
    return _below(target, f"{around}{dot}{name}_reg{bracket}{indices}")


def page_text(target: Target, built: BuiltRtl) -> str:
    """Return the page, as Markdown."""
    lines = [f"# {target.name} with protection", "", *_summary(built)]
    if built.netlists:
        lines += _netlists(built)
    if built.alarms:
        lines += _alarms(built)
    if built.locksteps:
        rows = [
            f"| `{own.path}` | `{own.group}` | {own.bits:,} | `{own.copy}` | `{own.compare}` |"
            for own in built.locksteps
        ]
        columns = ["block", "group", "bits", "copy", "comparator"]
        lines += _table("Blocks in lockstep", columns, rows)
    if built.timer:
        lines += _watchdog(target, built.timer)
    if built.registers:
        lines += _registers(built)
    if built.memories:
        lines += _memories(built)
    if built.hardened:
        rows = [f"| `{p.name}` | `{p.group.path}` | {p.bits} |" for p in built.hardened]
        lines += _table("Registers for hardened flip-flops", ["register", "group", "bits"], rows)
    if built.left_out:
        rows = [f"| `{found.path}` | {found.bits:,} | {found.reason} |" for found in built.left_out]
        lines += _table("Not protected, though in a protected block", ["storage", "bits", "why"], rows)
    return "\n".join(lines).rstrip() + "\n"


def _table(title: str, columns: Sequence[str], rows: Sequence[str]) -> list[str]:
    head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return [*([f"## {title}", ""] if title else []), *head, *rows, ""]


def _summary(built: BuiltRtl) -> list[str]:
    bits: Counter[Mechanism] = Counter()
    for register in built.registers:
        bits[register.mechanism] += register.bits
    for memory in built.memories:
        bits[memory.mechanism] += memory.bits
    for own in built.locksteps:
        bits[Mechanism.LOCKSTEP] += own.bits
    for piece in built.hardened:
        bits[Mechanism.HARDENED] += piece.bits
    return [
        *_table("", ["mechanism", "bits"], [f"| {_WORDS[m]} | {bits[m]:,} |" for m in bits]),
        "`target.toml` is the target file, `constraints.tcl` is for synthesis, `rtl/` holds what is new or "
        "changed; all else is the source code, where it was. That the protection does what it should is "
        "*not* confirmed by injection here: `resil protect --verify` injects into it, and what came of that "
        "stands in `confirmation.json`. Campaigns of your own take `target.toml`.",
        "",
        "Hardened flip-flops upset as others do in this RTL: only the constraint names them.",
        "",
    ]


def _netlists(built: BuiltRtl) -> list[str]:
    rows = [f"| `{path}` | `{module}` |" for path, module in built.netlists.items()]
    ports = ", ".join(f"`{file.name}`" for file in built.edited)
    return [*_table("Netlists", ["instance", "module"], rows), f"Given ports for the alarms: {ports}.", ""]


def _watchdog(target: Target, timer: Timer) -> list[str]:
    return [
        "## Watchdog on operations",
        "",
        f"`{INSTANCE}` raises the major alarm when `{target.operation}` has stood still for {timer.limit:,} "
        f"cycles while `{target.done}` is 0. The limit is a parameter of its instance. *A network with an "
        "operation, or with time before its first or after its last, of that many cycles raises a false "
        "alarm*: run each once without a fault. Time between two inferences counts, too. It takes both "
        "outputs from the bench: connect your own counter of finished operations, and what says that "
        f"nothing runs, to the ports `{OPERATION}` and `{DONE}` of the design under test.",
        "",
    ]


def _alarms(built: BuiltRtl) -> list[str]:
    rows = [f"| {bit} | `{path}` |" for bit, path in enumerate(built.alarms)]
    alarms = "`alert_minor_o`: an error was corrected. `alert_major_o`: one was found. Both stay until reset."
    return ["## Alarms", "", alarms, "", *_table("", ["bit", "instance"], rows)]


def _registers(built: BuiltRtl) -> list[str]:
    columns = ["registers", "group", "mechanism", "bits", "instance"]
    rows = [
        f"| {', '.join(f'`{name}`' for name in r.names)} | `{r.group}` | {r.mechanism} | {r.bits} | "
        f"`{r.path}` |"
        for r in built.registers
    ]
    return _table("Redundant registers", columns, rows)


_CODES = (
    "What is written by itself has a code word of its own, so no write has to read first: more check bits "
    "than for the whole word, and no cycle. Words are decoded in the cycle in which they are read. What was "
    "corrected stays wrong in the memory until the word is written again.",
    "",
    "The code of zeros is zero: memories that begin as zeros, as in simulation, raise no alarm. *Silicon "
    "begins with anything: every word must be written, and one read through each port, before reset is "
    "released* (a built-in self test of the memories does both), else what was never written raises alarms.",
    "",
)


def _memories(built: BuiltRtl) -> list[str]:
    columns = [
        "memory",
        "group",
        "mechanism",
        "words",
        "data bits of the code words",
        "check bits",
        "latches",
    ]
    rows = [
        f"| `{m.element}` | `{m.group}` | {m.mechanism} | {m.words} | {' + '.join(map(str, m.parts))} | "
        f"{m.check_bits:,} | {', '.join(f'`{path}`' for path in m.latches) or '-'} |"
        for m in built.memories
    ]
    return ["## Memories with codes", "", *_CODES, *_table("", columns, rows)]
