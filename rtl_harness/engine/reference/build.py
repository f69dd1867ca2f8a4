# SPDX-License-Identifier: Apache-2.0
"""Build the simulator of the cocotb engine: Verilator, with only the storage open to writing."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Literal

from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.yosys import rtl_key
from resil.rtl_harness.design.snapshot import FRONT_END_MACROS, copy_data, frozen, verilate_copies
from resil.rtl_harness.design.target import Parameters, Target
from resil.rtl_harness.errors import HarnessError, ToolMissingError
from resil.rtl_harness.tools import (
    SAME_TEXT,
    compiler_version,
    find_compiler,
    find_verilator,
    make_verilated,
)

Waves = Literal["none", "vcd", "fst"]

_FLAGS = (
    *("--cc", "--exe", "--vpi", "--no-timing", "--no-assert", "--prefix", "Vtop", "-o", "simulator"),
    *("-O3", "--x-assign", "0", "--x-initial", "fast", "--timescale", "1ns/1ps", "-Wno-fatal", "-Wno-lint"),
    *SAME_TEXT,
    "-Wno-BLKANDNBLK",  # members of one packed structure may be assigned in both ways
)
_NO_CONTROL = "`verilator_config\n"
FST_HEADERS = ("lz4.h", "zlib.h")
FST_REMEDY = "Debian: apt-get install liblz4-dev zlib1g-dev"
_OPTIMISE: dict[Waves, str] = {"none": "-O1", "vcd": "-O0", "fst": "-O0"}


def wave_format(path: Path | None) -> Waves:
    """Return the waveform format that a file name asks for; raise HarnessError if it is not known."""
    if path is None:
        return "none"
    match path.suffix:
        case ".vcd":
            return "vcd"
        case ".fst":
            return "fst"
    raise HarnessError(
        f"{path}: expected a waveform file that ends in .vcd or .fst; correct the name", "waves"
    )


def check_waves(path: Path) -> None:
    """Refuse a waveform that cannot be written, before anything is built.

    Raises:
        HarnessError: The name asks for no format that is known.
        ToolMissingError: The format asks for headers that are not installed.
    """
    if wave_format(path) == "fst" and (missing := missing_fst_headers()):
        raise ToolMissingError(
            f"{path}: a waveform in FST format needs the headers lz4.h and zlib.h, found no "
            f"{' and no '.join(missing)}; install them ({FST_REMEDY}) or ask for a .vcd file",
            "waves",
        )


def build_simulator(target: Target, elaboration: Elaboration, waves: Waves = "none") -> Path:
    """Return the simulator's executable, built or from the cache.

    Args:
        target: The design.
        elaboration: Its storage; these variables, the target's memories and the top's ports are made
            public. The simulator gets the parameters of the elaboration.
        waves: Format of the waveform that it can write; "none" is faster.

    Raises:
        ToolMissingError: If Verilator, make, the compiler or cocotb is missing.
        SimulationError: If the build fails, with the end of the log.
    """
    control = public_storage(target, elaboration)
    return _built(target, elaboration.parameters, control, waves, [])


def build_open(
    target: Target, parameters: Parameters, waves: Waves = "none", *, ports_only: bool = False
) -> Path:
    """Return the executable of a design that a test of the user's drives, built or from the cache.

    All of it is public, as it is where cocotb's own runner builds it.

    Args:
        target: The design alone.
        parameters: Of its top.
        waves: As of `build_simulator`.
        ports_only: Waveforms have the signals of the top alone.

    Raises:
        ToolMissingError, SimulationError: As `build_simulator`.
    """
    more = ["--public-flat-rw", *(["--trace-depth", "1"] if ports_only else [])]
    return _built(target, parameters, _NO_CONTROL, waves, more)


def _built(target: Target, parameters: Parameters, control: str, waves: Waves, more: list[str]) -> Path:
    target = frozen(target)
    share, libraries = _cocotb_folders()
    versions = [
        find_verilator().version,
        compiler_version(),
        *FRONT_END_MACROS,
        *_FLAGS,
        *more,
        _OPTIMISE[waves],
        str(libraries),
    ]
    key = content_key(rtl_key(target, parameters), control, versions, waves, share / "verilator.cpp")

    def build(folder: Path) -> None:
        (folder / "public.vlt").write_text(control, encoding="utf-8")
        flags = [
            *_FLAGS,
            *more,
            *([] if waves == "none" else [f"--trace-{waves}"]),
            *("--Mdir", "obj", str(share / "verilator.cpp")),
            *("-LDFLAGS", f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator"),
        ]
        verilate_copies(target, parameters, flags, folder, "public.vlt")
        copy_data(target, folder)
        make_verilated(
            "Vtop.mk", folder / "obj", {"OPT_FAST": _OPTIMISE[waves], "OPT_GLOBAL": _OPTIMISE[waves]}
        )

    return cached_folder("cocotb", key, build) / "obj" / "simulator"


def public_storage(target: Target, elaboration: Elaboration) -> str:
    """Return the Verilator control file that opens storage for writing and the top's ports."""
    found = elaboration.locations
    memories = [found[m.path] for m in target.memories.values() if m.path in found]
    places = [found[e.path] for e in elaboration.sites.elements] + memories
    names = {(place.module, place.variable) for place in places}
    ports = (target.clock, target.reset, *target.outputs.values())
    names |= {(target.top, port) for port in ports}
    lines = [f'public_flat_rw -module "{module}" -var "{variable}"' for module, variable in sorted(names)]
    return "\n".join([_NO_CONTROL.rstrip(), *lines]) + "\n"


def _cocotb_folders() -> tuple[Path, Path]:
    try:
        from cocotb_tools import config
    except ImportError as error:
        raise ToolMissingError(
            "expected the Python package cocotb, found none; pip install cocotb==2.1.0", "packages.cocotb"
        ) from error
    return Path(config.share_dir) / "lib" / "verilator", Path(config.libs_dir)


def missing_fst_headers() -> tuple[str, ...]:
    """Return the headers that a waveform in FST format wants and that are not installed."""
    compiler = str(find_compiler())

    def lacks(header: str) -> bool:
        done = subprocess.run(
            [compiler, "-fsyntax-only", "-x", "c++", "-"],
            input=f"#include <{header}>\n",
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode != 0

    return tuple(header for header in FST_HEADERS if lacks(header))
