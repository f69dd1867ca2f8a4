# SPDX-License-Identifier: Apache-2.0
"""Build the injector on the netlist of Yosys: slang reads RTL, Yosys writes C++, the compiler links it."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.yosys import READER, read_commands, rtl_key, run_yosys
from resil.rtl_harness.design.snapshot import copy_data, frozen
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import SimulationError, ToolMissingError
from resil.rtl_harness.tools import compiler_version, find_compiler, run_tool

_HERE = Path(str(files(__package__)))
_DRIVER = _HERE.parent / "plain" / "driver.cpp"
_SIMULATOR = _HERE / "cxxrtl_simulator.h"
_FLAGS = ("-std=c++20", "-DCXXRTL_NDEBUG", "-w", "-fno-strict-aliasing")
# The design is one function: beyond so many bytes of source a compiler takes a quarter of an hour to
# optimise it.
_LARGE = 1 << 20
_TOP = re.compile(r"^struct (p_\w+) : public module", re.M)
# CXXRTL has no cell for a buffer, which the front end makes of some assignments.
_BUFFERS = """(* techmap_celltype = "$buf" *)
module resil_buf (A, Y);
  parameter WIDTH = 1;
  input [WIDTH-1:0] A;
  output [WIDTH-1:0] Y;
  assign Y = A;
endmodule
"""


def build_injector(target: Target, elaboration: Elaboration) -> Path:
    """Return the executable, built or from the cache.

    Raises:
        ToolMissingError: pyosys, its headers or the compiler is missing.
        HarnessError: Yosys refuses the RTL.
        SimulationError: the build fails, with the end of the log.
    """
    target = frozen(target)
    runtime = _runtime()
    key = content_key(
        rtl_key(target, elaboration.parameters),
        *(list(READER), _DRIVER, _SIMULATOR, _BUFFERS, _FLAGS, _LARGE, compiler_version()),
    )

    def build(folder: Path) -> None:
        (folder / "buffers.v").write_text(_BUFFERS, encoding="ascii")
        read = read_commands(target, elaboration.parameters, [], folder)
        script = [*read, "techmap -map buffers.v", "write_cxxrtl -header design.cc"]
        run_yosys(script, folder, f"writing {target.name} as C++")
        found = _TOP.findall((folder / "design.h").read_text(encoding="utf-8"))
        if not found:
            raise SimulationError(f"{target.name}: expected a module in what Yosys wrote as C++, found none")
        copy_data(target, folder)
        (folder / "obj").mkdir()
        level = "-O0" if (folder / "design.cc").stat().st_size > _LARGE else "-O1"
        command = [
            str(find_compiler()),
            *_FLAGS,
            level,
            f'-DRESIL_SIMULATOR="{_SIMULATOR}"',
            f"-DRESIL_TOP={found[-1]}",
        ]
        command += [f"-I{folder}", f"-I{runtime}", str(_DRIVER), str(folder / "design.cc")]
        run_tool([*command, "-o", str(folder / "obj" / "injector")], folder, "the compiler")

    return cached_folder("cxxrtl", key, build) / "obj" / "injector"


def _runtime() -> Path:
    """Return the folder of CXXRTL's headers, which come with pyosys."""
    try:
        share = files("pyosys").joinpath("share/include/backends/cxxrtl/runtime")
    except ModuleNotFoundError as error:
        raise ToolMissingError("expected the package pyosys, found none; pip install pyosys==0.70") from error
    found = Path(str(share))
    if not (found / "cxxrtl" / "cxxrtl.h").is_file():
        raise ToolMissingError(
            f"expected the headers of CXXRTL in {found}, found none; pip install --force-reinstall "
            "pyosys==0.70"
        )
    return found
