# SPDX-License-Identifier: Apache-2.0
"""Which instances of a built design are mechanisms, what each part of one is, and what it guards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from resil.rtl_harness.redundancy.codes import DECODERS, ENCODERS
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.lockstep import MODULE as COMPARE
from resil.rtl_harness.redundancy.netlist import MODULES
from resil.rtl_harness.redundancy.watchdog import MODULE as WATCHDOG

ALERT, FLOP = "resil_alert", "resil_flop"
ALARMS, LOCKSTEP, TIMER = "alarms", Mechanism.LOCKSTEP.value, "watchdog"
_COMPARE = re.compile(r"resil_(?P<block>.+)_compare")
# Instances of `FLOP` that a register which is not protected would have too.
_FIRST = ("u_copy_a", "u_data")


class PartRole(StrEnum):
    """What a part of a mechanism is.

    GUARDED: what would be there without it. COPY: a copy of that, or code bits. ENCODE: what makes code bits
    of words that go to a memory. CHECK: what compares, votes, decodes, counts, or collects alarms.
    """

    GUARDED = "guarded"
    COPY = "copy"
    ENCODE = "encode"
    CHECK = "check"


@dataclass(frozen=True, slots=True, order=True)
class MechanismPart:
    """An instance, with all below it that is no part of its own.

    Attributes:
        path: Below the top.
        mechanism: Path of the mechanism that it belongs to: of a redundant register, a coder, a block in
            lockstep, the watchdog, or what collects alarms.
        kind: A mechanism as `Mechanism` names it, `LOCKSTEP`, `TIMER` or `ALARMS`.
        role: What it is there.
    """

    path: str
    mechanism: str
    kind: str
    role: PartRole


def mechanism_parts(instances: Mapping[str, str]) -> tuple[MechanismPart, ...]:
    """Return the parts of all mechanisms that `build_protection` puts into a design.

    Args:
        instances: Module of each instance, by path below the top, as the netlist calls it.
    """
    modules = {path: module.partition("$")[0] for path, module in instances.items()}
    registers = {module: mechanism.value for mechanism, module in MODULES.items()}
    coders = {
        module: mechanism.value for coded in (ENCODERS, DECODERS) for mechanism, module in coded.items()
    }
    found = []
    for path, module in modules.items():
        holder, _, name = path.rpartition(".")
        if module in registers:
            found.append(MechanismPart(path, path, registers[module], PartRole.CHECK))
        elif module == FLOP and modules.get(holder) in registers:
            role = PartRole.GUARDED if name in _FIRST else PartRole.COPY
            found.append(MechanismPart(path, holder, registers[modules[holder]], role))
        elif module in coders and modules.get(holder) not in coders:
            role = PartRole.ENCODE if module in ENCODERS.values() else PartRole.CHECK
            found.append(MechanismPart(path, path, coders[module], role))
        elif module == WATCHDOG:
            found.append(MechanismPart(path, path, TIMER, PartRole.CHECK))
        elif module == ALERT:
            found.append(MechanismPart(path, path, ALARMS, PartRole.CHECK))
        elif module == COMPARE and (block := _COMPARE.fullmatch(name)) is not None:
            own, copy = f"{holder}.{block['block']}", f"{holder}.resil_{block['block']}_copy"
            found.append(MechanismPart(path, own, LOCKSTEP, PartRole.CHECK))
            found.append(MechanismPart(copy, own, LOCKSTEP, PartRole.COPY))
            found.append(MechanismPart(own, own, LOCKSTEP, PartRole.GUARDED))
    return tuple(sorted(found))
