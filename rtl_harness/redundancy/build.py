# SPDX-License-Identifier: Apache-2.0
"""Protected RTL of a target: netlists in place of some instances, alarms led out, constraints."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.elaboration import Elaboration, in_macro
from resil.rtl_harness.design.elaboration.declarations import read_declarations
from resil.rtl_harness.design.elaboration.yosys import read_commands, run_yosys
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.target import Target, TargetAlarm
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy.built import BuiltRtl, Constrained, as_declared, in_netlist
from resil.rtl_harness.redundancy.clocks import clock_and_reset, modules_around
from resil.rtl_harness.redundancy.codes import Coded
from resil.rtl_harness.redundancy.editable import free_name
from resil.rtl_harness.redundancy.edits import edit_sources
from resil.rtl_harness.redundancy.groups import (
    GroupError,
    Mechanism,
    ProtectionGroup,
    RegisterPiece,
    UnprotectedStorage,
    pieces_of,
)
from resil.rtl_harness.redundancy.lockstep import Lockstep, instance_paths, locksteps
from resil.rtl_harness.redundancy.modules import ModuleInstance, instance_of, read_instances
from resil.rtl_harness.redundancy.names import Renamed, keep_names, rename
from resil.rtl_harness.redundancy.netlist import ProtectedBits, ProtectedNetlist, Redundant
from resil.rtl_harness.redundancy.page import constraints_text, page_text
from resil.rtl_harness.redundancy.places import (
    MAJOR,
    MINOR,
    SourceDesign,
    check_editable,
    netlist_instances,
)
from resil.rtl_harness.redundancy.renamed_storage import storage_names
from resil.rtl_harness.redundancy.source_text import SourceText
from resil.rtl_harness.redundancy.target_file import require_same_includes, target_text
from resil.rtl_harness.redundancy.verilog import module_files, stored_in
from resil.rtl_harness.redundancy.watchdog import Timer, Watchdog

RTL = "rtl"
TARGET, CONSTRAINTS, PAGE, NAMES = "target.toml", "constraints.tcl", "README.md", "names.json"
# Names of the alarms in the target file.
ALARMS = {"alert_minor": TargetAlarm(MINOR, "corrected"), "alert_major": TargetAlarm(MAJOR, "detected")}

_LIBRARY = Path(__file__).parent / "rtl"
_OPTIMISE = (
    *("dffunmap", "chformal -remove", "delete */t:$print", "opt_expr", "opt_clean"),
    "setundef -zero -undriven",
    # A part of a word beyond its ends is zeros: written as a part-select it is no legal Verilog.
    "chtype -set $shift t:$shiftx",
)


def build_protection(
    target: Target,
    elaboration: Elaboration,
    groups: Sequence[ProtectionGroup],
    folder: Path,
    watchdog: Watchdog | None = None,
) -> BuiltRtl:
    """Write the protected RTL of a target to a folder, which is there in full or not at all.

    Args:
        target: The design.
        elaboration: Its storage; with what is hardware, blocks are protected without the rest.
        groups: What is protected, and how.
        folder: That is made; it must not be there, or be empty.
        watchdog: On operations; None for none.

    Returns:
        What was built.

    Raises:
        GroupError: A group cannot be protected; its message begins with its path.
        HarnessError: The folder has content, or the RTL cannot be read.
    """
    if target.cells is not None:
        raise HarnessError(
            f"target {target.name}: expected RTL, which takes protection, found a netlist of the cells of "
            f"{target.cells.name}; build it into the RTL and synthesise that",
            "cells",
        )
    if target.black_boxes:
        raise HarnessError(
            f"target {target.name}: expected a design whose RTL is there, which takes protection, found "
            f"macros by the description of their ports ({', '.join(target.black_boxes)}); give models of "
            "them among the sources",
            "black_boxes",
        )
    folder = folder.resolve()
    require_empty(folder)
    if watchdog is not None:
        watchdog.check(target)
    wanted = instance_paths(target, [g for g in groups if g.mechanism is Mechanism.LOCKSTEP])
    rest = [group for group in groups if group.mechanism is not Mechanism.LOCKSTEP]
    whole = wanted or watchdog is not None
    pieces, left_out = pieces_of(target, elaboration, rest) if rest or not whole else ([], [])
    _check_alarms(target)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        (made := scratch / "made").mkdir()
        (work := scratch / "work").mkdir()
        built = _RtlBuilder(target, elaboration, work, made, folder).build(pieces, left_out, watchdog, wanted)
        (made / CONSTRAINTS).write_text(constraints_text(target, built), encoding="utf-8")
        (made / PAGE).write_text(page_text(target, built), encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        made.replace(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return built


def require_empty(folder: Path) -> None:
    """Raise HarnessError unless a folder can be made: it is not there, or is empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise HarnessError(
            f"{folder}: expected no such folder, or an empty one, found content; give another", "folder"
        )


