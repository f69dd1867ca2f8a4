# SPDX-License-Identifier: Apache-2.0
"""The checklist of dependent failures: what several parts share, and what of it a run has injected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from resil.files import read_parquet
from resil.folder.store import INJECTIONS
from resil.record.assessor import IN_PART, INJECTED, NOT_INJECTED, Dependent
from resil.record.protection_state import ProtectionState

_NAMED = 5


@dataclass(frozen=True)
class _Initiator:
    """What several parts share.

    Attributes:
        name: Of the initiator.
        effect: What it could do to several parts at once.
        words: Parts of names of registers that bear on it; none if no storage does.
        left: What no injection into storage shows, and who has to.
    """

    name: str
    effect: str
    words: str
    left: str


_SHARED = (
    _Initiator(
        "shared clock",
        "a glitch or a loss of the clock hits a block and its copy, or a mechanism and what it guards, alike",
        r"clk|clock|clken|gate_en",
        "The clock tree, its buffers and its source are no storage and were not injected. Copies on one "
        "clock "
        "need a monitor of the clock outside the target; the integrator has to show it.",
    ),
    _Initiator(
        "shared reset",
        "a spurious reset clears a mechanism together with what it guards, and the alarm with both",
        r"rst|reset",
        "The reset tree and its synchroniser are no storage of the target and were not injected. A reset "
        "without a request has to be noticed outside the target, as by the host's own time-out.",
    ),
    _Initiator(
        "alarm and error register",
        "a fault of the one register that every alarm goes through silences all mechanisms",
        r"alarm|alert|err|error|fault|mismatch|parity|ecc|status",
        "Upsets alone were injected, one at a time: an alarm that is stuck at rest together with a later "
        "fault is "
        "the dual-point case, which the latent rows of a campaign of stuck bits answer. The wire from the "
        "alarm to the host is outside the target.",
    ),
    _Initiator(
        "shared power",
        "a dip of the supply alters many bits of all parts at once",
        r"pwr|power|isolat|retention",
        "Supply, regulators and power switches were not injected, nor more bits at once than clusters "
        "have. A "
        "monitor of the supply has to be shown by the integrator.",
    ),
    _Initiator(
        "neighbouring bits",
        "one particle flips adjacent bits, of a word and its code or of a register and its copy",
        "",
        "Clusters lie within a word, as the campaign declares them. Bits of different registers that layout "
        "places side by side were not hit together: placement has to keep copies apart.",
    ),
    _Initiator(
        "common design",
        "a bug of the RTL, of synthesis or of the compiler is in every copy alike",
        "",
        "Systematic faults are no random hardware failures and were not injected. Copies are of the same "
        "RTL.",
    ),
    _Initiator(
        "shared bus and memory outside",
        "one wrong word outside the target reaches a block and its copy alike",
        "",
        "Memories and interconnect outside the design were not injected by this run, unless its kinds of "
        "storage say so. Codes of the memories have to be shown by the integrator.",
    ),
)


def dependent_failures(
    folder: Path, clusters: bool, external: bool, protection: ProtectionState | None
) -> tuple[Dependent, ...]:
    """Return the checklist for a run.

    Args:
        folder: Of the run; of an estimate nothing was injected.
        clusters: Whether upsets of several bits were declared.
        external: Whether memories outside the design were struck, and nothing else.
        protection: The accepted plan, if there is one.
    """
    registers, several = _injected(folder)
    return tuple(
        _answer(initiator, registers, several if clusters else 0, external, protection)
        for initiator in _SHARED
    )


def _answer(
    shared: _Initiator,
    registers: Mapping[str, int],
    several: int,
    external: bool,
    protection: ProtectionState | None,
) -> Dependent:
    left = shared.left
    if shared.name == "neighbouring bits":
        count, said = several, f"{several:,} injections flipped several adjacent bits of a word"
    elif shared.name == "shared bus and memory outside":
        count = sum(registers.values()) if external else 0
        said = f"{count:,} injections struck memory outside the design"
    elif shared.words:
        own = {name: n for name, n in registers.items() if re.search(shared.words, _last(name), re.I)}
        count = sum(own.values())
        named = ", ".join(sorted(own)[:_NAMED])
        more = f" and {len(own) - _NAMED} more" if len(own) > _NAMED else ""
        said = f"{count:,} injections into registers that bear on it by their names ({named}{more})"
    else:
        count, said = 0, ""
    if shared.name == "alarm and error register" and protection is not None and protection.confirmation:
        copies = protection.confirmation.copies
        said += (
            f"; {copies.injections:,} into copies and codes of the protected RTL, {copies.hazardous:,} "
            "of them hazardous"
        )
    answer = IN_PART if count else NOT_INJECTED
    if count and shared.name == "neighbouring bits":
        answer = INJECTED
    return Dependent(
        initiator=shared.name,
        effect=shared.effect,
        answer=answer,
        injections=count,
        injected=f"{said[:1].upper()}{said[1:]}." if count else "Nothing.",
        left=left,
    )


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _injected(folder: Path) -> tuple[dict[str, int], int]:
    """Return how often each register was struck, and how many injections flipped several bits."""
    registers: dict[str, int] = {}
    several = 0
    for part in sorted((folder / INJECTIONS).glob("part-*.parquet")):
        table = read_parquet(part, ["path", "bits"])
        several += int(pc.sum(pc.greater(table["bits"], 1)).as_py() or 0)
        for row in pc.value_counts(table["path"]).to_pylist():
            registers[str(row["values"])] = registers.get(str(row["values"]), 0) + int(row["counts"])
    return registers, several
