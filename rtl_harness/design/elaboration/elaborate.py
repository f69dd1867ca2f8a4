# SPDX-License-Identifier: Apache-2.0
"""Elaborate a target: read its RTL, list its storage, give each element its block."""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.elaboration.blocks import block_of, in_macro
from resil.rtl_harness.design.elaboration.data_read import require_data
from resil.rtl_harness.design.elaboration.dataflow import Dataflow
from resil.rtl_harness.design.elaboration.declarations import Declarations, read_declarations
from resil.rtl_harness.design.elaboration.elements import Storage, find_storage
from resil.rtl_harness.design.elaboration.model import Clocking, Elaboration, Location
from resil.rtl_harness.design.elaboration.netlist import Netlist
from resil.rtl_harness.design.elaboration.register_class import (
    MACRO,
    MEMORY,
    Held,
    register_classes,
)
from resil.rtl_harness.design.elaboration.stored_as import StoredAs
from resil.rtl_harness.design.elaboration.yosys import read_commands, rtl_key, run_yosys
from resil.rtl_harness.design.sites import SiteTable, StorageElement
from resil.rtl_harness.design.snapshot import frozen, snapshot_of
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError

_RESULT = "elaboration.json"
_HERE = Path(__file__).parent
_OWN = [*sorted(_HERE.glob("*.py")), _HERE.parent / "sites.py"]

# Clocks other than the target's that remarks name one by one.
_CLOCKS = 8


def elaborate(target: Target, parameters: Mapping[str, int] | None = None) -> Elaboration:
    """List every storage bit of `target` with its name, block, clock and reset.

    The netlist is neither optimised nor merged, so that registers which are constant, equal to others
    or unread stay, as they do in the simulator. The result is cached by content.

    Args:
        target: The design.
        parameters: Parameters of the top that replace those of the target.

    Raises:
        HarnessError: If the RTL is wrong, reads a file that is not there, or if the target names an instance,
            port or memory that the RTL does not have.
        ToolMissingError: If pyosys is not installed.
    """
    original, target = target, frozen(target)
    merged = {**target.parameters, **(parameters or {})}
    memories = [asdict(m) for m in target.memories.values()]
    patterns = [target.macros, target.keep, target.exclude, target.storage, sorted(target.black_boxes)]
    description = [target.dut, target.blocks, memories, patterns, _ports(target)]
    key = content_key(rtl_key(target, merged), _OWN, json.dumps(description))

    def build(folder: Path) -> None:
        with _no_garbage():
            _build(target, merged, folder, original)

    folder = cached_folder("elaboration", key, build)
    return _load((folder / _RESULT).read_text(encoding="utf-8"))


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Keep Python from looking for garbage among millions of nets, which takes as long as all the rest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _build(target: Target, parameters: Mapping[str, int], folder: Path, original: Target) -> None:
    what = f"elaboration of {target.name}"
    read = read_commands(target, parameters, ["--dump-ast"], folder)
    script = [*read, "flatten", "write_json netlist.json"]
    log = run_yosys(script, folder, what)
    require_data(log, target, original)
    declarations = read_declarations(log, target.top)
    file = folder / "netlist.json"
    netlist = Netlist(json.loads(file.read_text(encoding="utf-8")), target.top)
    file.unlink()
    stored_as = StoredAs(target)
    found = find_storage(netlist, declarations, _memory_paths(target), stored_as)
    _check(target, netlist, declarations, found)
    _check_arrays(target, netlist, stored_as)
    found.warnings += _read_otherwise(target)
    elaboration = _assemble(target, parameters, found, netlist, stored_as)
    stored = {place.path for place in elaboration.locations.values()}
    initial = {path: value for path, value in sorted(declarations.initial.items()) if path in stored}
    elaboration = replace(elaboration, initial=initial)
    write_atomically(folder / _RESULT, _dump(elaboration).encode())


def _read_otherwise(target: Target) -> list[str]:
    """Say which sources are not read as they are: see `as_synthesised`."""
    snapshot = snapshot_of(target)
    names = [snapshot.origins[copy].name for copy in snapshot.rewritten]
    if not names:
        return []
    return [
        f"read as synthesis reads it, by all engines (full_case, parallel_case, functions, initial values, "
        f"registers that only a reset assigns): {', '.join(names)}"
    ]