def _check_alarms(target: Target) -> None:
    outputs = {alarm.output: name for name, alarm in target.alarms.items()}
    for name, alarm in ALARMS.items():
        if name in target.alarms or alarm.output in outputs:
            taken = name if name in target.alarms else outputs[alarm.output]
            raise HarnessError(
                f"target {target.name}: alarms.{taken}: expected neither an alarm {name} nor an output "
                f"{alarm.output}, which protection adds, found it; rename it",
                f"alarms.{taken}",
            )


class _RtlBuilder:
    def __init__(self, target: Target, elaboration: Elaboration, work: Path, made: Path, final: Path) -> None:
        self.target = target
        self.elaboration = elaboration
        self.work = work
        self.made = made
        self.final = final
        self._renamed: dict[str, Renamed] = {}
        self._stored: dict[str, set[str]] = {}
        self._timer: Timer | None = None
        self._locksteps: list[Lockstep] = []

    def build(
        self,
        pieces: Sequence[RegisterPiece],
        left_out: Sequence[UnprotectedStorage],
        watchdog: Watchdog | None,
        wanted: Mapping[str, str],
    ) -> BuiltRtl:
        hardened = tuple(p for p in pieces if p.group.mechanism is Mechanism.HARDENED)
        redundant = [p for p in pieces if p.group.mechanism is not Mechanism.HARDENED]
        (self.made / RTL).mkdir()
        if not redundant and watchdog is None and not wanted:
            self._write_target({}, [], alarms=False)
            return BuiltRtl(
                hardened=hardened, constrained=self._constrained(hardened), left_out=tuple(left_out)
            )
        design = self._read()
        if watchdog is not None:
            self._timer = Timer(watchdog.limit, self._width(design))
        requests = [self._request(piece, design.instances) for piece in redundant]
        tops = netlist_instances(design, {(r.instance, r.piece.group.path): None for r in requests})
        if watchdog is not None and self.target.dut not in tops:
            check_editable(design)
        self._locksteps = locksteps(design, wanted, self.elaboration, tops)
        apart = [*requests, *(self._request(piece, design.instances) for piece in hardened)]
        netlists = {top: self._netlist(design, top, requests, apart) for top in tops}
        names = self._write_netlists(design, netlists)
        edited, alarms = self._edit(design, names)
        registers, memories = self._renewed(netlists)
        self._move_blocks()
        library = [self._copy(file) for file in sorted(_LIBRARY.glob("*.sv"))]
        self._write_target(edited, [*self._made(names), *library], alarms=True)
        became = storage_names(
            self.elaboration, list(netlists), self._moved, registers, memories, self._locksteps
        )
        (self.made / NAMES).write_text(became.text(), encoding="utf-8")
        return BuiltRtl(
            registers=registers,
            memories=memories,
            hardened=hardened,
            constrained=self._constrained(hardened),
            left_out=(
                *left_out,
                *(lo for n in netlists.values() for lo in n.left_out),
                *self._bare(memories),
            ),
            netlists={top: names[top][0] for top in tops},
            edited=tuple(edited),
            alarms=tuple(alarms),
            timer=self._timer,
            locksteps=tuple(self._locksteps),
            instances={own.path: design.instances[own.path] for own in self._locksteps},
        )

    def _read(self) -> SourceDesign:
        options = ["--best-effort-hierarchy", "--dump-ast"]
        copies = frozen(self.target)
        read = read_commands(copies, self.elaboration.parameters, options, self.work)
        what = f"reading {self.target.name}"
        log = run_yosys([*read, "memory_collect", "write_rtlil design.il"], self.work, what)
        texts = {
            p: SourceText(copy.read_text(encoding="utf-8", errors="surrogateescape"))
            for p, copy in zip(self.target.sources, copies.sources, strict=True)
        }
        stored = {place.path for place in self.elaboration.locations.values()}
        filled = read_declarations(log, self.target.top).filled & stored
        return SourceDesign(self.target, read_instances(log, self.target.top), texts, filled)

    def _request(self, piece: RegisterPiece, instances: Mapping[str, ModuleInstance]) -> ProtectedBits:
        place = self.elaboration.locations[piece.element.path]
        holder = instance_of(place.net, instances)
        return ProtectedBits(piece, holder, place.net.removeprefix(f"{holder}."), place.net_low + piece.low)

    def _netlist(
        self,
        design: SourceDesign,
        top: str,
        requests: Sequence[ProtectedBits],
        apart: Sequence[ProtectedBits],
    ) -> ProtectedNetlist:
        """Read what is below one instance and give it redundancy; words that are `apart` are registers."""
        own, registers = ([r for r in rows if _below(r.instance, top)] for rows in (requests, apart))
        module = f"{design.instances[top].module}${self.target.top}.{top}"
        macros = [e.path for e in self.elaboration.sites.elements if e.kind == "macro"]
        macros = [self.elaboration.locations[path].net for path in macros]
        words = {
            f"memory_map {design.instances[r.instance].module}${self.target.top}.{r.instance}/c:{memory}"
            for r in registers
            if (memory := r.wire.rpartition("[")[0]) and r.wire.endswith("]")
        }
        script = [f"read_rtlil {self.work / 'design.il'}", f"hierarchy -top {module}", *sorted(words)]
        script += [*_OPTIMISE, "write_json netlist.json"]
        run_yosys(script, self._folder(top), f"netlist of {top}")
        document = json.loads((self._folder(top) / "netlist.json").read_text(encoding="utf-8"))
        netlist = ProtectedNetlist(document, top, module, self.elaboration.initial)
        netlist.protect(own, macros)
        if top == self.target.dut and self._timer is not None:
            netlist.add_watchdog(*self._clock_and_reset(design), self._timer)
        netlist.lead_out()
        keep_names(netlist, netlist.cut, {place.net for place in self.elaboration.locations.values()})
        if top == self.target.dut:
            netlist.add_alert(*self._clock_and_reset(design))
        return netlist

    def _folder(self, top: str) -> Path:
        folder = self.work / top
        folder.mkdir(exist_ok=True)
        return folder

    def _write_netlists(
        self, design: SourceDesign, netlists: Mapping[str, ProtectedNetlist]
    ) -> dict[str, list[str]]:
        """Write the modules of the netlists; return their names by instance, the top's first."""
        taken = {i.module for i in design.instances.values()} | {p.stem for p in _LIBRARY.glob("*.sv")}
        names: dict[str, list[str]] = {}

        def name(path: str) -> str:
            own = free_name(f"{design.instances[path].module}_protected", taken)
            taken.add(own)
            return own

        for top, netlist in netlists.items():
            instance = design.instances[top]
            renamed = rename(netlist, instance.types, name)
            top_name = renamed.modules[top]
            folder = self._folder(top)
            netlist.begin()
            (folder / "protected.json").write_text(json.dumps(netlist.document), encoding="utf-8")
            # Of what selects several at once, as a fault may, one counts: parallel_case would leave it open.
            # Bits that one net lets be written are one write: a simulator takes far longer for one each.
            script = ["read_json protected.json", "bwmuxmap", "techmap -map +/pmux2mux.v", "opt_reduce"]
            script += ["opt_clean", "write_verilog -sv protected.v"]
            run_yosys(script, folder, f"protected netlist of {top}")
            text = (folder / "protected.v").read_text(encoding="utf-8")
            made_of = f"{instance.module} with protected registers, as a netlist, for the instance {top}."
            files = module_files(text, top_name, instance.parameters, instance.types, made_of)
            for module, content in files.items():
                (self.made / RTL / f"{module}.sv").write_text(content, encoding="utf-8")
                self._stored[module] = stored_in(content)
            self._renamed[top] = renamed
            names[top] = [top_name, *(module for module in files if module != top_name)]
        return names

    def _moved(self, path: str) -> list[str]:
        """Return the paths that an instance, generate block or register of the source has become."""
        for top, renamed in self._renamed.items():
            if path == top or path.startswith(f"{top}."):
                return renamed.of(path, self._stored)
        return [path]

    def _constrained(self, hardened: Sequence[RegisterPiece]) -> tuple[Constrained, ...]:
        """Return the registers that hardened bits are in the RTL that was made."""
        found: list[Constrained] = []
        for number, piece in enumerate(hardened):
            place = self.elaboration.locations[piece.element.path]
            moved = self._moved(place.net)
            if not any(place.net.startswith(f"{top}.") for top in self._renamed):
                found.append(as_declared(piece))
            else:
                first = place.net_low + piece.low
                found += in_netlist(place.net, moved, first, first + piece.bits - 1, piece.group.path)
            bits = sum(abs(own.left - own.right) + 1 for own in found)
            if bits != sum(p.bits for p in hardened[: number + 1]):
                raise GroupError(
                    piece.group.path, f"{piece.name} is not found again beside what is protected"
                )
        return tuple(found)

    def _renewed(
        self, netlists: Mapping[str, ProtectedNetlist]
    ) -> tuple[tuple[Redundant, ...], tuple[Coded, ...]]:
        """Return what was built, with its paths in the netlists as they were written."""
        registers, memories = [], []
        for top, netlist in netlists.items():
            new = self._renamed[top].cell
            registers += [replace(r, path=new(r.path)) for r in netlist.built]
            memories += [
                replace(
                    m,
                    path=new(m.path),
                    storage=tuple(map(new, m.storage)),
                    decoders=tuple(map(new, m.decoders)),
                )
                for m in netlist.coded
            ]
        return tuple(registers), tuple(memories)

    def _bare(self, memories: Sequence[Coded]) -> list[UnprotectedStorage]:
        """Return the registers of macros around memories with a code that it does not go through."""
        found = []
        through = {path for memory in memories for path in memory.latches}
        for element in self.elaboration.sites.elements:
            path = element.path
            beside = any(path.startswith(f"{m.element.rpartition('.')[0]}.") for m in memories)
            if element.kind == "macro" and beside and self.elaboration.locations[path].net not in through:
                why = (
                    "inside an SRAM macro, and not the latch of what is read from it: the code ends before it"
                )
                found.append(UnprotectedStorage(path, element.bits, why))
        return found

    def _move_blocks(self) -> None:
        """Give the target the block map and the macros of the new names."""
        blocks = {
            block: tuple(new for path in paths for new in self._moved(path))
            for block, paths in self.target.blocks.items()
        }
        macros: dict[str, None] = {}
        for pattern in self.target.macros:
            for element in self.elaboration.sites.elements:
                if element.kind == "macro" and in_macro(pattern, element.path):
                    net = self.elaboration.locations[element.path].net
                    moved = self._moved(net)
                    macros.update(dict.fromkeys([pattern] if moved == [net] else moved))
        for own in self._locksteps:
            for pattern in [p for p in macros if p.startswith(f"{own.path}.")]:
                macros[own.copied(pattern)] = None
        self.target = replace(self.target, blocks=blocks, macros=tuple(macros))

    def _made(self, names: Mapping[str, list[str]]) -> list[Path]:
        return [Path(RTL) / f"{module}.sv" for own in names.values() for module in own]

    def _edit(
        self, design: SourceDesign, names: Mapping[str, list[str]]
    ) -> tuple[dict[Path, Path], list[str]]:
        """Edit the sources around the netlists; return copies of them by source, and the alarms' bits."""
        modules = {top: own[0] for top, own in names.items()}
        files, alarms = edit_sources(
            design, modules, lambda: self._clock_and_reset(design), self._timer, self._locksteps
        )
        edited = {file: Path(RTL) / file.name for file in files}
        for file, copy in edited.items():
            (self.made / copy).write_text(design.texts[file].text, encoding="utf-8", errors="surrogateescape")
        return edited, alarms

    def _clock_and_reset(self, design: SourceDesign) -> tuple[str, str, bool]:
        """Return the ports of the design under test that carry clock and reset, and if that is active low."""
        return clock_and_reset(self.target, self._chain(design))

    def _width(self, design: SourceDesign) -> int:
        """Return the bits of the counter of operations."""
        return len(self._chain(design)[-1][1]["ports"][self.target.operation]["bits"])

    def _chain(self, design: SourceDesign) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the modules around the design under test, the top last, each with the next one's cell."""
        return modules_around(self.target, design, self.work / "design.il", self._folder("around"))

    def _copy(self, file: Path) -> Path:
        shutil.copyfile(file, self.made / RTL / file.name)
        return Path(RTL) / file.name

    def _write_target(self, edited: Mapping[Path, Path], added: Sequence[Path], *, alarms: bool) -> None:
        names = NAMES if alarms else ""
        own = ALARMS if alarms else {}
        watched = self._timer is not None
        copies = [own.copy for own in self._locksteps]
        require_same_includes(self.target, edited)
        text = target_text(self.target, self.final, edited, added, own, names, watched, copies)
        (self.made / TARGET).write_text(text, encoding="utf-8")


def _below(path: str, top: str) -> bool:
    return path == top or path.startswith((f"{top}.", f"{top}["))
