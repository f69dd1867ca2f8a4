# SPDX-License-Identifier: Apache-2.0
"""Compiles the lane model of a target into a shared library."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key, is_cached
from resil.rtl_harness.design.elaboration.netlist import Netlist
from resil.rtl_harness.design.elaboration.parallel import may_coincide
from resil.rtl_harness.design.elaboration.undefined import DEFINED
from resil.rtl_harness.design.elaboration.yosys import read_commands, rtl_key, run_yosys
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.lanes.design import read_design
from resil.rtl_harness.engine.fast.lanes.emit import source
from resil.rtl_harness.engine.fast.lanes.words import UnsupportedLanesError
from resil.rtl_harness.engine.fast.native.build import native_flag, processor
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.host import processor_flags, shared_library_flags
from resil.rtl_harness.tools import compiler_version, find_compiler, tail

HERE = Path(__file__).parent
CALLS = HERE.parent / "native" / "lane_calls.h"
SOURCE = "lanes.cpp"
LIBRARY = "liblanes.so"
_MADE_OF = (
    *sorted(HERE.glob("*.py")),
    *sorted(HERE.glob("*.h")),
    CALLS,
)

# Flip-flops and memory ports are kept as they are, so that each bit of storage is one of the simulator's; an
# undefined value is 0 as there. What is selected beyond the end of a word is undefined, too, but there it is
# what the simulator happens to compute: it stays undefined, and no machine in a lane goes on with it.
SCRIPT = (
    "flatten",
    "setattr -unset src",
    "setattr -set keep 1 t:$*ff* t:$mem*",
    DEFINED,
    *("opt_expr", "opt_merge", "opt_clean", "opt_muxtree", "opt_reduce") * 3,
    "opt_merge",
    "opt_expr",
    "opt_clean",
    DEFINED,
    "write_json words.json",
)
FLAGS = ("-std=c++20", "-O1", "-fno-strict-aliasing", "-fPIC", *shared_library_flags(), "-w")


# Ways to compute, the fastest first; the flags with which this processor's compiler takes each, and of what
# its processor needs to have for that.
AVX512 = frozenset({"avx512f", "avx512bw", "avx512vl", "avx512dq"})
PATHS = {
    "avx512": (AVX512, ()),
    "avx2": (frozenset({"avx2"}), ("-mno-avx512f",)),
    "plain": (frozenset[str](), ("-march=x86-64",)),
}


def paths() -> list[str]:
    """Return the ways to compute that this processor has, the fastest first."""
    if platform.machine() != "x86_64" or not native_flag():
        return ["plain"]
    return [name for name, (needed, _) in PATHS.items() if needed <= processor_flags()]


def path() -> str:
    """Return the way in which lane models compute here."""
    return paths()[0]


def pays() -> bool:
    """Say whether lane models are faster here than the compiled model is.

    On `digits`, 32 MACs, 10,000 faults took 0.80 times as long with lanes as without by AVX-512, and 1.45
    times by AVX2.
    """
    return path() == "avx512"


def flags_of(name: str) -> tuple[str, ...]:
    """Return the compiler's flags of a way to compute."""
    if platform.machine() != "x86_64":
        return native_flag()
    own = PATHS[name][1]
    return own if name == "plain" else (*native_flag(), *own)


@dataclass(frozen=True)
class Place:
    """Bits of a variable that are bits of a piece of the flip-flops.

    Attributes:
        path: The variable.
        low: The lowest of the bits, counted over all words of the variable from the right.
        width: How many.
        piece: Number of the piece.
        at: The lowest of them in the piece.
    """

    path: str
    low: int
    width: int
    piece: int
    at: int


@dataclass(frozen=True)
class LaneModel:
    """A target as a library that takes 32 machines on together.

    Attributes:
        library: The shared library, see `lane_calls.h`.
        places: Where the flip-flops are among the variables.
        memories: Path and first address of each memory, in the library's order.
        shared: Numbers of those that nothing writes: one for all machines.
    """

    library: Path
    places: tuple[Place, ...]
    memories: tuple[tuple[str, int], ...]
    shared: tuple[int, ...]


