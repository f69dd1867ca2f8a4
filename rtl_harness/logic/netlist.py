# SPDX-License-Identifier: Apache-2.0
"""The synthesised netlist of a closed design: gates, storage, and the cells and pins that they stand for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.gates.gates_file import Gates, packed, unpacked

Ints = npt.NDArray[np.int32]

# What takes the value of an input pin: a column of a row of `Gates.gates` or `Gates.flip_flops`.
NOWHERE, TO_GATE, TO_FLIP_FLOP = 0, 1, 2

PINS = np.dtype([(name, np.int32) for name in ("cell", "name", "output", "net", "consumer", "row", "column")])
"""A pin of a cell: see `LogicNetlist.pins`."""


# Why cells have no sites, in words.
WITHIN_CYCLE, FALLING_EDGE, NO_CELL = "within_cycle", "falling_edge", "no_cell"
LEFT_OUT = {
    WITHIN_CYCLE: "its value changes within a cycle, or it drives a clock",
    FALLING_EDGE: "the falling edge takes what it gives, which the first cycle along the gates begins with",
    NO_CELL: "it is no cell of the library, as in models of latches",
}


class LeftOut(NamedTuple):
    """A cell that has no sites.

    Attributes:
        reason: One of `LEFT_OUT`.
        block: Of the cell.
        outputs: Names of its outputs that are connected; none of what is no cell of the library.
        data: Likewise of its inputs, those that control storage aside.
        controls: Those that do: clock, set and reset.
        stores: It is a flip-flop.
    """

    reason: str
    block: str = ""
    outputs: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    stores: bool = False


@dataclass(frozen=True)
class LogicNetlist:
    """A closed design whose design under test is cells of a library, as gates with a map of their pins.

    Every net of a cell's output is a net of its own: nothing is shared, folded or simplified within the
    design under test. What closes it is gates as the fast engine makes them.

    Attributes:
        gates: The closed design; operations 0 .. 11 as `native/bit_parallel.h` has them. `wires` hold the
            flip-flops of each variable of design and bench as the model finds them.
        names: Hierarchical name of each cell, in the order of the numbers in `pins`.
        types: Cell of the library, by number of `type_of`.
        blocks: Names of blocks, by number of `block_of`; "" for what lies between blocks.
        pin_names: Names of pins, by number of `pins["name"]`.
        type_of: Type of each cell, (cells,).
        block_of: Block of each cell, (cells,).
        pins: Pins, outputs of a cell first, as `PINS`, (pins,). `output` is 1 for an output; `net` is the net
            that a pin is on. An input has one `consumer`: `TO_GATE`, then gate `row` takes it in `column` (1
            a, 2 b, 3 s) of `gates.gates`; `TO_FLIP_FLOP`, then flip-flop `row` in `column` (1 d, 2 load) of
            `gates.flip_flops`; `NOWHERE` for clock pins and where nothing is made of it (`clock_pins`,
            `left_out`). An output of a gate is `TO_GATE` with the row that drives it, column 4; that of a
            flip-flop `TO_FLIP_FLOP`, column 0.
        first_pin: First pin of each cell, then the number of pins, (cells + 1,).
        reset_values: What a flip-flop is worth while its asynchronous load acts, (flip_flops,); -1 if it has
            none, or if that is not constant.
        copies: Rows of `gates.flip_flops` that are variables of the source code equal to another one, whose
            flip-flop serves for both: no cell stands for them, (n,).
        constants: Site and value of bits of the source code that synthesis found to be constant, (n, 2).
        clock_cells: Cell, and net that is 1 while its clock runs (its output pin is on that net), of each
            clock gate, and of each buffer and inverter that gives nothing but a clock, (n, 2).
        left_out: Cells that have no sites, by name.
        tied: Row of each input pin that the design under test itself ties to a constant, and that, (n, 2).
        exits: Nets that leave the design under test, or that cells without sites take: what becomes of them
            is a matter of what closes the design, or is not followed, (n,).
        flip_flop_types: Those of `types` that store something.
        done_bits: Bits of the output that says that a run is over, the first of `gates.ports`.
        liberty: Digest of the cell library.
    """

    gates: Gates
    names: tuple[str, ...]
    types: tuple[str, ...]
    blocks: tuple[str, ...]
    pin_names: tuple[str, ...]
    type_of: Ints
    block_of: Ints
    pins: npt.NDArray[np.void]
    first_pin: Ints
    reset_values: Ints
    copies: Ints
    constants: Ints
    clock_cells: Ints
    left_out: Mapping[str, LeftOut]
    tied: Ints
    exits: Ints
    flip_flop_types: tuple[str, ...]
    done_bits: int
    liberty: str

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.names)

    def cell_type(self, cell: int) -> str:
        """Name of the library's cell that a cell is."""
        return self.types[int(self.type_of[cell])]

    def block(self, cell: int) -> str:
        """Block of a cell."""
        return self.blocks[int(self.block_of[cell])]

    def pin_name(self, pin: int) -> str:
        """Hierarchical name of a pin."""
        row = self.pins[pin]
        return f"{self.names[row['cell']]}/{self.pin_names[row['name']]}"

    def pin_named(self, name: str) -> int | None:
        """Return the pin that `pin_name` gives this name; None if there is none."""
        cell, _, own = name.rpartition("/")
        number = self.number.get(cell)
        first, end = (0, 0) if number is None else self.first_pin[number : number + 2].tolist()
        names = [self.pin_names[i] for i in self.pins["name"][first:end].tolist()]
        return first + names.index(own) if own in names else None

    @cached_property
    def stores(self) -> npt.NDArray[np.bool_]:
        """Whether each cell is a flip-flop, (cells,)."""
        return np.array([name in self.flip_flop_types for name in self.types], bool)[self.type_of]

    @property
    def on_clock_cells(self) -> npt.NDArray[np.bool_]:
        """Whether each pin is one of a cell that hands on a clock (`clock_cells`), (pins,)."""
        return np.isin(self.pins["cell"], self.clock_cells[:, 0])

    @cached_property
    def number(self) -> Mapping[str, int]:
        """Number of each cell, by name."""
        return {name: i for i, name in enumerate(self.names)}


