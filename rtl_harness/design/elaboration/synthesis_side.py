# SPDX-License-Identifier: Apache-2.0
"""Read a design under test, simplify it, or map it to a cell library, in a process of its own.

Called as `python synthesis_side.py read|part|simplify|map CONFIG.json` in the folder where the results go;
the log goes to standard output.

- read: the configuration gives the commands that do it, the design under test, the instances at which blocks
  begin, the arrays that stay SRAM, the attributes that forbid to merge or remove, bits that registers
  begin with, and registers that are kept. What comes of it is
  `design.il`, without what surrounds the design, and `instances.json`.
- part: make a module with a boundary of its own of each generate block that `scopes` lists, by module and
  path in it; from that `design` to `parted.il`.
- simplify: from that `design` to gates, `gates.il.gz`. Beside it names alone: `before.json`, what is stored
  and under which names, and `after.json`, which flip-flop drives each name in the end.
- map: from these `gates` to the cells of the Liberty file. Its cell `clock_gate`, if it has one, stands for a
  latch and an AND that gate a clock, and for the enable of `gated_flip_flops` or more that share it and their
  clock; `macros` names the flip-flops of each module that lie inside macros and are not mapped. `stat.json`
  holds the areas.
"""

import json
import os
import re
import sys
from collections.abc import Collection, Iterator
from typing import Any

from pyosys import libyosys

from resil.rtl_harness.design.elaboration.scope_parts import parts_of_cells
from resil.rtl_harness.design.elaboration.undefined import DEFINED

_PREPARE = ["opt_expr", "opt_clean", "check"]
_SIMPLIFY = [
    *("opt -full", "wreduce", "peepopt", "opt_clean", "alumacc", "opt -full"),
    "memory_map t:$mem_v2 a:keep_as_sram=1 %d",
    *("opt -fast -full", "techmap", "opt -fast", "opt_clean"),
]
_WIDEST = 4096
_ABC_SCRIPT = "+strash;dc2;strash;&get,-n;&nf;&put"
# Enable, clock and gated clock, whatever the library calls them: only the cell's area counts.
_GATE_PINS = ("E", "CK", "GCK")
# No cell of the library: a flip-flop inside an SRAM macro takes area there.
_IN_MACRO = "flip_flop_in_macro"
_LATCHES = ("$dlatch", "$adlatch", "$dlatchsr")
_STORAGE = "*/t:*dff* */t:*dlatch* */t:*DFF* */t:*DLATCH* */t:$sr */t:$_SR_* */t:$ff */t:$_FF_ */t:$mem_v2"


