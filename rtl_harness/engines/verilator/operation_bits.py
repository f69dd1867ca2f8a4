"""Which flip-flops the counter of operations is made of."""

from __future__ import annotations

import json
from pathlib import Path

from rtl_harness.cache import cached_folder, content_key, write_atomically
from rtl_harness.elaboration import Elaboration
from rtl_harness.elaboration.netlist import Netlist
from rtl_harness.elaboration.yosys import READER, read_commands, rtl_key, run_yosys
from rtl_harness.engines.verilator.moments import UnsupportedError
from rtl_harness.errors import UnmappedSiteError
from rtl_harness.target import Target
from rtl_harness.verilated.campaign import OperationBit
from rtl_harness.verilated.circuit import Circuit
from rtl_harness.verilated.library import Instance

# Of the design no more is needed than which bits of the port are those of flip-flops.
SCRIPT = (
    "setattr -unset src",
    "setattr -set keep 1 t:$*ff*",
    "opt_clean",
    "delete t:* t:$*ff* %d",
    "write_json port.json",
)
_RESULT = "bits.json"
_OWN = (Path(__file__), Path(__file__).parents[2] / "elaboration" / "netlist.py", *READER)


def operation_bits(
    target: Target, elaboration: Elaboration, circuit: Circuit, origin: Instance
) -> list[OperationBit]:
    """Return where the bits of the counter of operations lie in the state; constant ones are left out.

    Args:
        target: Which names the counter.
        elaboration: Its storage.
        circuit: Its gates, in whose flip-flops differences are told.
        origin: An instance of its compiled model.

    Raises:
        UnsupportedError: If the counter is not made of flip-flops alone, but computed from them: along the
            gates it would not be known when it moves.
    """
    known = set(zip(circuit.flip_flops["offset"].tolist(), circuit.flip_flops["bit"].tolist(), strict=True))
    found = []
    for place, names in enumerate(_names(target, elaboration)):
        if names is None:
            continue
        places = [at for path, position in names if (at := _place(origin, path, position)) in known]
        if not places:
            raise UnsupportedError(
                f"bit {place} of {target.operation}, which counts operations, is no flip-flop of the model, "
                "and a time-out of each operation is asked for"
            )
        offset, bit = places[0]
        found.append(OperationBit(offset, 1 << bit, place))
    return found


def _place(origin: Instance, path: str, position: int) -> tuple[int, int] | None:
    """Return byte of the state, and bit of it, of a bit of a variable, counted from the right."""
    try:
        storage = origin.find(path)
    except UnmappedSiteError:
        return None
    word, bit = divmod(position, storage.width)
    if word >= storage.depth:
        return None
    return storage.offset + storage.word_from_right(word) * storage.entry_bytes + bit // 8, bit % 8


def _names(target: Target, elaboration: Elaboration) -> list[list[tuple[str, int]] | None]:
    """Return the variables, and the positions in them, of each bit of the counter; None of constant ones."""
    parameters = dict(elaboration.parameters)
    variables = {place.path for place in elaboration.locations.values()}

    def build(folder: Path) -> None:
        script = [*read_commands(target, parameters, [], folder), *SCRIPT]
        run_yosys(script, folder, f"operation counter of {target.name}")
        file = folder / "port.json"
        document = json.loads(file.read_text(encoding="utf-8"))
        file.unlink()
        netlist = Netlist(document, target.top)
        stored = {bit for f in netlist.flip_flops if not f.latch for bit in f.outputs}
        bits = document["modules"][target.top]["ports"][target.operation]["bits"]
        names = [
            (netlist.names_of(bit) if bit in stored else []) if isinstance(bit, int) else None for bit in bits
        ]
        write_atomically(folder / _RESULT, json.dumps(names).encode())

    key = rtl_key(target, parameters, "operation bits", target.operation, *SCRIPT, content_key(_OWN))
    found = json.loads((cached_folder("operation-bits", key, build) / _RESULT).read_text(encoding="utf-8"))
    return [
        None if bit is None else [(path, position) for path, position in bit if path in variables]
        for bit in found
    ]
