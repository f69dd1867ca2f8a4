"""Synthesise a design block by block, in a process of its own.

Called as `python area_side.py CONFIG.json` in the folder where the results go; the log goes to standard
output. The configuration gives the command that reads the RTL, the design under test, the instances at which
blocks begin, the arrays that stay SRAM and the Liberty file.
"""

import json
import sys
from typing import Any

from pyosys import libyosys

_PREPARE = ["opt_expr", "opt_clean", "check"]
_SYNTHESISE = [
    *("opt -full", "wreduce", "peepopt", "opt_clean", "alumacc", "opt -full"),
    "memory_map t:$mem_v2 a:keep_as_sram=1 %d",
    *("opt -fast -full", "techmap", "opt -fast", "opt_clean"),
]
_ABC_SCRIPT = "+strash;dc2;strash;&get,-n;&nf;&put"


def main(path: str) -> None:
    """Run the synthesis that the configuration file `path` describes."""
    with open(path, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    design = libyosys.Design()

    def run(command: str) -> None:
        libyosys.run_pass(command, design)

    run(config["read"])
    run("memory_collect")
    instances = _mark(design, config)
    for command in [f"hierarchy -top {instances[config['dut']]}", *_PREPARE, "flatten", *_SYNTHESISE]:
        run(command)
    run(f"dfflibmap -liberty {config['liberty']}")
    run(f"abc -liberty {config['liberty']} -script {_ABC_SCRIPT}")
    run("opt_clean")
    run(f"tee -q -o stat.json stat -json -liberty {config['liberty']}")
    with open("instances.json", "w", encoding="utf-8") as file:
        json.dump(instances, file)


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
            if f"{place}.{memory}" in config["srams"]:
                cell.set_bool_attribute(libyosys.IdString("\\keep_as_sram"), True)
    return instances


if __name__ == "__main__":
    main(sys.argv[1])
