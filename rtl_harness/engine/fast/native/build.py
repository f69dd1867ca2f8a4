# SPDX-License-Identifier: Apache-2.0
"""Compiles a closed target into a shared library that holds the model and our driver."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from resil.rtl_harness.cache import build_together, cached_folder, content_key
from resil.rtl_harness.design.snapshot import (
    FRONT_END_MACROS,
    copy_data,
    frozen,
    snapshot_of,
    verilate_copies,
)
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.native.glue import PREFIX, write_glue
from resil.rtl_harness.host import own_symbols_flags, processor_lines, shared_library_flags
from resil.rtl_harness.tools import (
    SAME_TEXT,
    compile_objects,
    compiler_version,
    find_compiler,
    find_verilator,
    make_verilated,
    run_tool,
)

HERE = Path(__file__).parent
# What is compiled anew for each model, for it includes what Verilator generated, and what all share.
OWN = HERE / "driver.cpp"
SHARED = tuple(sorted(set(HERE.glob("*.cpp")) - {OWN}))
HEADERS = tuple(sorted(HERE.glob("*.h")))
LIBRARY = "libmodel.so"
_OWN_HEADERS = (HERE / "driver.h", HERE / "instance.h")
_TEXTS = ("storage.vlt", "glue.h")

# An unknown value is 0 everywhere, so that builds which see different variables agree.
VERILATOR_FLAGS = (
    "--cc", "--exe", "--no-timing", "-O3", "--x-assign", "0", "--x-initial", "unique", "--noassert",
    "-Wno-fatal", "--output-split", "40000", "--output-split-cfuncs", "4000", *SAME_TEXT,
)  # fmt: skip
COMPILER_FLAGS = (
    "-fPIC", *own_symbols_flags(), "-std=gnu++20", "-DVL_USER_FATAL", "-DVL_USER_STOP", "-DVL_USER_FINISH",
    "-w",
)  # fmt: skip
LINKER_FLAGS = shared_library_flags()

# The table of scopes and variables is one long function that runs once an instance. A compiler that optimises
# it takes as long for it as for all the rest, and longer than in proportion to the design.
_MAKE_MODEL = f"""
{PREFIX}__Syms%.o: override OPT_SLOW := -O0
{PREFIX}__Syms%.o: VK_PCH_I_SLOW := -include $(VK_PCH_H)
"""


class SourceVariable(NamedTuple):
    """A variable of the source code.

    Attributes:
        module: Module that declares it, "*" for any.
        name: Its name, without generate scopes.
        port: It is an output of its module.
    """

    module: str
    name: str
    port: bool = False


def build_model(
    target: Target,
    parameters: Mapping[str, int],
    variables: Iterable[SourceVariable],
    assertions: bool = False,
) -> Path:
    """Return the shared library of `target`, built or from the cache.

    Args:
        target: The closed design.
        parameters: Parameters of the top module; they go before those of the target.
        variables: Registers and memories that will be read or written.
        assertions: Check those in the sources; a run ends with a `SimulationError` where one fails.

    Raises:
        HarnessError: If a source file is missing, or the top has other inputs than clock and reset.
        ToolMissingError: If a compiler, make or Verilator is missing.
        SimulationError: If Verilator or the compiler fails, with the end of the log.
    """
    target = frozen(target)
    objects = design_objects(target, parameters, variables, assertions)
    key = content_key(objects.name, SHARED, HEADERS, LINKER_FLAGS)

    def build(folder: Path) -> None:
        parts = [*objects.glob("*.o"), *shared_objects(), *objects.glob("*.a")]
        compiler = str(find_compiler())
        run_tool(
            [compiler, *LINKER_FLAGS, *map(str, parts), "-pthread", "-lm", "-o", LIBRARY],
            folder,
            "the linker",
        )
        for name in _TEXTS:
            shutil.copy(objects / name, folder)
        copy_data(target, folder)

    return cached_folder("verilated", key, build) / LIBRARY


def design_objects(
    target: Target, parameters: Mapping[str, int], variables: Iterable[SourceVariable], assertions: bool
) -> Path:
    """Return a folder with all that is compiled of a design itself; arguments and errors as `build_model`.

    A change of the driver's shared parts costs no more than linking these again.
    """
    target = frozen(target)
    merged = {**target.parameters, **parameters}
    public = sorted(set(variables))
    key = content_key(
        _description(target), merged, [list(v) for v in public], snapshot_of(target).digest,
        OWN, _OWN_HEADERS, (HERE / "glue.py",), _MAKE_MODEL,
        FRONT_END_MACROS, _verilator_flags(assertions), COMPILER_FLAGS, _optimisation(),
        find_verilator().version, compiler_version(), processor(),
    )  # fmt: skip

    def build(folder: Path) -> None:
        (folder / _TEXTS[0]).write_text(_configuration(public))
        for file in (OWN, *_OWN_HEADERS):
            shutil.copy(file, folder)
        verilate_copies(target, merged, _flags(assertions, folder), folder, _TEXTS[0])
        write_glue(target, folder)
        # Everything but the link: that comes with the shared parts.
        makefile = folder / f"{PREFIX}.mk"
        makefile.write_text(makefile.read_text(encoding="utf-8") + _MAKE_MODEL, encoding="utf-8")
        make_verilated(makefile.name, folder, {**_make_variables(), "LINK": "true"})
        made = {f"{OWN.stem}.o", f"{PREFIX}__ALL.a", *_TEXTS}
        _keep(folder, *made, *(file.name for file in folder.glob("verilated*.o")))

    return cached_folder("objects", key, build)


def shared_objects() -> list[Path]:
    """Return the compiled parts of the driver that are the same for all models."""
    flags = [*COMPILER_FLAGS, *_optimisation()["OPT_FAST"].split()]
    key = content_key(SHARED, HEADERS, flags, compiler_version(), processor())

    def build(folder: Path) -> None:
        for made in build_together(partial(_shared_object, source, flags) for source in SHARED):
            shutil.copy(made, folder)

    return sorted(cached_folder("driver", key, build).glob("*.o"))


def _shared_object(source: Path, flags: list[str]) -> Path:
    key = content_key(source, HEADERS, flags, compiler_version(), processor())
    folder = cached_folder("driver-part", key, lambda folder: compile_objects([source], flags, folder))
    return folder / f"{source.stem}.o"


def _keep(folder: Path, *names: str) -> None:
    for file in folder.iterdir():
        if file.is_file() and file.name not in names:
            file.unlink()


def variables_at(paths: Iterable[str]) -> list[SourceVariable]:
    """Return the variables at hierarchical paths, for whoever does not know their modules.

    Variables of the same name in other modules come with them, which costs speed and nothing else.

    >>> variables_at(["u_core.gen_lane[2].acc_q[3]"])
    [SourceVariable(module='*', name='acc_q', port=False)]
    """
    return [SourceVariable("*", re.sub(r"(\[-?\d+\])+$", "", path.rsplit(".", 1)[-1])) for path in paths]


def _configuration(public: Iterable[SourceVariable]) -> str:
    """Return a Verilator configuration that keeps these variables readable by the driver.

    Read access is enough: whoever writes calls the settle function afterwards, which recomputes all that
    depends on storage. Write access would make Verilator recompute it at every clock edge. But a register
    that is an output of its module (`output reg`) may be kept in the net that is connected to it, and only
    copied to its own name; with write access it is kept under its name.

    Members of one packed structure may be assigned in blocking and in non-blocking ways.
    """
    lines = ["lint_off -rule BLKANDNBLK"]
    lines += [f'public_flat_{_access(v)} -module "{v.module}" -var "{v.name}"' for v in public]
    return "\n".join(["`verilator_config", *lines, ""])


def _access(variable: SourceVariable) -> str:
    return "rw" if variable.port else "rd"


def _flags(assertions: bool, folder: Path) -> list[str]:
    return [
        *_verilator_flags(assertions),
        *("--prefix", PREFIX, "-Mdir", str(folder), "-o", LIBRARY),
        *_tool_flags(),
        OWN.name,
    ]


def _verilator_flags(assertions: bool) -> tuple[str, ...]:
    if not assertions:
        return VERILATOR_FLAGS
    return tuple("--assert" if flag == "--noassert" else flag for flag in VERILATOR_FLAGS)


def _tool_flags() -> list[str]:
    return ["-CFLAGS", " ".join(COMPILER_FLAGS), "-LDFLAGS", " ".join(LINKER_FLAGS)]


def _make_variables() -> dict[str, str]:
    return {**_optimisation(), "OPT_GLOBAL": "-O2"}


def _description(target: Target) -> Mapping[str, str]:
    alarms = [alarm.output for alarm in target.alarms.values()]
    ports = (target.clock, target.reset, target.done, target.status, target.operation, *alarms)
    defines = sorted(target.defines.items())
    return {
        "top": target.top,
        "ports": repr(ports),
        "low": str(target.reset_active_low),
        "defines": repr(defines),
    }


@lru_cache
def _optimisation() -> dict[str, str]:
    # The settle function lies in a file that Verilator holds to be slow; injection calls it often.
    native = " ".join(native_flag())
    return {"OPT_FAST": f"-O3 {native}".strip(), "OPT_SLOW": f"-O1 {native}".strip()}


@lru_cache
def native_flag() -> tuple[str, ...]:
    """Return the compiler's flag for this processor; nothing if it has none."""
    probe = [str(find_compiler()), "-march=native", "-E", "-x", "c++", "/dev/null"]
    known = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    return ("-march=native",) if known else ()


def processor() -> str:
    """Return what names the processor that a build with -march=native is for."""
    return platform.machine() + content_key(processor_lines())