def _check(target: Target, netlist: Netlist, declarations: Declarations, found: Storage) -> None:
    scopes = declarations.scopes | {
        scope.rpartition("[")[0] for scope in declarations.scopes if scope.endswith("]")
    }
    named = [("dut", target.dut)]
    named += [(f"blocks.{block}", path) for block, paths in target.blocks.items() for path in paths]
    registers = {path for e in found.elements for path in (e.path, e.path.rpartition("[")[0])}
    for key, path in named:
        if path not in scopes and (key == "dut" or path not in registers):
            raise _absent(target, key, "an instance or generate block below the top", path, scopes)
    memories = {m.path for m in netlist.memories.values()}
    for name, memory in target.memories.items():
        if memory.path not in memories:
            raise _absent(
                target, f"memories.{name}.path", "an unpacked array used as a memory", memory.path, memories
            )
    for key, port in _ports(target).items():
        if port not in netlist.ports:
            raise _absent(target, key, f"a port of {target.top}", port, netlist.ports)


def _check_arrays(target: Target, netlist: Netlist, stored_as: StoredAs) -> None:
    arrays = [memory.path for memory in netlist.memories.values()]
    for key, pattern in stored_as.unused():
        raise _absent(target, key, "a pattern of arrays used as memories", pattern, arrays)
    for name, memory in target.memories.items():
        if stored_as(memory.path, "") == "ff":
            raise HarnessError(
                f"target {target.name}: storage.ff: expected arrays of the design alone, found "
                f"{memory.path}, which a workload fills (memories.{name}): it is SRAM; leave it out",
                "storage.ff",
            )
    if path := stored_as.two_kinds(arrays):
        raise HarnessError(f"target {target.name}: storage: {path} is named as several kinds; name it as one")


def _ports(target: Target) -> dict[str, str]:
    return {"clock": target.clock, "reset": target.reset, **target.outputs}


def _absent(target: Target, key: str, wanted: str, found: str, known: Iterable[str]) -> HarnessError:
    names = sorted(k for k in known if k)
    near = get_close_matches(found, names, n=3) or names[:12]
    return HarnessError(
        f"target {target.name}: {key}: expected {wanted}, but the RTL has no {found!r}; "
        f"correct the target file; near: {', '.join(near) or 'none'}"
    )


def _memory_paths(target: Target) -> set[str]:
    return {memory.path for memory in target.memories.values()}


def _assemble(
    target: Target, parameters: Mapping[str, int], found: Storage, netlist: Netlist, stored_as: StoredAs
) -> Elaboration:
    unmapped = [u for u in found.unmapped if u.startswith((f"{target.dut}.", f"{target.dut}:"))]
    warnings = [*found.warnings, *(f"in the bench: {u}" for u in found.unmapped if u not in unmapped)]
    flow = Dataflow.of(netlist.cells)
    classes = _classes(found, flow)
    warnings += _loops(flow, netlist)
    warnings += [
        f"{path}: an array that is never written, counted neither as storage nor in the area"
        for path in found.roms
        if path.startswith(f"{target.dut}.")
    ]
    warnings += [
        f"{path}: it has an initial value that nothing changes, which gates and area take for 0; make it a "
        "constant (wire, localparam)"
        for path in found.constants
        if path.startswith(f"{target.dut}.")
    ]
    sites: list[StorageElement] = []
    bench: list[StorageElement] = []
    for element in found.elements:
        rom = found.locations[element.path].path in found.roms
        if rom or not element.path.startswith(f"{target.dut}."):
            bench.append(element)
        else:
            block = block_of(element.path, target.blocks)
            sites.append(replace(element, block=block, register_class=classes[element.path]))
    inside = {e.path for e in sites if stored_as.is_macro(found.locations[e.path].module)}
    sites = _with_macros(target, sites, inside)
    left_out = _named(target, "exclude", [element.path for element in sites])
    bench += [element for element in sites if element.path in left_out]
    excluded = sum(element.bits for element in sites if element.path in left_out)
    sites = [element for element in sites if element.path not in left_out]
    latches = [e for e in sites if found.clocking[e.path].latch]
    if latches:
        warnings.append(
            f"{sum(e.bits for e in latches)} bits in {len(latches)} elements are latches, counted as "
            "flip-flops where they are hardware; a flip of one that is open has no effect"
        )
    warnings += _other_clocks(target, [found.clocking[e.path] for e in sites])
    if excluded:
        warnings.append(
            f"{excluded:,} bits of the design have no fault sites, as the target file leaves them out: "
            f"{', '.join(target.exclude)}"
        )
    if not sites and not unmapped:
        raise HarnessError(
            f"target {target.name}: dut: expected storage in {target.dut}, found none; name the instance "
            "that holds the design"
        )
    return Elaboration(
        SiteTable.of(sites),
        tuple(sorted(bench, key=lambda e: e.path)),
        found.locations,
        found.clocking,
        tuple(unmapped),
        tuple(warnings),
        dict(parameters),
        kept=tuple(sorted(_named(target, "keep", [element.path for element in sites]))),
        excluded=excluded,
        passing=tuple(sorted(found.passing)),
        coded=tuple(
            sorted(
                e.path for e in sites if e.kind == "sram" and stored_as.is_coded(found.locations[e.path].path)
            )
        ),
    )