_NAMES = ("names", "types", "blocks", "pin_names", "flip_flop_types")
_ARRAYS = (
    *("type_of", "block_of", "first_pin", "reset_values", "copies", "constants", "clock_cells"),
    *("tied", "exits"),
)


def packed_netlist(netlist: LogicNetlist) -> bytes:
    """Return a netlist as an archive of NumPy arrays."""
    texts: dict[str, Any] = {
        **{name: getattr(netlist, name) for name in _NAMES},
        "left_out": dict(netlist.left_out),
        "done_bits": netlist.done_bits,
        "liberty": netlist.liberty,
    }
    content = BytesIO()
    np.savez_compressed(
        content,
        circuit=np.frombuffer(packed(netlist.gates), np.uint8),
        pins=netlist.pins,
        texts=np.frombuffer(json.dumps(texts).encode(), np.uint8),
        **{name: getattr(netlist, name) for name in _ARRAYS},
    )
    return content.getvalue()


def unpacked_netlist(content: bytes) -> LogicNetlist:
    """Return the netlist of an archive that `packed_netlist` made."""
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        texts = json.loads(arrays["texts"].tobytes())
        named: dict[str, Any] = {name: tuple(texts[name]) for name in _NAMES}
        named |= {name: arrays[name] for name in _ARRAYS}
        return LogicNetlist(
            unpacked(arrays["circuit"].tobytes()),
            pins=arrays["pins"],
            **named,
            left_out={name: _left_out(*values) for name, values in texts["left_out"].items()},
            done_bits=texts["done_bits"],
            liberty=texts["liberty"],
        )


def _left_out(
    reason: str, block: str, outputs: list[str], data: list[str], controls: list[str], stores: bool
) -> LeftOut:
    return LeftOut(reason, block, tuple(outputs), tuple(data), tuple(controls), stores)
