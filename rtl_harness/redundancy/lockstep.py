# SPDX-License-Identifier: Apache-2.0
"""Lockstep: a second instance of a block beside it, fed by the same inputs, its outputs compared."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.yosys import read_commands, run_yosys
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy.groups import GroupError, ProtectionGroup
from resil.rtl_harness.redundancy.modules import ModuleInstance
from resil.rtl_harness.redundancy.places import SourceDesign, obstacle_around
from resil.rtl_harness.redundancy.source_text import NotEditableError

MODULE = "resil_compare"
_COPY, _COMPARE, _OUTPUT = "resil_{}_copy", "resil_{}_compare", "resil_{}_{}"
_INSTANCES = """
{wires}
  // In lockstep with {name}: synthesis must not take the two for one.
  (* keep_hierarchy *) {copy};
  {module} #(
    .Width($bits({{{outputs}}}))
  ) {compare} (
    .a_i     ({{{outputs}}}),
    .b_i     ({{{copies}}}),
    .differ_o(resil_major[{bit}])
  );
  assign resil_minor[{bit}] = 1'b0;
"""
_CHECK = """
module resil_check #(
  parameter int unsigned Width = 1
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic             bad_o
);
  logic differ;
  resil_compare #(.Width(Width)) u_dut (.a_i, .b_i, .differ_o(differ));
  assign bad_o = differ != |(a_i ^ b_i);
endmodule
"""


@dataclass(frozen=True, slots=True)
class Lockstep:
    """A block that runs in lockstep with a copy.

    Attributes:
        path: Of its instance below the top.
        copy: Of the copy's, beside it.
        compare: Of the comparator's.
        bits: Storage bits that it has.
        group: That asked for it.
        compared: Its outputs that something is connected to.
        text: What makes copy and comparator, but for the bit of the alarms, `{bit}`.
    """

    path: str
    copy: str
    compare: str
    bits: int
    group: str
    compared: tuple[str, ...] = ()
    text: str = ""

    def copied(self, path: str) -> str:
        """Return the path that storage of the block has in the copy."""
        return f"{self.copy}{path.removeprefix(self.path)}"


def blocks_that_can_be_copied(target: Target) -> frozenset[str]:
    """Return the blocks of the target's block map that are one instance each, with no other block in it."""
    every = [path for paths in target.blocks.values() for path in paths]
    return frozenset(
        block
        for block, paths in target.blocks.items()
        if _one_instance(target, paths) and not any(path.startswith(f"{paths[0]}.") for path in every)
    )


def _one_instance(target: Target, paths: Sequence[str]) -> bool:
    return len(paths) == 1 and paths[0].startswith(f"{target.dut}.")


def instance_paths(target: Target, groups: Sequence[ProtectionGroup]) -> dict[str, str]:
    """Return the instances that groups ask to run in lockstep, with the groups' paths.

    Raises:
        GroupError: A group is no single instance below the design under test.
    """
    found: dict[str, str] = {}
    for group in groups:
        paths = target.blocks.get(group.path, (group.path,))
        if not _one_instance(target, paths):
            raise GroupError(
                group.path, f"lockstep copies one instance below {target.dut}, found {', '.join(paths)}"
            )
        if paths[0] in found:
            raise GroupError(group.path, f"{paths[0]} is in lockstep for {found[paths[0]]} already")
        found[paths[0]] = group.path
    return found


def locksteps(
    design: SourceDesign, wanted: Mapping[str, str], elaboration: Elaboration, netlists: Sequence[str]
) -> list[Lockstep]:
    """Return what will run in lockstep.

    Args:
        design: As its source code has it.
        wanted: From `instance_paths`.
        elaboration: Its storage.
        netlists: Instances that become netlists.

    Raises:
        GroupError: An instance cannot be copied in the source code, or has other protection inside.
    """
    found = []
    for path, group in wanted.items():
        if path not in design.instances:
            raise GroupError(group, f"lockstep copies an instance, {path} is none")
        others = [other for other in (*netlists, *wanted) if other != path]
        if inside := [other for other in (*netlists, *others) if f"{other}.".startswith(f"{path}.")]:
            raise GroupError(group, f"{inside[0]} in it has other protection; choose one of the two")
        if around := [other for other in others if path.startswith((f"{other}.", f"{other}["))]:
            raise GroupError(group, f"lies in {around[0]}, which has other protection; choose one of the two")
        if why := obstacle_around(design, path):
            raise GroupError(group, f"no copy can be put beside {path}: {why}")
        bits = sum(e.bits for e in elaboration.sites.elements if e.path.startswith(f"{path}."))
        holder, _, name = path.rpartition(".")
        names = (f"{holder}.{_COPY.format(name)}", f"{holder}.{_COMPARE.format(name)}")
        found.append(_with_text(design, Lockstep(path, *names, bits, group)))
    return found


