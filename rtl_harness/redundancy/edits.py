"""Edits of the source around netlists: modules in place of those of the source, ports for the alarms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from rtl_harness.errors import HarnessError
from rtl_harness.redundancy.places import MAJOR, MINOR, Design
from rtl_harness.redundancy.source_text import SourceText

_ALERT = """
  resil_alert #(
    .Width({width})
  ) u_resil_alert (
    .clk_i        ({clock}),
    .rst_ni       ({reset}),
    .minor_i      (resil_minor),
    .major_i      (resil_major),
    .{minor}({minor}),
    .{major}({major})
  );
"""


def edit_sources(
    design: Design, netlists: Mapping[str, str], clocking: Callable[[], tuple[str, str, bool]]
) -> tuple[list[Path], list[str]]:
    """Edit the texts of a design: netlists take their places, and their alarms are led to the top.

    In the design under test a register keeps them, unless it is a netlist itself, which has its own.

    Args:
        design: Whose texts are changed.
        netlists: Module for each instance.
        clocking: Gives the ports of the design under test that carry clock and reset, and whether that is
            active low.

    Returns:
        Sources that were edited, and the instance that each bit of the alarms tells of.

    Raises:
        HarnessError: Two edited sources have one name.
    """
    below: dict[str, list[str]] = defaultdict(list)
    for top in netlists:
        path = top
        for around in design.chain(top):
            if path not in below[around]:
                below[around].append(path)
            path = around
    dut = design.target.dut
    alarms = [dut] if dut in netlists else below[dut]
    edited: dict[Path, None] = {}
    for around, children in below.items():
        holder = design.instances[around].module
        file = design.file_of(holder)
        inside = around == dut or around.startswith((f"{dut}.", f"{dut}["))
        _edit(design.texts[file], design, around, children, netlists, inside)
        if around == dut:
            clock, reset, low = clocking()
            alert = _ALERT.format(
                width=len(children),
                clock=clock,
                reset=reset if low else f"!{reset}",
                minor=MINOR,
                major=MAJOR,
            )
            design.texts[file].add_at_end(holder, alert)
        elif inside:
            joined = f"  assign {MINOR} = |resil_minor;\n  assign {MAJOR} = |resil_major;\n"
            design.texts[file].add_at_end(holder, joined)
        width = len(alarms) if around == dut or not inside else 1
        kind = f"logic [{width - 1}:0]" if width > 1 else "logic"
        design.texts[file].add_ports(holder, f"  output {kind} {MINOR},\n  output {kind} {MAJOR}")
        edited[file] = None
    if len({file.name for file in edited}) < len(edited):
        raise HarnessError(
            f"target {design.target.name}: sources: expected different file names of "
            f"{', '.join(map(str, edited))}, whose copies go to one folder; rename one"
        )
    return list(edited), alarms


def _edit(
    text: SourceText,
    design: Design,
    around: str,
    children: list[str],
    netlists: Mapping[str, str],
    inside: bool,
) -> None:
    """Connect the alarms of instances in a module."""
    holder = design.instances[around].module
    for bit, child in enumerate(children):
        instance = design.instances[child]
        nets = (f"resil_minor[{bit}]", f"resil_major[{bit}]") if inside else (MINOR, MAJOR)
        connections = f"    .{MINOR}({nets[0]}),\n    .{MAJOR}({nets[1]})"
        module = netlists.get(child, instance.module)
        text.change_instance(holder, instance.module, instance.name, module, connections)
    if inside:
        declared = (
            f"  logic [{len(children) - 1}:0] resil_minor, resil_major;  // alarms of these instances\n"
        )
        text.add_at_begin(holder, declared)
