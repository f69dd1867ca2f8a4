# SPDX-License-Identifier: Apache-2.0
"""The built-in table of gate equivalents, and what must be known of a Liberty file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resil.rtl_harness.errors import HarnessError

_TABLE = Path(__file__).with_name("area_gates.toml")
_CELL = re.compile(r"\bcell\s*\(\s*\"?([^\")\s]+)\"?\s*\)\s*\{(.*?)(?=\bcell\s*\(|\Z)", re.DOTALL)
_AREA = re.compile(r"\barea\s*:\s*\"?([0-9.eE+-]+)")


@dataclass(frozen=True, slots=True)
class SramBit:
    """Area of one SRAM bit, macro periphery included.

    Attributes:
        area: In gate equivalents.
        status: "measured", "modelled" or "assumed".
        source: Where the figure is from.
    """

    area: float
    status: str
    source: str


@dataclass(frozen=True)
class GateTable:
    """Areas of gates and flip-flops in gate equivalents.

    Attributes:
        text: The data file as it stands.
        entries: Its contents.
    """

    text: str
    entries: dict[str, Any]

    @property
    def sram_bit(self) -> SramBit:
        """Area of an SRAM bit."""
        return SramBit(**self.entries["sram_bit"])

    @property
    def basis(self) -> str:
        """What the table rests on, in a few words."""
        flip_flops = ", ".join(f"{f['name']} {f['area']}" for f in self.entries["flip_flop"])
        return f"NAND2 = 1, {flip_flops}; ratios of X1 cells of the NanGate 45 nm Open Cell Library"

    def liberty(self) -> str:
        """Return the table as a Liberty file that Yosys and ABC can map to."""
        cells = [_gate(g["name"], g["area"], g["function"]) for g in self.entries["gate"]]
        cells += [_flip_flop(f) for f in self.entries["flip_flop"]]
        cells += [_latch(latch) for latch in self.entries["latch"]]
        cells.append(_clock_gate(self.entries["clock_gate"]))
        return "library (gate_equivalents) {\n" + "".join(cells) + "}\n"


def gate_table() -> GateTable:
    """Return the table that comes with the package."""
    text = _TABLE.read_text(encoding="utf-8")
    return GateTable(text, tomllib.loads(text))


def library_text(liberty: Path | None, field: str = "area.liberty") -> str:
    """Return a Liberty file, or the built-in table as one.

    Args:
        liberty: The file.
        field: What names it, for errors.

    Raises:
        HarnessError: If the file cannot be read, or is none.
    """
    if liberty is None:
        return gate_table().liberty()
    try:
        text = liberty.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise HarnessError(
            f"cannot read the Liberty file {liberty}: {error.strerror}; check the path", field
        ) from error
    if not re.search(r"\blibrary\s*\(", text):
        raise HarnessError(
            f"{liberty}: expected a Liberty file with a library (...) group, found none; correct the path",
            field,
        )
    return text


def smallest_clock_gate(library: str) -> str:
    """Return the name of a Liberty file's smallest clock-gating cell for a rising edge; "" if it has none."""
    gates = [
        (float(area[1]), name)
        for name, body in _cells(library)
        if re.search(r"\bclock_gating_integrated_cell\s*:\s*\"?latch_posedge", body)
        and (area := _AREA.search(body))
    ]
    return min(gates, default=(0.0, ""))[1]


def smallest_nand2(library: str) -> float:
    """Return the area of the smallest 2-input NAND of a Liberty file, the unit of the gate equivalent.

    Raises:
        HarnessError: If no cell's name says that it is one.
    """
    areas = [
        float(area[1])
        for name, body in _cells(library)
        if re.search(r"(?i)(?:nand|(?<![a-z])nd)_?2(?![0-9])", name) and (area := _AREA.search(body))
    ]
    if not areas:
        raise HarnessError(
            "the Liberty file has no cell whose name says that it is a 2-input NAND (NAND2..., ND2...), the "
            "unit of SRAM area; add one or use the built-in table"
        )
    return min(areas)


def _cells(library: str) -> Iterator[tuple[str, str]]:
    """Yield name and content of each cell."""
    for cell in _CELL.finditer(library):
        yield cell[1], cell[2]


def _gate(name: str, area: float, function: str) -> str:
    pins = "".join(_input(pin) for pin in sorted(set(re.findall(r"[A-Z]", function))))
    output = f'    pin (Y) {{ direction : output; function : "{function}"; }}\n'
    return f"  cell ({name}) {{ area : {area};\n{pins}{output}  }}\n"


def _flip_flop(entry: dict[str, Any]) -> str:
    extra = "".join(f' {kind} : "{entry[kind]}";' for kind in ("clear", "preset") if kind in entry)
    pins = ["C", "D", *(entry[kind].strip("!") for kind in ("clear", "preset") if kind in entry)]
    return (
        f"  cell ({entry['name']}) {{ area : {entry['area']};\n"
        f'    ff (IQ, IQN) {{ clocked_on : "C"; next_state : "D";{extra} }}\n'
        f"{''.join(_input(pin) for pin in pins)}"
        '    pin (Q) { direction : output; function : "IQ"; }\n  }\n'
    )


def _latch(entry: dict[str, Any]) -> str:
    return (
        f"  cell ({entry['name']}) {{ area : {entry['area']};\n"
        '    latch (IQ, IQN) { enable : "E"; data_in : "D"; }\n'
        f'{_input("D")}{_input("E")}    pin (Q) {{ direction : output; function : "IQ"; }}\n  }}\n'
    )


def _clock_gate(entry: dict[str, Any]) -> str:
    return (
        f"  cell ({entry['name']}) {{ area : {entry['area']};\n"
        '    clock_gating_integrated_cell : "latch_posedge";\n'
        "    pin (CK) { direction : input; clock_gate_clock_pin : true; }\n"
        "    pin (E) { direction : input; clock_gate_enable_pin : true; }\n"
        "    pin (GCK) { direction : output; clock_gate_out_pin : true; }\n  }\n"
    )


def _input(pin: str) -> str:
    return f"    pin ({pin}) {{ direction : input; }}\n"