def _with_text(design: SourceDesign, own: Lockstep) -> Lockstep:
    """Add what makes copy and comparator in the module around a block.

    Raises:
        GroupError: The text of the instance is of a kind that cannot be copied.
    """
    instance, holder = design.instances[own.path], design.instances[design.parent(own.path)].module
    text = design.texts[design.file_of(holder)]
    if odd := [port for port, way in instance.directions.items() if way not in {"In", "Out"}]:
        raise GroupError(own.group, f"{own.path}: its port {odd[0]} is neither input nor output")
    try:
        before, connections = text.instance_parts(
            holder, instance.module, instance.name, [*instance.directions]
        )
    except NotEditableError as error:
        raise GroupError(own.group, str(error)) from error
    compared, outputs, copies, wires, pins = [], [], [], [], []
    for pin, expression in connections.items():
        if instance.directions.get(pin) == "Out":
            if not expression:
                pins.append(f".{pin}()")
                continue
            wire = _OUTPUT.format(instance.name, pin)
            wires.append(f"  logic [$bits({expression})-1:0] {wire};")
            compared.append(pin)
            outputs.append(expression)
            copies.append(wire)
            expression = wire
        pins.append(f".{pin}({expression})")
    if not outputs:
        raise GroupError(own.group, f"{own.path} has no outputs that could be compared")
    joined = ",\n    ".join(pins)
    made = _INSTANCES.format(
        wires="\n".join(wires),
        name=instance.name,
        copy=f"{before}{own.copy.rpartition('.')[2]} (\n    {joined}\n  )",
        module=MODULE,
        compare=own.compare.rpartition(".")[2],
        outputs=", ".join(outputs),
        copies=", ".join(copies),
        bit="{bit}",
    )
    return replace(own, compared=tuple(compared), text=made)


def check_locksteps(
    target: Target,
    elaboration: Elaboration,
    found: Sequence[Lockstep],
    instances: Mapping[str, ModuleInstance],
) -> int:
    """Check that each copy sees what its block sees, and that all outputs are compared, bit by bit.

    And prove of each comparator's width that it reports any difference, and of nothing else.

    Args:
        target: The protected design.
        elaboration: Its storage, with what is hardware.
        found: What runs in lockstep.
        instances: Of the source, for directions of ports.

    Returns:
        How many proofs there were.

    Raises:
        HarnessError: A copy sees something else, was merged or lost, or an output is not compared.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        read = read_commands(target, elaboration.parameters, [], work)
        # What both see may be written out for each: merged, it is one net.
        script = [*read, "flatten", "opt_merge", "opt_clean", "write_json flat.json"]
        run_yosys(script, work, f"lockstep of {target.name}")
        wires = json.loads((work / "flat.json").read_text(encoding="utf-8"))["modules"][target.top][
            "netnames"
        ]
    widths = {_check_wires(own, wires, instances[own.path].directions) for own in found}
    for own in found:
        _check_storage(elaboration, own)
    for width in sorted(widths):
        _prove(target, width)
    return len(widths)


def _check_wires(own: Lockstep, wires: Mapping[str, Any], directions: Mapping[str, str]) -> int:
    """Check what the copy sees and what is compared; return the comparator's width."""
    a_bits, b_bits = (_bits(wires, f"{own.compare}.{pin}") for pin in ("a_i", "b_i"))
    compared = set(zip(a_bits, b_bits, strict=False))
    for port, direction in directions.items():
        a, b = (_bits(wires, f"{path}.{port}") for path in (own.path, own.copy))
        if direction == "In" and a != b:
            raise HarnessError(
                f"{own.copy}.{port}: expected what {own.path} sees, found something else: the copy is not in "
                "lockstep; do not use this RTL",
                f"{own.copy}.{port}",
            )
        if port not in own.compared:
            continue
        for bit, pair in enumerate(list(zip_longest(a, b)) or [(None, None)]):
            if pair not in compared and not (pair[0] == pair[1] and isinstance(pair[0], str)):
                raise HarnessError(
                    f"{own.compare}: expected that it compares {own.path}.{port}[{bit}] with the copy's, "
                    "found that it does not; do not use this RTL",
                    own.compare,
                )
    return len(a_bits)


def _bits(wires: Mapping[str, Any], path: str) -> list[Any]:
    """Return the nets of a wire; nothing if nothing reads it."""
    found: list[Any] = wires[path]["bits"] if path in wires else []
    return found


def _check_storage(elaboration: Elaboration, own: Lockstep) -> None:
    """Check that synthesis leaves of the copy what it leaves of the block, and merges neither."""
    sites = elaboration.sites
    gone = {site: run for run in sites.absent for site in range(run.first, run.end)}
    found = {element.path: index for index, element in enumerate(sites.elements)}
    inside = {path: index for path, index in found.items() if path.startswith(f"{own.path}.")}
    for path, index in inside.items():
        twin = own.copied(path)
        if twin not in found:
            raise HarnessError(f"{twin}: expected storage of the copy, found none; do not use this RTL", twin)
        first, other = sites.offsets[index], sites.offsets[found[twin]]
        for bit in range(sites.elements[index].bits):
            of_block, of_copy = (
                gone[site].hardware if site in gone else Hardware.KEPT for site in (first + bit, other + bit)
            )
            if of_block is not of_copy:
                raise HarnessError(
                    f"{sites[other + bit].name}: expected {of_block.value} after synthesis, as "
                    f"{sites[first + bit].name} is, found {of_copy.value}; keep (* keep_hierarchy *) on it"
                )


def _prove(target: Target, width: int) -> None:
    source = next(path for path in target.sources if path.name == f"{MODULE}.sv")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "check.sv").write_text(_CHECK, encoding="utf-8")
        (work / "check.f").write_text(f'"check.sv"\n"{source}"\n', encoding="utf-8")
        script = [
            f"read_slang -f check.f --top resil_check -G Width={width}",
            *("proc", "flatten", "opt_clean", "sat -prove bad_o 0 resil_check"),
        ]
        log = run_yosys(script, work, f"reading {MODULE}")
        if "SAT proof finished - no model found: SUCCESS!" not in log:
            raise HarnessError(
                f"{MODULE}: expected of {width} bits that it reports every difference, and of nothing else; "
                "that could not be proven, do not use this RTL",
                MODULE,
            )
