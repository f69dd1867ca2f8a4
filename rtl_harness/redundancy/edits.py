# SPDX-License-Identifier: Apache-2.0
"""Edits of the source around netlists: modules in place of those of the source, ports for the alarms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy.lockstep import Lockstep
from resil.rtl_harness.redundancy.places import MAJOR, MINOR, SourceDesign
from resil.rtl_harness.redundancy.source_text import SourceText
from resil.rtl_harness.redundancy.watchdog import DONE, INSTANCE, MODULE, OPERATION, Timer

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


_WATCHDOG = """
  assign resil_minor[{bit}] = 1'b0;
  {module} #(
    .Width({width}),
    .Limit({limit})
  ) {instance} (
    .clk_i      ({clock}),
    .rst_ni     ({reset}),
    .operation_i({operation}),
    .done_i     ({done}),
    .expired_o  (resil_major[{bit}])
  );
"""


def edit_sources(
    design: SourceDesign,
    netlists: Mapping[str, str],
    clocking: Callable[[], tuple[str, str, bool]],
    timer: Timer | None = None,
    in_lockstep: Sequence[Lockstep] = (),
) -> tuple[list[Path], list[str]]:
    """Edit the texts of a design: netlists take their places, and their alarms are led to the top.

    In the design under test a register keeps them, unless it is a netlist itself, which has its own.

    Args:
        design: Whose texts are changed.
        netlists: Module for each instance.
        clocking: Gives the ports of the design under test that carry clock and reset, and whether that is
            active low.
        timer: Watchdog that the design under test is given; a netlist in its place has it already.
        in_lockstep: Instances that are given a copy beside them.

    Returns:
        Sources that were edited, and the instance that each bit of the alarms stands for.

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
    beside: dict[str, list[Lockstep]] = defaultdict(list)
    for own in in_lockstep:
        beside[design.parent(own.path)].append(own)
    for holder in beside:
        for inner, around in pairwise([holder, *design.chain(holder)]):
            if inner not in below[around]:
                below[around].append(inner)
    for holder in beside:
        below.setdefault(holder, [])
    if timer is not None:
        for inner, around in pairwise([dut, *design.chain(dut)]):
            if inner not in below[around]:
                below[around].append(inner)
    alarms = [dut]
    if dut not in netlists:
        alarms = [*below[dut], *([f"{dut}.{INSTANCE}"] if timer else [])]
        alarms += [own.path for own in beside.get(dut, ())]
    edited: dict[Path, None] = {}
    for around, children in below.items():
        holder = design.instances[around].module
        file = design.file_of(holder)
        inside = around == dut or around.startswith((f"{dut}.", f"{dut}["))
        first = len(children) + bool(timer and around == dut)
        led = timer if not inside else None
        width = first + len(beside.get(around, ()))
        _edit(design.texts[file], design, around, children, netlists, inside, width, led)
        for bit, copied in enumerate(beside.get(around, ()), start=first):
            design.texts[file].add_at_end(holder, copied.text.replace("{bit}", str(bit)))
        if around == dut:
            clock, reset, low = clocking()
            alert = _ALERT.format(
                width=len(alarms),
                clock=clock,
                reset=reset if low else f"!{reset}",
                minor=MINOR,
                major=MAJOR,
            )
            if timer is not None:
                alert += _WATCHDOG.format(
                    bit=len(children),
                    module=MODULE,
                    instance=INSTANCE,
                    width=timer.width,
                    limit=timer.limit,
                    clock=clock,
                    reset=reset if low else f"!{reset}",
                    operation=OPERATION,
                    done=DONE,
                )
            design.texts[file].add_at_end(holder, alert)
        elif inside:
            joined = f"  assign {MINOR} = |resil_minor;\n  assign {MAJOR} = |resil_major;\n"
            design.texts[file].add_at_end(holder, joined)
        width = len(alarms) if around == dut or not inside else 1
        kind = f"logic [{width - 1}:0]" if width > 1 else "logic"
        ports = f"  output {kind} {MINOR},\n  output {kind} {MAJOR}"
        if timer is not None and around and (not inside or around == dut):
            ports = f"{timer.ports},\n{ports}"
        design.texts[file].add_ports(holder, ports)
        edited[file] = None
    if len({file.name for file in edited}) < len(edited):
        raise HarnessError(
            f"target {design.target.name}: sources: expected different file names of "
            f"{', '.join(map(str, edited))}, whose copies go to one folder; rename one",
            "sources",
        )
    return list(edited), alarms


def _edit(
    text: SourceText,
    design: SourceDesign,
    around: str,
    children: list[str],
    netlists: Mapping[str, str],
    inside: bool,
    bits: int,
    led: Timer | None,
) -> None:
    """Connect the alarms of instances in a module, and what a watchdog below looks at."""
    holder = design.instances[around].module
    for bit, child in enumerate(children):
        instance = design.instances[child]
        nets = (f"resil_minor[{bit}]", f"resil_major[{bit}]") if inside else (MINOR, MAJOR)
        connections = f"    .{MINOR}({nets[0]}),\n    .{MAJOR}({nets[1]})"
        if led is not None:
            seen = (OPERATION, DONE) if around else (design.target.operation, design.target.done)
            connections = f"    .{OPERATION}({seen[0]}),\n    .{DONE}({seen[1]}),\n{connections}"
        module = netlists.get(child, instance.module)
        text.change_instance(holder, instance.module, instance.name, module, connections)
    if inside:
        declared = f"  logic [{bits - 1}:0] resil_minor, resil_major;  // alarms of these instances\n"
        text.add_at_begin(holder, declared)
