# SPDX-License-Identifier: Apache-2.0
"""Build the plain injector: Verilator as it comes, with storage and ports open by name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.snapshot import FRONT_END_MACROS, copy_data, frozen, rtl_digest, verilate_copies
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.tools import SAME_TEXT, compiler_version, find_verilator, make_verilated

_DRIVER = Path(str(files(__package__) / "driver.cpp"))
_SIMULATOR = _DRIVER.with_name("verilated_simulator.h")
# Undefined bits are zero, as the rules of faults say; no check of style or timing stops a build.
_FLAGS = (
    *("--cc", "--exe", "--vpi", "--no-timing", "--no-assert", "--prefix", "Vtop", "-o", "injector"),
    *("--x-assign", "0", "--x-initial", "fast", "--timescale", "1ns/1ps", "-Wno-fatal", "-Wno-lint"),
    *SAME_TEXT,
    "-Wno-BLKANDNBLK",
)


def build_injector(target: Target, elaboration: Elaboration) -> Path:
    """Return the executable, built or from the cache.

    Variables are opened by their name in any module, so that names alone say where storage lies.

    Raises:
        ToolMissingError: Verilator, make or the compiler is missing.
        SimulationError: the build fails, with the end of the log.
    """
    target = frozen(target)
    control = _open(target, elaboration)
    key = content_key(
        *(rtl_digest(target), elaboration.parameters, control, _FLAGS, _DRIVER, _SIMULATOR),
        *(*FRONT_END_MACROS, find_verilator().version, compiler_version()),
    )

    def build(folder: Path) -> None:
        (folder / "open.vlt").write_text(control, encoding="utf-8")
        flags = [*_FLAGS, "--Mdir", "obj", str(_DRIVER)]
        verilate_copies(target, elaboration.parameters, flags, folder, "open.vlt")
        copy_data(target, folder)
        make_verilated("Vtop.mk", folder / "obj", {"OPT_FAST": "-O1", "OPT_GLOBAL": "-O1"})

    return cached_folder("plain", key, build) / "obj" / "injector"


def _open(target: Target, elaboration: Elaboration) -> str:
    found = elaboration.locations
    paths = [element.path for element in elaboration.sites.elements]
    paths += [memory.path for memory in target.memories.values() if memory.path in found]
    names = {found[path].variable for path in paths}
    ports = sorted({target.clock, target.reset, *target.outputs.values()})
    return "\n".join(
        [
            "`verilator_config",
            *(f'public_flat_rw -module "*" -var "{name}"' for name in sorted(names)),
            *(f'public_flat_rw -module "{target.top}" -var "{port}"' for port in ports),
            "",
        ]
    )
