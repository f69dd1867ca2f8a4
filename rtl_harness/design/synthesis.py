# SPDX-License-Identifier: Apache-2.0
"""The design under test by itself, and the gates that remain of it: what area and hardware are read from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.yosys import (
    READER,
    read_commands,
    require_copies,
    rtl_key,
    run_side_script,
    said_of_source,
    yosys_version,
)
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.tools import tail

DESIGN, GATES, BEFORE, AFTER = "design.il", "gates.il.gz", "before.json", "after.json"
# End of the name of a module that was a generate block, before its number.
PART = "generate_block_"
_PARTED = "parted.il"
_INSTANCES, _FACTS = "instances.json", "facts.json"

# Attributes of a register that forbid synthesis to merge it with another, as tools spell them.
KEEP = ("keep", "dont_touch", "DONT_TOUCH", "KEEP", "preserve", "syn_preserve", "syn_keep")

_SIDE = Path(__file__).parent / "elaboration" / "synthesis_side.py"
_PARTS = ("scope_parts.py", "undefined.py")
_OWN = (_SIDE, *(_SIDE.with_name(name) for name in _PARTS), Path(__file__), *READER)


@dataclass(frozen=True)
class Design:
    """What is known of the design under test by itself, without its netlist.

    Attributes:
        digest: Of its netlist.
        instances: Module of the netlist of each of its instances, by path below the top.
    """

    digest: str
    instances: Mapping[str, str]

    @property
    def gates_key(self) -> str:
        """Key of the gates that remain of it."""
        return content_key(yosys_version(), self.digest, _OWN)


def design_under_test(target: Target, elaboration: Elaboration) -> Design:
    """Return what is known of the design under test; its netlist is made only if nothing is known yet.

    Raises:
        HarnessError: If the RTL cannot be read.
    """
    target = frozen(target)

    def build(folder: Path) -> None:
        netlist = design_netlist(target, elaboration)
        instances = json.loads((netlist / _INSTANCES).read_text(encoding="utf-8"))
        design = Design(content_key(netlist / DESIGN), instances)
        write_atomically(folder / _FACTS, json.dumps(asdict(design)).encode())

    folder = cached_folder("design-facts", _design_key(target, elaboration), build)
    return Design(**json.loads((folder / _FACTS).read_text(encoding="utf-8")))


def design_netlist(target: Target, elaboration: Elaboration) -> Path:
    """Return a folder with the netlist of the design under test, not yet simplified, and its instances.

    It is a top of its own, with the parameters that it has in the target: its inputs are free, whatever the
    bench around it drives them with. Blocks are marked as boundaries, SRAM arrays as such.

    Raises:
        HarnessError: If the RTL cannot be read.
    """
    target = frozen(target)

    def build(folder: Path) -> None:
        config = {
            "read": read_commands(target, elaboration.parameters, ["--best-effort-hierarchy"], folder),
            "dut": target.dut,
            "boundaries": [path for paths in target.blocks.values() for path in paths],
            "srams": srams_of(elaboration),
            "keep": KEEP,
            "initial": dict(elaboration.initial),
            "kept": _kept(elaboration),
        }
        run_side(target, "read", config, folder, _INSTANCES)

    return cached_folder("design", _design_key(target, elaboration), build)


def gates_of_design(target: Target, elaboration: Elaboration) -> Path:
    """Return a folder with the gates of the design under test, and which flip-flop drives which name.

    Within each block constants are propagated, equal cells merged, and what nothing reads is removed; arrays
    that the elaboration counts as SRAM stay. Cached by the content of the design under test: what surrounds
    it may change.

    Raises:
        HarnessError: If synthesis fails.
    """
    target = frozen(target)

    def build(folder: Path) -> None:
        netlist = design_netlist(target, elaboration) / DESIGN
        run_side(target, "simplify", {"design": str(netlist)}, folder, AFTER)

    return cached_folder("synthesis", design_under_test(target, elaboration).gates_key, build)


def parted_gates(
    target: Target, elaboration: Elaboration, scopes: Mapping[str, Mapping[str, str]], folder: Path
) -> None:
    """Write to `folder` the gates of the design with a boundary around generate blocks, as modules have one.

    Args:
        target: The design.
        elaboration: Its storage.
        scopes: By module of the netlist, the name of each part by the path of its generate block in it.
        folder: Where they go; files as `gates_of_design` has them. A part becomes the module MODULE_PART.

    Raises:
        HarnessError: If synthesis fails.
    """
    netlist = design_netlist(target, elaboration) / DESIGN
    run_side(target, "part", {"design": str(netlist), "scopes": scopes}, folder, _PARTED)
    run_side(target, "simplify", {"design": _PARTED}, folder, AFTER)


def _design_key(target: Target, elaboration: Elaboration) -> str:
    own = [target.dut, target.blocks, srams_of(elaboration), dict(elaboration.initial), _kept(elaboration)]
    described = json.dumps(own)
    return content_key(rtl_key(target, elaboration.parameters), described, _OWN)


def _kept(elaboration: Elaboration) -> list[str]:
    """Return the nets of registers that are neither removed nor merged."""
    return sorted({elaboration.locations[path].net for path in elaboration.kept})


def srams_of(elaboration: Elaboration) -> list[str]:
    """Return the paths of arrays that are SRAM."""
    arrays = {elaboration.locations[e.path].path for e in elaboration.sites.elements if e.kind == "sram"}
    return sorted(arrays)


@dataclass(frozen=True, slots=True)
class Scope:
    """A generate block that is a block of the target, or part of one.

    Attributes:
        path: Below the top.
        module: Of the netlist, that it lies in.
        inside: Its path in that module.
        part: Name of the part that is made of it.
    """

    path: str
    module: str
    inside: str
    part: str

    @property
    def made(self) -> str:
        """Name of the module that the part becomes."""
        return f"{self.module}_{self.part}"


def scopes_of(target: Target, instances: Mapping[str, str]) -> list[Scope]:
    """Return what of the blocks is no module of the netlist, in the order of the target.

    Args:
        target: The design.
        instances: Module of each instance, by path, as of `Design`.
    """
    paths = [path for own in target.blocks.values() for path in own if path not in instances]
    found = []
    for number, path in enumerate(paths):
        around = max((i for i in instances if i and path.startswith(f"{i}.")), key=len, default=None)
        if around is not None:
            inside = path[len(around) + 1 :]
            found.append(Scope(path, instances[around], inside, f"{PART}{number}"))
    return found


def parts_by_module(scopes: Sequence[Scope]) -> dict[str, dict[str, str]]:
    """Return, by module of the netlist, the name of each part by the path of its generate block in it."""
    found: dict[str, dict[str, str]] = {}
    for scope in scopes:
        found.setdefault(scope.module, {})[scope.inside] = scope.part
    return found


def run_side(
    target: Target,
    what: str,
    config: Mapping[str, Any],
    folder: Path,
    result: str,
    script: Path = _SIDE,
    flip_flops: str = "flip-flops",
) -> None:
    """Run a step of a script that synthesises, in `folder`.

    Args:
        target: The design, for messages.
        what: The step.
        config: What it reads.
        folder: Where it runs.
        result: The file that it leaves.
        script: `synthesis_side.py`, or another that is called as it is.
        flip_flops: Those that the cell library must have, in words.

    Raises:
        HarnessError: If it fails, or leaves no file `result`.
    """
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    done = run_side_script(script, [what, "config.json"], folder)
    if done.returncode != 0 or not (folder / result).is_file():
        messages = done.stderr + done.stdout
        found = said_of_source(messages, folder) or tail(messages, 15)
        raise HarnessError(
            f"synthesis of {target.name} failed ({what}); check RTL and cell library (it needs an inverter, "
            f"a buffer, 2-input gates and {flip_flops}):\n{found}"
        )
    require_copies(done.stdout, folder)
