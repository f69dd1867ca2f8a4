# SPDX-License-Identifier: Apache-2.0
"""Post-synthesis netlists as users have them: cells of a library, names as tools write them, scan chains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from resil.rtl_harness.design.area_library import gate_table
from resil.rtl_harness.design.elaboration.yosys import run_yosys
from resil.rtl_harness.design.netlist_text import register_of
from resil.rtl_harness.design.sites import SiteTable

_FLIP_FLOP = re.compile(r"^  (DFFR|DFFS|DFF) (\S+) \(\n(.*?)^  \);\n", re.M | re.S)
_STORED = re.compile(r"\.Q\((?:\\(\S+)\s|([\w$]+))\s*(\[\d+\])?\s*\)")
_SCAN = """
  cell ({name}) {{ area : 8;
    ff (IQ, IQN) {{ clocked_on : "C"; next_state : "(SE & SI) | (!SE & D)";{forced} }}
    pin (C) {{ direction : input; }}
    pin (D) {{ direction : input; }}
    pin (SE) {{ direction : input; }}
    pin (SI) {{ direction : input; }}{reset}
    pin (Q) {{ direction : output; function : "IQ"; }}
    pin (QN) {{ direction : output; function : "IQN"; }}
  }}
"""


def liberty_with_scan(file: Path) -> Path:
    """Write the built-in table as a Liberty file, with a scan flip-flop for each flip-flop, and return it."""
    more = [_SCAN.format(name="SDFF", forced="", reset="")]
    for pin, kind in (("R", "clear"), ("S", "preset")):
        reset = f"\\n    pin ({pin}) {{ direction : input; }}".replace("\\n", "\n")
        more.append(_SCAN.format(name=f"SDFF{pin}", forced=f' {kind} : "!{pin}";', reset=reset))
    text = gate_table().liberty().rstrip().removesuffix("}")
    file.write_text(f"{text}{''.join(more)}}}\n", encoding="utf-8")
    return file


def synthesised(
    sources: Sequence[Path], top: str, folder: Path, *, scan: bool = False, flat: bool = True
) -> tuple[Path, Path]:
    """Return a structural Verilog netlist of a design, and the Liberty file of its cells.

    Flip-flops are called as tools call them, by the register that they hold: `sum_q_reg[3]`, escaped. No two
    registers are merged. With `scan` all of them are scan flip-flops in one chain, whose enable and input are
    tied to 0, as outside tests.
    """
    folder.mkdir(exist_ok=True, parents=True)
    liberty = liberty_with_scan(folder / "cells.lib")
    read = f"read_slang --no-proc --ignore-initial {' '.join(map(str, sources))} --top {top}"
    script = [read, "proc", f"hierarchy -top {top}", *(["flatten"] if flat else [])]
    script += [
        "opt_expr",
        "opt_clean",
        "memory_collect",
        "memory_map",
        "opt_expr",
        "opt_dff -nodffe -nosdff",
        "opt_clean",
        "techmap",
        "opt_expr",
    ]
    script += ["opt_clean", "dfflibmap -liberty plain.lib", "abc -liberty plain.lib", "opt_clean"]
    script += ["setattr -unset src */*", "write_verilog -noattr -noexpr netlist.v"]
    (folder / "plain.lib").write_text(gate_table().liberty(), encoding="utf-8")
    run_yosys(script, folder, f"netlist of {top}")
    netlist = folder / "netlist.v"
    chain = ["1'b0"]

    def named(found: re.Match[str]) -> str:
        kind, _, pins = found.groups()
        stored = _STORED.search(pins)
        assert stored is not None
        escaped, plain, index = stored.groups()
        register = escaped or plain
        if scan:
            net = f"\\{register} {index or ''}" if escaped else f"{register}{index or ''}"
            pins = f"{pins.rstrip().rstrip(',')},\n    .SE(1'b0),\n    .SI({chain[-1]})\n"
            chain.append(net)
            kind = f"S{kind}"
        return f"  {kind} \\{register}_reg{index or ''}  (\n{pins}  );\n"

    text = _FLIP_FLOP.sub(named, netlist.read_text(encoding="utf-8"))
    netlist.write_text(text, encoding="utf-8")
    return netlist, liberty


def corresponding(source: SiteTable, netlist: SiteTable) -> dict[int, int]:
    """Return the flip-flop of a netlist of each register bit of the RTL, by the names of both.

    Args:
        source: Sites of the RTL.
        netlist: Of the netlist, an element for each flip-flop.
    """
    by_name = {}
    for offset, element in zip(netlist.offsets, netlist.elements, strict=False):
        register = register_of(element.path.rpartition(".")[0])
        if register:
            by_name[_plain(register)] = offset
    return {
        site: by_name[name] for site in range(source.size) if (name := _plain(source[site].name)) in by_name
    }


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name).strip("_")
