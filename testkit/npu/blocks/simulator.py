# SPDX-License-Identifier: Apache-2.0
"""Builds the blocks with Verilator and runs cocotb tests on them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import find_libpython
from cocotb_tools import config
from cocotb_tools.config import pygpi_entry_point

from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.tools import (
    compiler_version,
    find_verilator,
    make_verilated,
    tail,
    verilate,
)
from testkit.npu.blocks.structs import RTL

HERE = Path(__file__).parent
BENCHES = sorted(file.stem for file in HERE.glob("bench_*.py"))
ROOT = HERE.parents[2]
SOURCES = (
    *sorted(RTL.glob("*_pkg.sv")),
    *sorted(RTL.glob("*/*_pkg.sv")),
    HERE / "blocks_pkg.sv",
    *sorted(f for f in RTL.glob("*/*.sv") if f.parent.name != "bench" and not f.name.endswith("_pkg.sv")),
    RTL / "bench" / "axi_mem.sv",
    HERE / "blocks.sv",
)
CONTROL = '`verilator_config\npublic_flat_rw -module "blocks" -var "*_clk"\n' + "".join(
    f'public_flat_rw -module "blocks" -var "*_{end}"\n' for end in ("i", "o", "op", "regs", "regions")
)
FLAGS = (
    *(
        "--cc",
        "--exe",
        "--vpi",
        "--no-timing",
        "--prefix",
        "Vtop",
        "-o",
        "simulator",
        "--top-module",
        "blocks",
    ),
    *(
        "--x-assign",
        "0",
        "--x-initial",
        "unique",
        "--timescale",
        "1ns/1ps",
        "--assert",
        "-Wno-fatal",
        "-Wno-lint",
    ),
)


def build(macs: int, flags: Sequence[str] = (), sources: Sequence[Path] = SOURCES) -> Path:
    """Return the simulator of the blocks of one configuration, built or from the cache."""
    main = Path(config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    libraries = config.libs_dir

    def fill(folder: Path) -> None:
        (folder / "public.vlt").write_text(CONTROL)
        arguments = [
            *FLAGS,
            *flags,
            *("--Mdir", "obj", f"-GMacs={macs}", "public.vlt", *map(str, sources), str(main)),
            *("-LDFLAGS", f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator"),
        ]
        verilate(arguments, folder)
        make_verilated("Vtop.mk", folder / "obj", {"OPT_FAST": "-O1", "OPT_GLOBAL": "-O0"})

    key = content_key(
        macs,
        CONTROL,
        (*FLAGS, *flags),
        sources,
        main,
        str(libraries),
        find_verilator().version,
        compiler_version(),
    )
    return cached_folder("npu_blocks", key, fill) / "obj" / "simulator"


def run(module: str, macs: int, folder: Path, seed: int = 1, flags: Sequence[str] = ()) -> dict[str, str]:
    """Run the cocotb tests of `module`; return for each by name what failed, "" if nothing did."""
    return run_on(build(macs, flags), module, macs, folder, seed)


def run_on(
    simulator: Path, module: str, macs: int, folder: Path, seed: int = 1, arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None, timeout_s: float = 600,
) -> dict[str, str]:  # fmt: skip
    """Run the cocotb tests of `module` on a simulator from `build`, as `run` does.

    Raises:
        subprocess.TimeoutExpired: If it takes longer than `timeout_s`.
    """
    results = folder / "results.xml"
    library = find_libpython.find_libpython()
    variables = {
        **os.environ,
        "COCOTB_TOPLEVEL": "blocks",
        "COCOTB_TEST_MODULES": f"testkit.npu.blocks.{module}",
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_RANDOM_SEED": str(seed),
        "COCOTB_LOG_LEVEL": "WARNING",
        "GPI_LOG_LEVEL": "WARNING",
        "GPI_USERS": f"{library};{pygpi_entry_point()}",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *(p for p in sys.path if p)]),
        "TOPLEVEL_LANG": "verilog",
        "BLOCKS_MACS": str(macs),
        **(environment or {}),
    }
    done = subprocess.run(
        [str(simulator), f"+verilator+seed+{seed}", "+verilator+rand+reset+2", *arguments],
        cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=timeout_s, check=False,
    )  # fmt: skip
    log = tail(done.stdout + done.stderr, 60)
    assert results.is_file(), f"the simulator ended with code {done.returncode}:\n{log}"
    outcomes = {}
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        failed = [*case.iter("failure"), *case.iter("error")]
        message = "; ".join(str(f.get("message") or f.get("error_msg") or f.text) for f in failed)
        outcomes[str(case.get("name"))] = f"{message}\n{log}" if failed else ""
    assert outcomes, f"no test ran:\n{log}"
    return outcomes