def lane_model(target: Target, parameters: Mapping[str, int]) -> LaneModel:
    """Return the lane model of a target, built or from the cache.

    Raises:
        UnsupportedError: If the design has several clocks, latches, loops, or cells of unknown kinds, or
            leaves open which of several conditions counts.
        SimulationError: If the compiler fails, with the end of what it says.
    """
    target = frozen(target)
    folder = cached_folder("lanes", _key(target, parameters), lambda made: _build(target, parameters, made))
    found = json.loads((folder / "places.json").read_text(encoding="utf-8"))
    if "unsupported" in found:
        raise UnsupportedLanesError(found["unsupported"])
    return LaneModel(
        folder / LIBRARY,
        tuple(Place(*place) for place in found["places"]),
        tuple((path, first) for path, first in found["memories"]),
        tuple(found["shared"]),
    )


def is_made(target: Target, parameters: Mapping[str, int]) -> bool:
    """Say whether `lane_model` would build nothing."""
    return is_cached("lanes", _key(target, parameters))


def _key(target: Target, parameters: Mapping[str, int]) -> str:
    ports = [target.clock, target.reset, target.reset_active_low, target.done, target.operation]
    ports += [alarm.output for alarm in target.alarms.values()]
    return rtl_key(
        target, parameters, "lanes", json.dumps([ports, *SCRIPT, *FLAGS]),
        content_key(_MADE_OF, compiler_version(), processor(), *flags_of(path())),
    )  # fmt: skip


def _build(target: Target, parameters: Mapping[str, int], folder: Path) -> None:
    try:
        found = _generate(target, parameters, folder)
    except (UnsupportedLanesError, HarnessError) as error:
        found = {"unsupported": str(error)}
    else:
        compile_source(f"lane model of {target.name}", folder)
    (folder / "places.json").write_text(json.dumps(found), encoding="utf-8")


def _generate(target: Target, parameters: Mapping[str, int], folder: Path) -> dict[str, object]:
    """Write the source; return where its storage is."""
    if several := may_coincide(target):
        raise UnsupportedLanesError(several)
    run_yosys([*read_commands(target, parameters, [], folder), *SCRIPT], folder, f"words of {target.name}")
    file = folder / "words.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    alarms = [alarm.output for alarm in target.alarms.values()]
    outputs = list(dict.fromkeys([target.done, *([target.operation] if target.operation else []), *alarms]))
    inputs = {target.clock: False, target.reset: target.reset_active_low}
    design = read_design(document["modules"][target.top], target.clock, inputs, outputs)
    text = source(design, target.done, target.operation, alarms)
    (folder / SOURCE).write_text(text, encoding="utf-8")
    netlist = Netlist(document, target.top)
    piece_of = {f.piece.number: i for i, f in enumerate(design.flip_flops)}
    places: list[Place] = []
    for path, bits in netlist.wires.items():
        run: Place | None = None
        for low, bit in enumerate(bits):
            piece = design.words.holder(bit)
            if piece is None or piece[0].number not in piece_of:
                run = None
                continue
            number, at = piece_of[piece[0].number], piece[1]
            if run and run.piece == number and run.at + run.width == at:
                run = Place(path, run.low, run.width + 1, number, run.at)
                places[-1] = run
            else:
                run = Place(path, low, 1, number, at)
                places.append(run)
    written = {port.memory for port in design.writes}
    memories = list(design.memories.values())
    return {
        "places": [[p.path, p.low, p.width, p.piece, p.at] for p in places],
        "memories": [[netlist.memories[m.name].path, m.first] for m in memories],
        "shared": [i for i, m in enumerate(memories) if m.name not in written],
    }


def compile_source(what: str, folder: Path) -> None:
    """Make the library of a source that lies in a folder, and remove the source.

    Raises:
        SimulationError: If the compiler fails, with the end of what it says.
    """
    compiler = str(find_compiler())
    includes = ["-I", str(HERE), "-I", str(CALLS.parent)]
    command = [compiler, *FLAGS, *flags_of(path()), *includes, SOURCE, "-o", LIBRARY]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise SimulationError(f"{what}: {compiler} failed:\n{tail(done.stderr, 15)}")
    (folder / SOURCE).unlink()