def _with_macros(
    target: Target, sites: list[StorageElement], described: Collection[str]
) -> list[StorageElement]:
    """Return the elements with the flip-flops that the target says to be inside SRAM macros kept apart.

    So are those of macros that are `described` by their ports.

    Raises:
        HarnessError: A pattern matches no flip-flop.
    """
    inside = _named(target, "macros", [element.path for element in sites if element.kind == "ff"])
    inside |= {e.path for e in sites if e.kind == "ff" and e.path in described}
    return [replace(e, kind="macro", register_class=MACRO) if e.path in inside else e for e in sites]


def _named(target: Target, key: str, paths: Sequence[str]) -> set[str]:
    """Return the storage that the patterns of a key name; HarnessError if one of them names none."""
    inside: set[str] = set()
    patterns: tuple[str, ...] = getattr(target, key)
    for pattern in patterns:
        found = {path for path in paths if in_macro(pattern, path)}
        if not found:
            raise _absent(target, key, "a pattern of instances or registers with flip-flops", pattern, paths)
        inside |= found
    return inside


def _other_clocks(target: Target, clockings: Iterable[Clocking]) -> list[str]:
    """Say what is not clocked by the rising edge of the target's clock: the clocks with most elements."""
    clocks = Counter((c.clock, c.rising) for c in clockings if not c.latch)
    del clocks[target.clock, True]
    remarks = []
    for (clock, rising), count in sorted(clocks.most_common(_CLOCKS)):
        edge = "rising" if rising else "falling"
        remarks.append(f"{count} elements are clocked by the {edge} edge of {clock or 'no signal'}")
    if len(clocks) > _CLOCKS:
        rest = clocks.total() - sum(count for _, count in clocks.most_common(_CLOCKS))
        remarks.append(f"{rest} elements are clocked by {len(clocks) - _CLOCKS} further clocks")
    return remarks


def _loops(flow: Dataflow, netlist: Netlist) -> list[str]:
    """Say which loops of gates there are: the source may store bits in them, which have no fault sites."""
    remarks = []
    for nets in flow.loops():
        names = sorted({name for net in nets for name, _ in netlist.names_of(net)})
        where = names[0] if names else f"net {nets[0]}"
        remarks.append(
            f"{where}: a loop of gates through {len(nets)} bits; what it may store has no fault sites"
        )
    return sorted(remarks)


def _classes(found: Storage, flow: Dataflow) -> dict[str, str]:
    classes, registers = {}, []
    for element in found.elements:
        outputs = found.outputs[element.path]
        if element.kind == "sram":
            classes[element.path] = MEMORY
        elif isinstance(outputs, str):
            read, written = flow.read_data[outputs], flow.write_data[outputs]
            registers.append(Held(element.path, tuple(read), tuple(written), outputs))
        else:
            inputs = tuple(flow.inputs[net] for net in outputs)
            registers.append(Held(element.path, outputs, inputs))
    return classes | register_classes(flow, registers)


def _dump(e: Elaboration) -> str:
    return json.dumps(
        {
            "sites": [asdict(x) for x in e.sites.elements],
            "bench": [asdict(x) for x in e.bench_elements],
            "locations": {path: asdict(x) for path, x in e.locations.items()},
            "clocking": {path: asdict(x) for path, x in e.clocking.items()},
            "unmapped": e.unmapped,
            "warnings": e.warnings,
            "parameters": e.parameters,
            "initial": e.initial,
            "kept": e.kept,
            "excluded": e.excluded,
            "passing": e.passing,
            **({"coded": e.coded} if e.coded else {}),
        }
    )


def _load(text: str) -> Elaboration:
    table = json.loads(text)
    locations = {
        path: Location(**{**x, "indices": tuple(x["indices"])}) for path, x in table["locations"].items()
    }
    return Elaboration(
        SiteTable.of([StorageElement(**x) for x in table["sites"]]),
        tuple(StorageElement(**x) for x in table["bench"]),
        locations,
        {path: Clocking(**x) for path, x in table["clocking"].items()},
        tuple(table["unmapped"]),
        tuple(table["warnings"]),
        table["parameters"],
        table["initial"],
        tuple(table["kept"]),
        table["excluded"],
        tuple(table["passing"]),
        tuple(table.get("coded", ())),
    )
