# SPDX-License-Identifier: Apache-2.0
"""Map a design under test to cells, and read the bench around it, in a process of its own.

Called as `python synthesis_side.py map|bench CONFIG.json` in the folder where the results go; the log goes to
standard output.

- map: from `design`, as `design/elaboration/synthesis_side.py` reads it, to the cells of the Liberty file,
  with the steps that area is measured with: `mapped.json`, a module for each block that is a boundary.
  Undefined values are 0 first, as in the simulator, so that netlist and RTL are equal in every state. Cells
  in `own` stay as they are, under their names. Of a design that `is_netlist` nothing is mapped.
- bench: what closes the design, in words, with the design as one cell without content: `bench.json`.
"""

import json
import sys
from typing import Any

from pyosys import libyosys

from resil.rtl_harness.design.elaboration import synthesis_side as area_side
from resil.rtl_harness.design.elaboration.undefined import DEFINED

# Pins of a clock gate, whatever the library calls them: enable, clock and gated clock.
_ENABLE, _CLOCK, _GATED = "E", "CK", "GCK"
# Flip-flops and latches without enables and synchronous resets; the last ones are refused by name later.
_KINDS = ("DFF_?", "DFF_???", "ALDFF_??", "DLATCH_?", "DLATCH_???", "DFFSR_???", "DLATCHSR_???", "SR_??")
_PLAIN = " ".join(f"-cell $_{kind}_ x" for kind in _KINDS)


def main(what: str, path: str) -> None:
    """Do what the configuration file `path` describes."""
    with open(path, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    {"map": _map, "bench": _bench}[what](config, libyosys.Design())


def _map(config: dict[str, Any], design: Any) -> None:  # noqa: ANN401
    if config["scopes"]:
        area_side._part(config, design)
    else:
        _run(design, f"read_rtlil {config['design']}")
    if config["own"]:
        _keep_cells(design, set(config["own"]))
    _run(design, *area_side._PREPARE, "flatten", DEFINED)
    for command in area_side._SIMPLIFY:
        _run(design, command)
        if command.startswith("memory_map"):
            _run(design, DEFINED)
    _run(design, "setattr -unset init */w:*")
    if config["clock_gate"]:
        _take_clock_gates(design, config["clock_gate"])
        pins, fewest = f"{_ENABLE}:{_CLOCK}:{_GATED}", config["gated_flip_flops"]
        _run(design, f"clockgate -pos {config['clock_gate']} {pins} -min_net_size {fewest}")
    liberty = config["liberty"]
    script = area_side._ABC_SCRIPT
    if config["is_netlist"]:
        # Of models among the sources: what is read as logic around cells knows neither enables nor the like.
        _run(design, f"dfflegalize {_PLAIN}", "opt_clean")
    else:
        _run(design, f"dfflibmap -liberty {liberty}", f"abc -liberty {liberty} -script {script}", "opt_clean")
    _run(design, "memory_unpack", "setattr -unset src */*", "write_json mapped.json")


def _keep_cells(design: Any, own: set[str]) -> None:  # noqa: ANN401
    """Let instances of models of cells be cells of the library again."""
    top = design.top_module().name.str().removeprefix("\\")
    for module in [*design.modules_.values()]:
        for cell in [*module.cells_.values()]:
            name = cell.type.str().removeprefix("\\").partition("$")[0]
            if name in own and cell.type.str().startswith("\\"):
                cell.type = area_side._id(name)
    _run(design, f"hierarchy -top {top}")


def _take_clock_gates(design: Any, cell: str) -> None:  # noqa: ANN401
    """Let a cell stand for each latch that is open while a clock is low, and the AND of the two.

    The latch keeps its cell if anything else reads it.
    """
    _run(design, "select -set latches */t:$_DLATCH_N_", "select -set read @latches %co2 */c:* %i")
    _run(design, "design -push-copy", "delete */c:* @read %d", "write_json latches.json", "design -pop")
    with open("latches.json", encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    for name, module in modules.items():
        readers: dict[Any, list[str]] = {}
        for own, found in module["cells"].items():
            for pin, bits in found["connections"].items():
                if found["port_directions"].get(pin) != "output":
                    for bit in bits:
                        readers.setdefault(bit, []).append(own)
        ported = {bit for port in module["ports"].values() for bit in port["bits"]}
        cells = module["cells"]
        for own, found in cells.items():
            if found["type"] != "$_DLATCH_N_":
                continue
            pins = {pin: bits[0] for pin, bits in found["connections"].items()}
            after = readers.get(pins["Q"], [])
            if len(after) != 1 or pins["Q"] in ported or cells[after[0]]["type"] != "$_AND_":
                continue
            gate = cells[after[0]]["connections"]
            if {gate["A"][0], gate["B"][0]} == {pins["Q"], pins["E"]}:
                _join(design.module(area_side._id(name)), own, after[0], cell)


def _join(module: Any, latch: str, gate: str, cell: str) -> None:  # noqa: ANN401
    kept, gone = module.cell(area_side._id(latch)), module.cell(area_side._id(gate))
    # Copies: what a port returns goes with it.
    clock, enable = (libyosys.SigSpec(kept.getPort(area_side._id(pin))) for pin in (_ENABLE, "D"))
    gated = libyosys.SigSpec(gone.getPort(area_side._id("Y")))
    module.remove(gone)
    for pin in ("D", "Q", "E"):
        kept.unsetPort(area_side._id(pin))
    kept.type = area_side._id(cell)
    for pin, signal in ((_ENABLE, enable), (_CLOCK, clock), (_GATED, gated)):
        kept.setPort(area_side._id(pin), signal)


def _bench(config: dict[str, Any], design: Any) -> None:  # noqa: ANN401
    _run(design, *config["read"])
    for module in design.modules_.values():
        name = module.name.str().removeprefix("\\")
        if name.partition("$")[2].partition(".")[2] == config["dut"]:
            _run(design, f"blackbox {name}", f"setattr -set keep 1 */t:{name}")
            with open("dut.json", "w", encoding="utf-8") as file:
                json.dump(name, file)
            break
    _run(design, f"hierarchy -top {config['top']}", "flatten")
    # Of a memory that nothing reads opt_clean forgets all but the writes, and then fails.
    unread = _is_written_only(design.top_module())
    _run(design, *(command for command in config["script"] if not (unread and command == "opt_clean")))


def _is_written_only(module: Any) -> bool:  # noqa: ANN401
    """Whether a module has a memory that nothing reads, as a log in a bench."""
    memory = libyosys.IdString("\\MEMID")
    read = {
        cell.parameters[memory].decode_string()
        for cell in module.cells_.values()
        if cell.type.str() in ("$memrd", "$memrd_v2", "$mem", "$mem_v2")
    }
    return any(name.str() not in read for name in module.memories)


def _run(design: Any, *commands: str) -> None:  # noqa: ANN401
    for command in commands:
        libyosys.run_pass(command, design)


if __name__ == "__main__":
    main(*sys.argv[1:])
