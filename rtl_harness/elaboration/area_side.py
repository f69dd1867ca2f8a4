"""Read a design under test, or synthesise it block by block, in a process of its own.

Called as `python area_side.py read|synthesise CONFIG.json` in the folder where the results go; the log goes
to standard output. To read, the configuration gives the command that does it, the design under test, the
instances at which blocks begin and the arrays that stay SRAM; what comes of it is `design.il`, without what
surrounds the design, and `instances.json`. To synthesise, it gives that design and the Liberty file.
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


def main(what: str, path: str) -> None:
    """Do what the configuration file `path` describes."""
    with open(path, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    {"read": _read, "synthesise": _synthesise}[what](config, libyosys.Design())


def _read(config: dict[str, Any], design: Any) -> None:  # noqa: ANN401
    _run(design, config["read"], "memory_collect")
    instances = _mark(design, config)
    _run(
        design,
        f"hierarchy -top {instances[config['dut']]}",
        "setattr -unset src */*",
        "setattr -mod -unset src *",
        "write_rtlil design.il",
    )
    with open("instances.json", "w", encoding="utf-8") as file:
        json.dump(instances, file)


def _synthesise(config: dict[str, Any], design: Any) -> None:  # noqa: ANN401
    liberty = config["liberty"]
    _run(design, f"read_rtlil {config['design']}", *_PREPARE, "flatten", *_SYNTHESISE)
    _run(
        design, f"dfflibmap -liberty {liberty}", f"abc -liberty {liberty} -script {_ABC_SCRIPT}", "opt_clean"
    )
    _run(design, f"tee -q -o stat.json stat -json -liberty {liberty}")


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
            if f"{place}.{memory}" in config["srams"]:
                cell.set_bool_attribute(libyosys.IdString("\\keep_as_sram"), True)
    return instances


if __name__ == "__main__":
    main(*sys.argv[1:])
