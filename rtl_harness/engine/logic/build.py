# SPDX-License-Identifier: Apache-2.0
"""Compiles the simulator of faulty logic: one library for all designs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from resil.rtl_harness.cache import build_together, cached_folder, content_key
from resil.rtl_harness.engine.fast.lanes.build import flags_of, paths
from resil.rtl_harness.engine.fast.native.build import processor
from resil.rtl_harness.host import own_symbols_flags, shared_library_flags
from resil.rtl_harness.tools import compile_objects, compiler_version, find_compiler, run_tool

HERE = Path(__file__).parent / "native"
SHARED = Path(__file__).parents[1] / "fast" / "native"
GATES = tuple(SHARED / f"{name}.h" for name in ("circuit", "gate_operations", "bit_parallel", "cycle_sets"))
SOURCES = tuple(sorted(HERE.glob("*.cpp")))
LIBRARY = "liblogic.so"
FLAGS = ("-std=c++20", "-O2", "-fPIC", *own_symbols_flags(), "-w")


def build_library(path: str | None = None) -> Path:
    """Return the library, built or from the cache.

    Args:
        path: A way to compute, of `lanes.build.PATHS`; the fastest that this processor has if None.

    Raises:
        ToolMissingError: If there is no compiler.
        SimulationError: If it fails, with the end of what it printed.
    """
    flags = [*FLAGS, *flags_of(path or paths()[0])]
    headers = [*sorted(HERE.glob("*.h")), *GATES]
    key = content_key(
        SOURCES, headers, flags, shared_library_flags(), compiler_version(), processor()
    )  # fmt: skip

    def compiled(source: Path) -> Path:
        made = content_key(source, headers, flags, compiler_version(), processor())

        def build(folder: Path) -> None:
            compile_objects([source], [*flags, "-I", str(HERE), "-I", str(SHARED)], folder)

        return cached_folder("logic-part", made, build) / f"{source.stem}.o"

    def build(folder: Path) -> None:
        parts = build_together(partial(compiled, source) for source in SOURCES)
        command = [str(find_compiler()), *shared_library_flags(), *map(str, parts), "-o", LIBRARY]
        run_tool(command, folder, "the linker")

    return cached_folder("logic", key, build) / LIBRARY
