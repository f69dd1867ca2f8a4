"""The built-in table of gate equivalents, and what must be known of a Liberty file."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtl_harness.errors import HarnessError

_TABLE = Path(__file__).with_name("area_gates.toml")


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
        return "library (gate_equivalents) {\n" + "".join(cells) + "}\n"


def gate_table() -> GateTable:
    """Return the table that comes with the package."""
    text = _TABLE.read_text(encoding="utf-8")
    return GateTable(text, tomllib.loads(text))


def smallest_nand2(library: str) -> float:
    """Return the area of the smallest 2-input NAND of a Liberty file, the unit of the gate equivalent.

    Raises:
        HarnessError: If no cell's name says that it is one.
    """
    areas = []
    for cell in re.finditer(
        r"\bcell\s*\(\s*\"?([^\")\s]+)\"?\s*\)\s*\{(.*?)(?=\bcell\s*\(|\Z)", library, re.DOTALL
    ):
        area = re.search(r"\barea\s*:\s*\"?([0-9.eE+-]+)", cell[2])
        if area is not None and re.search(r"(?i)(?:nand|(?<![a-z])nd)_?2(?![0-9])", cell[1]):
            areas.append(float(area[1]))
    if not areas:
        raise HarnessError(
            "the Liberty file has no cell whose name says that it is a 2-input NAND (NAND2..., ND2...), the "
            "unit of SRAM area; add one or use the built-in table"
        )
    return min(areas)


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


def _input(pin: str) -> str:
    return f"    pin ({pin}) {{ direction : input; }}\n"