def main(what: str, path: str) -> None:
    """Do what the configuration file `path` describes."""
    with open(path, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    steps = {"read": _read, "part": _part, "simplify": _simplify, "map": _map}
    steps[what](config, libyosys.Design())


def _read(config: dict[str, Any], design: Any) -> None:  # noqa: ANN401
    _run(design, *config["read"])
    _free_closed_latches(design)
    # What is undefined is 0 in hardware as in the simulators: neither is free to choose.
    _run(design, DEFINED)
    _keep(design, set(config["kept"]))
    marked = " ".join(f"*/a:{attribute}" for attribute in config["keep"])
    _run(design, f"select -set marked {marked}", f"select -set stored {_STORAGE}")
    # Marked registers are neither removed nor, as their initial value is another one, merged with others.
    _run(design, "setattr -set keep 1 */w:* @marked %i %ci1 @stored %i")
    _run(design, f"setattr -set init {_WIDEST}'b0 @stored %co1 */w:* %i @marked %i")
    _run(design, "memory_collect")
    instances = _mark(design, config)
    _begin(design, config["initial"])
    _run(
        design,
        f"hierarchy -top {instances[config['dut']]}",
        "setattr -unset src */*",
        "setattr -mod -unset src *",
        "write_rtlil design.il",
    )
    with open("instances.json", "w", encoding="utf-8") as file:
        json.dump(instances, file)


def _free_closed_latches(design: Any) -> None:  # noqa: ANN401
    """Let a latch have at its input, while it is closed, what it has while it is open: nothing takes that.

    The front end puts a multiplexer there, with an undefined input: as 0 it would be a gate of its own. Those
    whose output something else reads keep their undefined values.
    """
    types = {cell.type.str() for module in design.modules_.values() for cell in module.cells_.values()}
    if types.isdisjoint(_LATCHES):
        return
    _run(design, "write_json words.json")
    with open("words.json", encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    os.remove("words.json")
    for name, module in modules.items():
        ported = {bit for port in module["ports"].values() for bit in port["bits"]}
        into: set[Any] = set()
        elsewhere, muxes = set(ported), {}
        for own, cell in module["cells"].items():
            for pin, bits in cell["connections"].items():
                if cell["type"] in _LATCHES and pin == "D":
                    into.update(bits)
                elif cell["port_directions"].get(pin) != "output":
                    elsewhere.update(bits)
            if cell["type"] in ("$mux", "$pmux"):
                muxes[own] = set(cell["connections"]["Y"])
        for own, bits in muxes.items():
            if bits <= into - elsewhere:
                design.module(_id(name)).cell(_id(own)).set_bool_attribute(_id("closed"), True)
    _run(design, "opt_expr -mux_undef */a:closed", "setattr -unset closed */a:closed")


def _part(config: dict[str, Any], design: Any) -> None:  # noqa: ANN401
    _run(design, f"read_rtlil {config['design']}", "design -push-copy")
    _run(design, *(f"select -add {name}" for name in config["scopes"]), "write_json -selected parts.json")
    _run(design, "design -pop", "select -clear")
    with open("parts.json", encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    for name, scopes in config["scopes"].items():
        cells = design.module(_id(name)).cells_
        parts = parts_of_cells(modules[name], scopes)
        for cell in cells.values():
            part = parts.get(cell.name.str().removeprefix("\\"))
            if part is not None:
                cell.set_string_attribute(libyosys.IdString("\\submod"), part)
    _run(design, "submod")
    made = {f"\\{name}_{part}" for name, own in config["scopes"].items() for part in own.values()}
    for module in design.modules_.values():
        if module.name.str() in made:
            module.set_bool_attribute(libyosys.IdString("\\keep_hierarchy"), True)
    _run(design, "write_rtlil parted.il")


def _simplify(config: dict[str, Any], design: Any) -> None:  # noqa: ANN401
    _run(design, f"read_rtlil {config['design']}")
    _run(design, "design -push-copy", "flatten", *_only_storage("before.json"), "design -pop")
    _run(design, *_PREPARE, "flatten", *_SIMPLIFY, "setattr -unset init */w:*", "write_rtlil gates.il.gz")
    _run(design, *_only_storage("after.json"))


def _only_storage(name: str) -> list[str]:
    """Write the names of nets, and the flip-flops and memories, without what lies between them."""
    return [f"select -set stored {_STORAGE}", "delete */c:* @stored %d", f"write_json {name}"]


def _map(config: dict[str, Any], design: Any) -> None:  # noqa: ANN401
    liberty = config["liberty"]
    _run(design, f"read_rtlil {config['gates']}")
    for name, cells in config["macros"].items():
        for cell in cells:
            design.module(_id(name)).cell(_id(cell)).type = _id(_IN_MACRO)
    if config["clock_gate"]:
        _take_clock_gates(design, config["clock_gate"])
        pins, fewest = ":".join(_GATE_PINS), config["gated_flip_flops"]
        _run(design, f"clockgate -pos {config['clock_gate']} {pins} -min_net_size {fewest}")
    _run(
        design, f"dfflibmap -liberty {liberty}", f"abc -liberty {liberty} -script {_ABC_SCRIPT}", "opt_clean"
    )
    _run(design, f"tee -q -o stat.json stat -json -liberty {liberty}")


def _take_clock_gates(design: Any, cell: str) -> None:  # noqa: ANN401
    """Let a cell stand for each latch that is open while a clock is low, and the AND of the two."""
    _run(design, "select -set latches */t:$_DLATCH_N_", "select -set ands @latches %co2 */t:$_AND_ %i")
    _run(design, "design -push-copy", "delete */c:* @latches %d @ands %d", "write_json latches.json")
    _run(design, "design -pop")
    with open("latches.json", encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    for name, module in modules.items():
        of_type: dict[str, dict[str, Any]] = {"$_DLATCH_N_": {}, "$_AND_": {}}
        for own, found in module["cells"].items():
            of_type[found["type"]][own] = {pin: bits[0] for pin, bits in found["connections"].items()}
        gates = {frozenset((pins["A"], pins["B"])): own for own, pins in of_type["$_AND_"].items()}
        for latch, pins in of_type["$_DLATCH_N_"].items():
            gate = gates.get(frozenset((pins["Q"], pins["E"])))
            if gate is not None:
                _join(design.module(_id(name)), latch, gate, cell)


def _join(module: Any, latch: str, gate: str, cell: str) -> None:  # noqa: ANN401
    kept, gone = module.cell(_id(latch)), module.cell(_id(gate))
    kept.setPort(_id(_GATE_PINS[-1]), gone.getPort(_id("Y")))
    kept.type = _id(cell)
    module.remove(gone)


def _id(name: str) -> Any:  # noqa: ANN401
    return libyosys.IdString(name if name.startswith("$") else f"\\{name}")


def _run(design: Any, *commands: str) -> None:  # noqa: ANN401
    for command in commands:
        libyosys.run_pass(command, design)


def _mark(design: Any, config: dict[str, Any]) -> dict[str, str]:  # noqa: ANN401
    """Mark block boundaries and SRAM arrays; return the module of each instance that has one."""
    instances = {}
    for module in design.modules_.values():
        name = module.name.str().removeprefix("\\")
        place = name.partition("$")[2].partition(".")[2]
        instances[place] = name
        if place in config["boundaries"]:
            module.set_bool_attribute(libyosys.IdString("\\keep_hierarchy"), True)
        for cell in module.cells_.values():
            if cell.type.str() != "$mem_v2":
                continue
            memory = cell.parameters[libyosys.IdString("\\MEMID")].decode_string().removeprefix("\\")
            writes = cell.parameters[libyosys.IdString("\\WR_PORTS")].as_int()
            # What a ROM holds is not read: as words of undefined bits all that reads it would go with it.
            if f"{place}.{memory}" in config["srams"] or not writes:
                cell.set_bool_attribute(libyosys.IdString("\\keep_as_sram"), True)
    return instances


def _keep(design: Any, kept: set[str]) -> None:  # noqa: ANN401
    """Mark registers as by an attribute of the source."""
    for module, wire, _ in _wires(design, kept):
        _run(design, *_select(module, wire), "setattr -set keep 1 @own", "select -clear")


def _begin(design: Any, initial: dict[str, str]) -> None:  # noqa: ANN401
    """Give registers the values that they are declared to begin with: then none is taken for a constant."""
    for module, wire, path in _wires(design, initial):
        value = initial[path].rjust(wire.width, "0")[-wire.width :]
        _run(design, *_select(module, wire), f"setattr -set init {wire.width}'b{value} @own", "select -clear")


def _wires(design: Any, paths: Collection[str]) -> Iterator[tuple[Any, Any, str]]:  # noqa: ANN401
    """Yield module, wire and path of the wires of these paths."""
    for module in [*design.modules_.values()] if paths else []:
        place = module.name.str().removeprefix("\\").partition("$")[2].partition(".")[2]
        for wire in module.wires_.values():
            name = wire.name.str().removeprefix("\\")
            if f"{place}.{name}" in paths:
                yield module, wire, f"{place}.{name}"


def _select(module: Any, wire: Any) -> list[str]:  # noqa: ANN401
    name = module.name.str().removeprefix("\\")
    pattern = re.sub(r"([\[\]*?\\])", r"\\\1", wire.name.str().removeprefix("\\"))
    return [f"select -module {name} -set own w:{pattern}"]


if __name__ == "__main__":
    main(*sys.argv[1:])
