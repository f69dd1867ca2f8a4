# SPDX-License-Identifier: Apache-2.0
"""Storage of a design as Yosys counts it, by its own front end where that can read the files."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.foreign.design import ForeignDesign
from resil.rtl_harness.design.elaboration.yosys import run_yosys
from resil.rtl_harness.design.file_list import FileList, named_parameter, read_file_lists
from resil.rtl_harness.errors import HarnessError

# Cells that store a bit for each of their width; memories are counted by words.
_FLIP_FLOP = re.compile(r"\$(?:a|s|al)?(?:dff|dlatch|ff|sr)(?:e|ce|sr|sre)?")
_MEMORY = re.compile(r"\$mem(?:_v2)?")
_READ = "proc -norom; flatten; memory_collect; opt_clean"


@dataclass(frozen=True)
class YosysCount:
    """Storage bits before Yosys optimises a design, and after.

    Attributes:
        reader: Front end that read the files.
        source: Bits of flip-flops, latches and memories that something reads.
        kept: After `opt -full`, `wreduce` and `opt -full`, in which undefined values are free.
    """

    reader: str
    source: int
    kept: int


def count_storage(design: ForeignDesign) -> YosysCount:
    """Count the storage of a design.

    Raises:
        HarnessError: No front end of Yosys can read it.
    """
    listed = read_file_lists([design.folder / name for name in design.files])
    listed.parameters |= dict(named_parameter(own, "parameters", "parameters") for own in design.parameters)
    said = ""
    for reader, commands in _readers(design.top, listed).items():
        with tempfile.TemporaryDirectory() as folder:
            script = [
                *commands,
                _READ,
                "write_json before.json",
                "opt -full; wreduce; opt -full",
                "write_json after.json",
            ]
            try:
                run_yosys([own for line in script for own in line.split("; ")], Path(folder), design.name)
            except HarnessError as error:
                said = str(error)
                continue
            source, kept = (
                stored_bits(json.loads((Path(folder) / name).read_text(encoding="utf-8")))
                for name in ("before.json", "after.json")
            )
            return YosysCount(reader, source, kept)
    raise HarnessError(said)


def _readers(top: str, listed: FileList) -> Mapping[str, list[str]]:
    """Return the commands that read the files, by front end: that of Yosys first, then slang."""
    macros = [f"-D{name}={value}" if value else f"-D{name}" for name, value in listed.defines.items()]
    options = " ".join([*macros, *(f"-I{folder}" for folder in listed.include_dirs)])
    files = " ".join(map(str, listed.sources))
    values = " ".join(f"-chparam {name} {value}" for name, value in listed.parameters.items())
    values_slang = " ".join(f"-G {name}={value}" for name, value in listed.parameters.items())
    libraries = " ".join(f"-y {folder}" for folder in listed.library_dirs)
    return {
        "read_verilog": [
            f"read_verilog -sv -defer {options} {files}",
            f"hierarchy -top {shlex.quote(top)} {values}",
        ],
        "read_slang": [f"read_slang --top {top} {options} {libraries} {values_slang} {files}"],
    }


def stored_bits(netlist: Mapping[str, Any]) -> int:
    """Return the storage bits of the top of a flat netlist, as `write_json` leaves it.

    A memory that nothing writes is a table of constants.
    """
    top = next(own for own in netlist["modules"].values() if int(own["attributes"].get("top", "0"), 2))
    bits = 0
    for cell in top["cells"].values():
        values = cell["parameters"]
        if _MEMORY.fullmatch(cell["type"]):
            if int(values["WR_PORTS"], 2):
                bits += int(values["SIZE"], 2) * int(values["WIDTH"], 2)
        elif _FLIP_FLOP.fullmatch(cell["type"]):
            bits += int(values["WIDTH"], 2)
    return bits
