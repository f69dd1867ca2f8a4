# SPDX-License-Identifier: Apache-2.0
"""The target description: which RTL, which clock, which blocks, where results lie."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from resil.networks.vela import not_built
from resil.rtl_harness.design.black_boxes import (
    BlackBox,
    MemoryPort,
    PortsError,
    black_box_models,
)
from resil.rtl_harness.design.cell_library import VerilogCells, derived_library
from resil.rtl_harness.design.cell_models import cell_models, cells_used, modules_of
from resil.rtl_harness.design.parameter_values import LITERALS, ParameterValue, parameter_value
from resil.rtl_harness.design.storage_names import StorageNames, read_storage_names
from resil.rtl_harness.design.unreadable import require_readable
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.toml_file import read_toml

# Of the alarms that a target names; so many fit into a word.
MOST_ALARMS = 64

AlarmReport = Literal["corrected", "detected"]
# Of any type to those who take whole numbers: with a bench there are no others.
Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class TargetMemory:
    """A memory of the closed bench that a workload fills or that results are read from.

    Attributes:
        path: Hierarchical name below the top of the unpacked array.
        word_bytes: Bytes of one word; byte 0 is the least significant.
        plusarg: The design loads it with `$readmemh` from the file `+<plusarg>=FILE`.
        observed: It is part of the state that is compared at the end.
        words_plusarg: `+<words_plusarg>=N` makes it a memory of N words, however many the build has: none
            beyond them is ever read or written. "" if it always has all of them.
    """

    path: str
    word_bytes: int
    plusarg: str
    observed: bool = True
    words_plusarg: str = ""


@dataclass(frozen=True)
class TargetAlarm:
    """An output of the top by which the design says that it has noticed a fault.

    It has risen in the first cycle in which the output, sampled where `done` is, is not zero, and may fall
    again at once. Of an output of several bits any bit counts.

    Attributes:
        output: Output of the top.
        reports: "detected": the result is not to be trusted. "corrected": a mechanism has mended something.
    """

    output: str
    reports: AlarmReport = "detected"


@dataclass(frozen=True)
class Replay:
    """That a target was closed by recordings.

    Attributes:
        of: File of the target without a bench.
        layout: Digest of what the bench drives and compares.
    """

    of: Path
    layout: str


@dataclass(frozen=True)
class Snapshot:
    """Copies of all files that a target is made of.

    Attributes:
        digest: Of names and content of the files, wherever they lie.
        folder: In the cache, with the copies.
        rtl: Those that may be RTL.
        origins: Of what each is a copy.
        rewritten: Those that have not the text of what they are copies of; see `as_synthesised`.
        of: What the target says of its files: if it says something else, these are not its copies.
        macros: Module of each instance of a macro that is described by its ports, by path.
    """

    digest: str
    folder: Path
    rtl: tuple[Path, ...]
    origins: Mapping[Path, Path]
    rewritten: tuple[Path, ...]
    of: tuple[object, ...]
    macros: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """A closed design: RTL and bench whose only inputs are clock and reset.

    Or, without `dut`, `done` and `memories`, the design alone, for campaigns that a recording closes: then
    `top` is the design under test, and paths are those below it ("." is the top itself).

    Attributes:
        name: For people.
        top: Top module.
        sources: Files in compile order.
        include_dirs: Folders for `include; they go before the folder of who includes.
        data_dirs: Folders in which lies what RTL reads, as `$readmemh("rom.hex")` does; then comes the folder
            of the source that says it. A target file that names none means its own folder.
        data_files: Files in such folders that RTL reads or includes under names that it computes.
        defines: Preprocessor macros; no tool adds others, neither SYNTHESIS nor VERILATOR.
        parameters: Parameters of the top module: whole numbers; of a design alone real numbers too, and as
            strings literals of SystemVerilog: `"8'hff"`, `'"a text"'`. Types keep their defaults.
        clock: Clock input of the top; the rising edge is active.
        reset: Reset input of the top.
        reset_active_low: Polarity.
        reset_cycles: Clock edges for which reset is held.
        dut: Instance below the top that is the design under test; only it has fault sites.
        done: Output of the top, 1 when the inference has ended.
        alarms: By name; of those that rise in one cycle, the first in this order is the one that reported.
        status: Output of the top: the status word; "" if it has none.
        operation: Output of the top: number of operations finished so far; "" if it has none.
        inferences: Output of the top: number of inferences finished so far, for runs of several; "" if it has
            none.
        blocks: Block name to the paths below the top that belong to it, of instances, generate blocks or
            registers; the longest match wins.
        macros: Patterns of instances or registers below the top whose flip-flops lie inside an SRAM macro, as
            its output latches do: no choice of cells reaches them. "*" stands for anything but a dot.
        keep: Patterns of registers that synthesis neither removes nor merges with equal ones: redundancy that
            the design has, which goes to silicon as it is.
        cells: Liberty file of the cells that the design under test is a netlist of, or Verilog files of their
            models, of which one is derived; None of RTL. Models of cells that no source defines are among
            `sources`.
        exclude: Patterns of instances or registers that have no fault sites, as what is only for debugging.
            Verdicts say how many bits that leaves out.
        black_boxes: Macros whose source is not there, by module. What stands for them is among `sources`.
        storage: Patterns of arrays by what they count as: "ff", "sram", or "sram_ecc": SRAM behind a code
            that corrects one bit of a word and detects two.
        memories: By name.
        titles: Blocks in words, for people; a block may have none.
        storage_names: What storage was called in the design that the RTL was made from.
        replay: The bench was made for recordings; None for any other.
        snapshot: The files are copies that do not change any more.
    """

    name: str
    top: str
    sources: tuple[Path, ...]
    clock: str
    reset: str
    dut: str
    done: str
    blocks: Mapping[str, tuple[str, ...]]
    memories: Mapping[str, TargetMemory]
    include_dirs: tuple[Path, ...] = ()
    data_dirs: tuple[Path, ...] = ()
    data_files: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=dict)
    reset_active_low: bool = True
    reset_cycles: int = 4
    alarms: Mapping[str, TargetAlarm] = field(default_factory=dict)
    status: str = ""
    operation: str = ""
    inferences: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    macros: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    cells: Path | None = None
    black_boxes: Mapping[str, BlackBox] = field(default_factory=dict)
    storage: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    storage_names: StorageNames = field(default_factory=StorageNames)
    replay: Replay | None = None
    snapshot: Snapshot | None = field(default=None, compare=False)

    @property
    def is_open(self) -> bool:
        """Whether this is the design alone, without a bench."""
        return not self.dut

    @property
    def outputs(self) -> dict[str, str]:
        """Outputs of the top that the target names, by the key or alarm that they are."""
        alarms = {f"alarms.{name}": alarm.output for name, alarm in self.alarms.items()}
        rest = {"done": self.done, "status": self.status, "operation": self.operation}
        rest |= {"inferences": self.inferences}
        return {key: output for key, output in {**rest, **alarms}.items() if output}


PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED_TARGETS = PACKAGE / "targets"
SHIPPED_PREFIX = "resil:"

_MANDATORY = ("name", "top", "sources", "clock", "reset", "dut", "done", "blocks", "memories")
# Keys of a bench: without all of them the target is the design alone.
_BENCH = ("dut", "done", "memories")
_OPEN_MANDATORY = ("name", "top", "sources", "clock")
_TEXTS = ("name", "top", "clock", "reset", "dut", "done", "status", "operation", "inferences")
# Keys of their own for alarms of the same name that report something detected.
_SHORTHAND = ("error", "protection")
# What an array may count as, whatever its size and ports.
STORED_AS = ("ff", "sram", "sram_ecc")
# Files of models of cells, which no Liberty file is called like.
VERILOG = (".v", ".sv")
_ALARM_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def shipped_targets() -> dict[str, Path]:
    """Return the files of the targets that ship, by name."""
    return {file.stem: file for file in sorted(SHIPPED_TARGETS.glob("*.toml"))}


def load_target(name_or_path: str | Path) -> Target:
    """Read a target description: a shipped one by its name, else the TOML file at a path.

    Paths in the file are relative to it; `sources` may hold glob patterns, whose matches are taken in
    alphabetical order, and a file that is listed twice counts once, at its first place. A path of sources or
    include folders that begins with "resil:" is relative to this package: "resil:bench/*.sv" are the shipped
    bench modules.

    Raises:
        HarnessError: If there is no such target, or the file has a missing, unknown or wrong entry.
    """
    path = Path(name_or_path)
    if path.suffix != ".toml":
        shipped = shipped_targets()
        if str(name_or_path) not in shipped:
            raise HarnessError(
                f"expected the name of a shipped target ({', '.join(shipped)}) or the path of a .toml file, "
                f"found {str(name_or_path)!r}; correct the name or give a path{not_built(str(name_or_path))}",
                "name",
            )
        path = shipped[str(name_or_path)]
    _, table = read_toml(path, "target file")
    return _TargetFile(path.resolve(), table).target()


T = TypeVar("T")


def _parameter(given: object) -> ParameterValue | None:
    """Return the value of a parameter as a target file has it; None if it is none."""
    if type(given) is int:
        return given
    value = parameter_value(str(given)) if isinstance(given, str | float) else None
    return value if isinstance(value, str) else None


class _TargetFile:
    """Checks a parsed target file entry by entry."""

    def __init__(self, path: Path, table: dict[str, object]) -> None:
        self.path = path
        self.table = table

    def target(self) -> Target:
        known = {f.name for f in fields(Target)} - {"snapshot"} | {*_SHORTHAND}
        closed = any(key in self.table for key in _BENCH)
        self._check_keys("", self.table, known, _MANDATORY if closed else _OPEN_MANDATORY)
        texts: dict[str, Any] = {} if closed else {key: "" for key in ("reset", "dut", "done")}
        texts |= {key: self._typed(self.table, key, str, "a string") for key in _TEXTS if key in self.table}
        sources, keep = self._sources(), self._patterns("keep")
        cells = self._cells(sources)
        if cells is not None:
            # A netlist goes to silicon as it is: nothing is merged, whatever models the user has.
            sources, keep = (*sources, cell_models(cells, sources)), ("*",)
        boxes = self._black_boxes(sources)
        if boxes:
            sources = (*sources, self._black_box_models(boxes))
        return Target(
            **texts,
            sources=sources,
            include_dirs=self._folders("include_dirs", []),
            data_dirs=self._folders("data_dirs", ["."]),
            data_files=self._files("data_files"),
            defines=self._mapping("defines", str),
            parameters=self._parameters(closed),
            reset_active_low=self._typed(self.table, "reset_active_low", bool, "true or false", True),
            reset_cycles=self._typed(self.table, "reset_cycles", int, "an integer", 4),
            blocks=self._blocks(),
            memories=self._memories(),
            titles=self._titles(),
            macros=self._patterns("macros"),
            keep=keep,
            cells=cells,
            exclude=self._patterns("exclude"),
            alarms=self._alarms(),
            black_boxes=boxes,
            storage=self._storage(),
            storage_names=self._storage_names(),
            replay=self._replay(),
        )

    def _replay(self) -> Replay | None:
        table = self._table("replay")
        if not table:
            return None
        self._check_keys("replay.", table, {"of", "layout"}, ("of", "layout"))
        of = self.path.parent / self._typed(table, "of", str, "a string")
        return Replay(of.resolve(), self._typed(table, "layout", str, "a string"))

    def _fail(self, key: str, message: str) -> HarnessError:
        return HarnessError(f"{self.path}: {key}: {message}", key)

    def _check_keys(
        self, where: str, table: Mapping[str, object], known: set[str], needed: Sequence[str]
    ) -> None:
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known keys are {', '.join(sorted(known))}"
                raise self._fail(where + key, f"unknown key; {hint}")
        for key in needed:
            if key not in table:
                raise self._fail(where + key, "this key is mandatory; add it")

    def _typed(
        self, table: Mapping[str, object], key: str, kind: type[T], wanted: str, default: T | None = None
    ) -> T:
        value = table.get(key, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self._fail(key, f"expected {wanted}, found {value!r}; correct it")
        return value

    def _strings(self, key: str, value: object) -> list[str]:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(i, str) and i for i in items):
            raise self._fail(key, f"expected a string or a list of strings, found {value!r}; correct it")
        return items

    def _sources(self) -> tuple[Path, ...]:
        files = self._files("sources")
        if not files:
            raise self._fail(
                "sources", "expected at least one file, found none; list the RTL in compile order"
            )
        for file in files:
            if PACKAGE not in file.parents:
                require_readable(f"{self.path}: sources", file, "sources")
        return files

    def _cells(self, sources: Sequence[Path]) -> Path | None:
        if "cells" not in self.table:
            return None
        files = self._files("cells")
        verilog = [file for file in files if file.suffix in VERILOG]
        if not verilog and len(files) == 1:
            return files[0]
        if len(verilog) < len(files):
            raise self._fail(
                "cells",
                f"expected one Liberty file, or Verilog files ({', '.join(VERILOG)}) of models, found "
                f"{len(files)} files, {len(verilog)} of them Verilog; name one kind",
            )
        if twice := [file for file in files if file in sources]:
            raise self._fail("cells", f"{twice[0]} is among the sources too; leave it out there")
        for file in files:
            require_readable(f"{self.path}: cells", file, "cells")
        said = ", ".join(str(file) for file in files)
        used = cells_used(modules_of(files), sources, said)
        if not used:
            raise self._fail(
                "cells", "every cell that the sources name is a module among them; leave cells out"
            )
        given = VerilogCells(files, self._folders("include_dirs", []), self._mapping("defines", str))
        return derived_library(given, used)

    def _files(self, key: str) -> tuple[Path, ...]:
        files: dict[Path, None] = {}
        for pattern in self._strings(key, self.table.get(key, [])):
            with self._looking_for(key, pattern):
                found = self._matches(pattern)
            if not found:
                raise self._fail(
                    key, f"no file matches {pattern!r} from {self.path.parent}; correct the path"
                )
            files.update(dict.fromkeys(found))
        return tuple(files)

    def _matches(self, pattern: str) -> list[Path]:
        base, pattern = self._based(pattern)
        if not any(c in pattern for c in "*?["):
            return [p] if (p := (base / pattern).resolve()).is_file() else []
        anchor, relative = (Path("/"), pattern[1:]) if pattern.startswith("/") else (base, pattern)
        return sorted({p.resolve() for p in anchor.glob(relative) if p.is_file()})

    def _based(self, name: str) -> tuple[Path, str]:
        """Return what a path is relative to, and the path."""
        if name.startswith(SHIPPED_PREFIX):
            return PACKAGE, name.removeprefix(SHIPPED_PREFIX)
        return self.path.parent, name

    def _folders(self, key: str, default: list[str]) -> tuple[Path, ...]:
        folders = []
        for name in self._strings(key, self.table.get(key, default)):
            with self._looking_for(key, name):
                base, path = self._based(name)
                folder = (base / path).resolve()
                there = folder.is_dir()
            if not there:
                raise self._fail(key, f"there is no folder {folder}; correct the path")
            folders.append(folder)
        return tuple(folders)

    @contextmanager
    def _looking_for(self, key: str, name: str) -> Iterator[None]:
        """Say of a name that no file can have what is wrong with it."""
        try:
            yield
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            shown = f"{name[:60]!r}{'...' if len(name) > 60 else ''}"
            raise self._fail(key, f"{shown} cannot be looked for ({reason}); correct the path") from None

    def _table(self, key: str, around: Mapping[str, object] | None = None) -> dict[str, object]:
        value = (self.table if around is None else around).get(key.rpartition(".")[2], {})
        if not isinstance(value, dict):
            raise self._fail(key, f"expected a table [{key}], found {value!r}; correct it")
        return value

    def _mapping(self, key: str, kind: type[T]) -> dict[str, T]:
        table = self._table(key)
        return {name: self._typed(table, name, kind, f"a value of type {kind.__name__}") for name in table}

    def _parameters(self, closed: bool) -> dict[str, ParameterValue]:
        found: dict[str, ParameterValue] = {}
        for name, given in self._table("parameters").items():
            value = _parameter(given)
            if value is None:
                raise self._fail(
                    f"parameters.{name}",
                    f"expected a whole number, a real number, or a literal in a string ({LITERALS}), found "
                    f"{given!r}; a text is written {name} = '\"text\"'",
                )
            if closed and isinstance(value, str):
                raise self._fail(
                    f"parameters.{name}",
                    f"expected a whole number, as {self.table['top']} is a bench, found {value}; give it to "
                    "the design where the bench instantiates it",
                )
            found[name] = value
        return found

    def _blocks(self) -> dict[str, tuple[str, ...]]:
        blocks = {
            name: tuple(self._strings(f"blocks.{name}", v)) for name, v in self._table("blocks").items()
        }
        if "blocks" not in self.table:
            blocks = {str(self.table["top"]): (".",)}
        owner: dict[str, str] = {}
        for block, instances in blocks.items():
            for instance in instances:
                if instance in owner:
                    raise self._fail(
                        f"blocks.{block}",
                        f"instance {instance} is also in block {owner[instance]}; name it once",
                    )
                owner[instance] = block
        return blocks

    def _titles(self) -> dict[str, str]:
        titles = self._mapping("titles", str)
        for block in titles:
            if block not in self._table("blocks"):
                known = ", ".join(self._table("blocks"))
                raise self._fail(f"titles.{block}", f"expected one of the blocks {known}; correct the name")
        return titles

    def _patterns(self, key: str) -> tuple[str, ...]:
        patterns = self._strings(key, self.table.get(key, []))
        if twice := [pattern for i, pattern in enumerate(patterns) if pattern in patterns[:i]]:
            raise self._fail(key, f"{twice[0]!r} is there twice; name it once")
        return tuple(patterns)

    def _storage(self) -> dict[str, tuple[str, ...]]:
        table = self._table("storage")
        self._check_keys("storage.", table, {*STORED_AS}, ())
        found = {kind: tuple(self._strings(f"storage.{kind}", own)) for kind, own in table.items()}
        patterns = [pattern for own in found.values() for pattern in own]
        if twice := [own for place, own in enumerate(patterns) if own in patterns[:place]]:
            raise self._fail("storage", f"{twice[0]!r} is there twice; name it once")
        return found

    def _black_boxes(self, sources: Sequence[Path]) -> dict[str, BlackBox]:
        table = self._table("black_boxes")
        if defined := sorted(table.keys() & modules_of(sources)) if table else []:
            raise self._fail(
                f"black_boxes.{defined[0]}",
                f"expected a module that no source defines, but one has module {defined[0]}; leave that file "
                "out of sources, or this table out",
            )
        return {name: self._black_box(name, own) for name, own in table.items()}

    def _black_box(self, name: str, table: object) -> BlackBox:
        where = f"black_boxes.{name}"
        if not isinstance(table, dict):
            raise self._fail(where, f"expected a table, found {table!r}; correct it")
        self._check_keys(f"{where}.", table, {own.name for own in fields(BlackBox)}, ())
        ports = table.get("ports", [])
        if not isinstance(ports, list) or not all(isinstance(own, dict) for own in ports):
            raise self._fail(f"{where}.ports", f"expected tables [[{where}.ports]], found {ports!r}")
        known = {own.name for own in fields(MemoryPort)}
        found = []
        for number, port in enumerate(ports):
            self._check_keys(f"{where}.ports[{number}].", port, known, ("clock", "address"))
            found.append(MemoryPort(**{key: self._typed(port, key, str, "a string") for key in port}))
        outputs, inputs = (self._table(f"{where}.{key}", table) for key in ("outputs", "inputs"))
        return BlackBox(
            words=self._typed(table, "words", int, "an integer", 0),
            width=self._typed(table, "width", int, "an integer", 0),
            mask_bits=self._typed(table, "mask_bits", int, "an integer", 8),
            latency=self._typed(table, "latency", int, "an integer", 1),
            ports=tuple(found),
            plusarg=self._typed(table, "plusarg", str, "a string", ""),
            outputs={pin: self._typed(outputs, pin, str, "a string") for pin in outputs},
            inputs={pin: self._typed(inputs, pin, int, "a number of bits") for pin in inputs},
            area_ge=self._black_box_area(where, table, "area_ge"),
            area_um2=self._black_box_area(where, table, "area_um2"),
        )

    def _black_box_area(self, where: str, table: Mapping[str, object], key: str) -> float | None:
        value = table.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise self._fail(f"{where}.{key}", f"expected an area of at least 0, found {value!r}; correct it")
        return float(value)

    def _black_box_models(self, boxes: Mapping[str, BlackBox]) -> Path:
        try:
            return black_box_models(boxes)
        except PortsError as error:
            raise self._fail(f"black_boxes.{error.module}", str(error)) from None

    def _storage_names(self) -> StorageNames:
        file = self._typed(self.table, "storage_names", str, "a string", "")
        return read_storage_names(self.path.parent / file) if file else StorageNames()

    def _alarms(self) -> dict[str, TargetAlarm]:
        texts = {key: self._typed(self.table, key, str, "a string", "") for key in _SHORTHAND}
        alarms = {key: TargetAlarm(output) for key, output in texts.items() if output}
        for name, entry in self._table("alarms").items():
            where = f"alarms.{name}"
            if name in alarms:
                raise self._fail(where, f"there is also {name} = {texts[name]!r}; say it once")
            if not _ALARM_NAME.fullmatch(name):
                raise self._fail(where, "expected a name of letters, digits, '_', '.' and '-'; rename it")
            if not isinstance(entry, dict):
                raise self._fail(
                    where,
                    f'expected {{ output = "...", reports = "detected" }}, found {entry!r}; correct it',
                )
            self._check_keys(f"{where}.", entry, {"output", "reports"}, ("output", "reports"))
            output = self._typed(entry, "output", str, "a string")
            reports = self._typed(entry, "reports", str, "a string")
            if reports not in ("corrected", "detected"):
                raise self._fail(
                    f"{where}.reports", f'expected "corrected" or "detected", found {reports!r}; correct it'
                )
            alarms[name] = TargetAlarm(output, cast(AlarmReport, reports))
        if len(alarms) > MOST_ALARMS:
            raise self._fail(
                "alarms", f"expected at most {MOST_ALARMS}, found {len(alarms)}; join some in the top"
            )
        owner: dict[str, str] = {}
        for name, alarm in alarms.items():
            if alarm.output in owner:
                raise self._fail(
                    f"alarms.{name}", f"{alarm.output!r} is the alarm {owner[alarm.output]} too; name it once"
                )
            owner[alarm.output] = name
        return alarms

    def _memories(self) -> dict[str, TargetMemory]:
        memories: dict[str, TargetMemory] = {}
        for name, table in self._table("memories").items():
            where = f"memories.{name}."
            if not isinstance(table, dict):
                raise self._fail(f"memories.{name}", f"expected a table, found {table!r}; correct it")
            self._check_keys(
                where, table, {f.name for f in fields(TargetMemory)}, ("path", "word_bytes", "plusarg")
            )
            memories[name] = TargetMemory(
                path=self._typed(table, "path", str, "a string"),
                word_bytes=self._typed(table, "word_bytes", int, "an integer"),
                plusarg=self._typed(table, "plusarg", str, "a string"),
                observed=self._typed(table, "observed", bool, "true or false", True),
                words_plusarg=self._typed(table, "words_plusarg", str, "a string", ""),
            )
            if memories[name].word_bytes < 1:
                raise self._fail(where + "word_bytes", "expected at least 1; correct it")
        return memories
