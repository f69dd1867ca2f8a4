# SPDX-License-Identifier: Apache-2.0
"""What a design looks like: its files, ports and hierarchy, and what can be proposed from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resil.proposal.parameters import listed_values, recorded_values, require_decided
from resil.proposal.signals import Alarm, Reset, find_alarms, find_clocks, find_resets
from resil.rtl_harness.design.file_list import FileList, named_parameter, read_file_lists
from resil.rtl_harness.design.parameter_values import ParameterValue, parameters_of
from resil.rtl_harness.design.reaching_names import read_for_synthesis
from resil.rtl_harness.design.slang import SlangSources
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.buses import Bus, find_buses
from resil.rtl_harness.replay.ports import TopPort, ports_of
from resil.rtl_harness.replay.recording import fields_of
from resil.rtl_harness.replay.waves import Signal, Waves

# An unpacked array of so many bits is taken for an SRAM, as elaboration does.
SRAM_FROM = 1024
_MOST_BLOCKS = 24


@dataclass(frozen=True)
class Array:
    """An unpacked array.

    Attributes:
        path: Below the top.
        words: How many.
        width: Bits of a word.
    """

    path: str
    words: int
    width: int


@dataclass(frozen=True)
class OwnDesign:
    """A design of a user's own, as it was read.

    Attributes:
        top: Module.
        files: Of which it is made, packages before who uses them.
        listed: What the file lists say.
        parameters: Of the top, where lists, the command line or the recording give them.
        ports: Of the top.
        blocks: Instances right below the top, by the name of a block.
        arrays: Unpacked arrays of some size.
        clocks: The one that makes the cycles first.
        same_clocks: Clock inputs of interfaces, as it seems: they are connected to the first.
        resets: All that were found.
        alarms: Outputs that may report a fault.
        buses: Among the ports.
        usual: Outputs among the alarms' that rise in the recording, which no fault is in.
        remarks: What a person should know.
    """

    top: str
    files: tuple[Path, ...]
    listed: FileList
    parameters: Mapping[str, ParameterValue]
    ports: tuple[TopPort, ...]
    blocks: Mapping[str, str]
    arrays: tuple[Array, ...]
    clocks: tuple[TopPort, ...]
    same_clocks: tuple[TopPort, ...]
    resets: tuple[Reset, ...]
    alarms: tuple[Alarm, ...]
    buses: tuple[Bus, ...]
    usual: tuple[str, ...]
    remarks: tuple[str, ...]


def read_own_design(
    top: str, lists: Sequence[Path], waves: Path | None, instance: str, parameters: Sequence[str] = ()
) -> OwnDesign:
    """Read a design and, if there is one, a recording of it.

    Args:
        top: Its top module.
        lists: File lists.
        waves: A recording; None without one.
        instance: Where the top is in it.
        parameters: Of the top, NAME=VALUE each, before those of the lists. Values that the recording has go
            where none of these is.

    Raises:
        HarnessError: It cannot be read, has no clock that can be found, the recording is not of it, or a list
            gives a parameter of the top's name to another module.
    """
    listed = read_file_lists(lists)
    asked = dict(named_parameter(own, "-G", "-G") for own in parameters)
    of_top, of_others = listed_values(listed, top)
    values = {**of_top, **asked}
    given = SlangSources(
        tuple(listed.sources),
        tuple(listed.include_dirs),
        listed.defines,
        tuple(listed.libraries),
        tuple(listed.library_dirs),
        tuple(listed.suffixes),
    )
    read, chosen, reaching = read_for_synthesis(top, top, given, values)
    own_waves = None if waves is None else Waves(waves)
    from_waves: dict[str, ParameterValue] = {}
    decided = {*asked}
    if own_waves is not None:
        from_waves = recorded_values(own_waves, instance, parameters_of(read.top), values)
        decided |= {*own_waves.constants(instance, [own.name for own in parameters_of(read.top)])}
    if from_waves:
        values |= from_waves
        read, chosen, reaching = read_for_synthesis(top, top, given, values)
    require_decided(top, [own.name for own in parameters_of(read.top)], decided, of_others)
    listed.defines.update(chosen.defines)
    ports = ports_of(top, read.top)
    buses = find_buses(ports)
    taken = {port.name for bus in buses for port in bus.ports.values()}
    alarms = find_alarms(ports, taken)
    looked_at = [port for port in ports if port.width == 1] + [
        own.port for own in alarms if own.port.width > 1
    ]
    recorded = {} if own_waves is None else _recorded(own_waves, instance, looked_at)
    if waves is not None and not recorded:
        raise HarnessError(
            f"{waves}: expected the ports of {top} in {instance}, found none of them; "
            "--instance is the path of the design itself, and its ports have to be recorded",
            "--instance",
        )
    clocks = find_clocks(ports, recorded)
    own = [port for port in clocks if port.holder is None]
    same = [port for port in clocks if port.holder is not None] if own else []
    clocks = own or clocks
    if not clocks:
        names = ", ".join(port.name for port in ports if port.direction == "input" and port.width == 1)
        raise HarnessError(
            f"{top}: expected a clock among the inputs of one bit ({names or 'there are none'}), found none "
            "by its name" + (" that has edges in the recording" if recorded else ""),
            "top.clock",
        )
    usual = [own.port.name for own in alarms if _rises(recorded.get(own.port.name))]
    remarks = _remarks_of(listed, from_waves)
    remarks += reaching
    resets = find_resets(ports, recorded)
    remarks += [
        f"reset {own.port.name}: a person decides: active {'low' if own.active_low else 'high'} {own.doubt}"
        for own in resets
        if own.doubt
    ]
    blocks, arrays, modules = _hierarchy(read.top.body)
    files, unused = _used(read.files, {top, *modules})
    if unused:
        remarks.append(f"left out, as nothing below {top} is in them: {', '.join(p.name for p in unused)}")
    return OwnDesign(
        top,
        files,
        listed,
        values,
        ports,
        blocks,
        tuple(arrays),
        tuple(clocks),
        tuple(same),
        tuple(resets),
        tuple(alarms),
        tuple(buses),
        tuple(usual),
        tuple(remarks),
    )


def _remarks_of(listed: FileList, recorded: Mapping[str, ParameterValue]) -> list[str]:
    said = {
        "not known, and not followed": listed.left_out,
        "ignored, as it says nothing of the design": listed.ignored,
        "parameters as the recording has them": [f"{key} = {value}" for key, value in recorded.items()],
    }
    return [f"{what}: {', '.join(values)}" for what, values in said.items() if values]


def _recorded(found: Waves, instance: str, ports: Sequence[TopPort]) -> dict[str, Signal]:
    """Return those of the ports that the recording has; the others are looked for when it is replayed."""
    fields, widths = fields_of(found, instance, ports), {port.name: port.width for port in ports}
    return {name: found.signal(own, widths[name]) for name, own in fields.items()}


def _rises(signal: Signal | None) -> bool:
    return signal is not None and bool(signal.values.any())


_MODULE = re.compile(r"^\s*module\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)
_OTHER = re.compile(r"^\s*(?:package|interface|bind)\b", re.MULTILINE)


def _used(files: Sequence[Path], modules: set[str]) -> tuple[tuple[Path, ...], list[Path]]:
    """Return the files without those of which no module is in the design, as a testbench; and these."""
    kept: list[Path] = []
    unused: list[Path] = []
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        own = set(_MODULE.findall(text))
        (kept if not own or own & modules or _OTHER.search(text) else unused).append(file)
    return tuple(kept), unused


def _hierarchy(body: Any) -> tuple[dict[str, str], list[Array], set[str]]:  # noqa: ANN401
    """Return the instances right below the top, all arrays of the size of an SRAM, and all modules."""
    blocks: dict[str, str] = {}
    arrays: list[Array] = []
    modules: set[str] = set()
    for path, depth, module in _walk(body, "", 0, arrays):
        modules.add(module)
        if depth == 0:
            name = path.rpartition(".")[2].removeprefix("u_").removeprefix("i_")
            name = name.replace("[", "_").replace("]", "") or path
            blocks[name if name not in blocks else path.replace(".", "_")] = path
    return (blocks if len(blocks) <= _MOST_BLOCKS else {}), arrays, modules


Found = list[tuple[str, int, str]]


def _walk(scope: Any, prefix: str, depth: int, arrays: list[Array]) -> Found:  # noqa: ANN401
    """Return path, depth and module of each instance in a scope, and add what arrays there are."""
    from pyslang import ast

    kinds = ast.SymbolKind
    found: Found = []
    for own in scope:
        if own.kind == kinds.Instance:
            path = f"{prefix}{own.name}"
            found.append((path, depth, str(own.definition.name)))
            found += _walk(own.body, f"{path}.", depth + 1, arrays)
        elif own.kind in (kinds.GenerateBlockArray, kinds.InstanceArray):
            found += _walk(own, prefix, depth, arrays)
        elif own.kind == kinds.GenerateBlock and not own.isUninstantiated:
            name = own.hierarchicalPath.rpartition(".")[2]
            found += _walk(own, f"{prefix}{name}.", depth, arrays)
        elif own.kind == kinds.Variable and own.type.isUnpackedArray:
            element = own.type.canonicalType.elementType
            words = own.type.canonicalType.range.width if own.type.hasFixedRange else 0
            width = int(element.bitWidth)
            if words * width >= SRAM_FROM:
                arrays.append(Array(f"{prefix}{own.name}", int(words), width))
    return found
