# SPDX-License-Identifier: Apache-2.0
"""Files that are no RTL that the front ends read: VHDL, encrypted sources, file lists."""

from __future__ import annotations

import re
from pathlib import Path

from resil.rtl_harness.errors import HarnessError

VHDL = (".vhd", ".vhdl")
LISTS = (".f", ".fl", ".vc", ".flist", ".filelist")
_ENCRYPTED = re.compile(
    rb"^[ \t]*(?:(?:`|//[ \t]*)pragma[ \t]+protect[ \t]+begin_protected|`protected\d*)\b", re.MULTILINE
)


def require_no_vhdl(where: str, name: str, field: str) -> None:
    """Raise HarnessError if a file that `where` names is VHDL, whether it is there or not."""
    if name.lower().endswith(VHDL):
        raise HarnessError(
            f"{where}: {name}: expected Verilog or SystemVerilog, found VHDL, which no front end here reads; "
            "convert it (ghdl synth --out=verilog does), and list what comes of it",
            f"{field}.vhdl",
        )


def require_readable(where: str, file: Path, field: str) -> None:
    """Require that a file is RTL as far as its name and its first lines say.

    Args:
        where: That names it, for messages.
        file: It is there.
        field: Of the error, to which what was found is added.

    Raises:
        HarnessError: It is VHDL, a file list, or encrypted.
    """
    require_no_vhdl(where, str(file), field)
    if file.name.lower().endswith(LISTS):
        raise HarnessError(
            f"{where}: {file}: expected a source, found a file list by its name; resil init --top TOP -f "
            f"{file.name} reads it and writes the target file, or name here the files that it lists",
            f"{field}.list",
        )
    if found := _ENCRYPTED.search(file.read_bytes()):
        line = file.read_bytes()[: found.start()].count(b"\n") + 1
        raise HarnessError(
            f"{file}:{line}: expected RTL that can be read, found encrypted source; ask for the source, or "
            "put a model of its ports in place of it",
            f"{field}.encrypted",
        )
