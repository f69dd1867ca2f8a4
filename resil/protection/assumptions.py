# SPDX-License-Identifier: Apache-2.0
"""What a protection plan takes for granted, in sentences for its reader."""

from __future__ import annotations

from collections.abc import Sequence

from resil.protection.items import ProtectableDesign
from resil.protection.options import CELL_KINDS, KINDS, WATCHDOG
from resil.protection.risks import Network
from resil.protection.units import Granularity
from resil.record.protection_parts import NOT_PERMANENT
from resil.record.summary import Summary

_PREDICTED = (
    "PREDICTED: nothing was injected into this network; the limits are those of a sensitivity model, and so "
    "is the plan. Injections into the design are the check.",
)
_NAMES = {"ff": "flip-flops", "macro": "flip-flops in SRAM macros", "sram": "memories"}


def assumptions(
    design: ProtectableDesign, networks: Sequence[Network], granularity: Granularity, summary: Summary
) -> list[str]:
    """Return the assumptions behind a plan.

    Args:
        design: What was chosen for.
        networks: By which.
        granularity: Of the units.
        summary: Of the first run.
    """
    said = [
        *_PREDICTED[: summary.predicted],
        *_evidence(networks),
        "Options count at the weak ends of their ranges, and the denominator of SPFM at its least: hardened "
        "cells lower it by as much as they may. An option without a range is taken at its figure.",
        "Storage that an option adds upsets too: it counts as as dangerous as what it guards, and as "
        "guarded. It does not enlarge the denominator of SPFM.",
        "Every upset under a mechanism that detects is a detected failure, also where it would do no harm.",
        f"Chosen by {granularity}: the options' areas are figures, not measured on this design.",
        *_areas(design, summary),
        *_macros(design, summary),
        *_left_out(summary),
        *_clusters(design, summary),
    ]
    said += _permanent(networks)
    if design.options.leave_out:
        said.append(f"Left out by the file of options: {', '.join(design.options.leave_out)}.")
    said += _watchdog(design, networks)
    if design.buildable:
        said.append("Only what can be built as RTL, and shown by injecting into it, was offered.")
    if any(unit.memory for unit in design.units):
        said.append("Codes on a memory guard the flip-flops of its macro, too: they are checked behind it.")
    if "due" in networks[0].hazardous:
        said.append(
            "Detected failures count as hazardous in this campaign, so detection alone brings nothing."
        )
    return said


def _permanent(networks: Sequence[Network]) -> list[str]:
    """Say whether the set was chosen against permanent faults, and what is credited for them."""
    known = [own.permanent for own in networks if own.permanent is not None]
    if not known:
        return [
            f"{NOT_PERMANENT} What the set leaves of stuck bits and stuck pins is not known. Claim "
            "spfm_permanent in [safety], or give --permanent-fit or --permanent-spfm."
        ]
    logic = known[0].logic is not None
    of_logic = (
        "Permanent faults of logic are held pins: a copy of the whole block is credited for those in it, "
        "nothing else is."
        if logic
        else "No run of stuck pins is named: permanent faults of logic are in none of these figures."
    )
    return [
        "Of permanent faults an option that is declared for them (permanent) covers stuck bits of what it "
        f"guards as it covers upsets; hardened cells and a watchdog are credited with none. {of_logic} "
        "Those of the gates that mechanisms add are in no plan: hold them with resil mechanisms, or confirm "
        "the build."
    ]


def _evidence(networks: Sequence[Network]) -> list[str]:
    percent = f"{50.0 + 50.0 * networks[0].confidence:.4g}"
    if networks[0].limits is not None:
        return [
            "The bound of a protected set is the sum of its blocks' upper limits, which all hold together "
            f"at {percent} % (Bonferroni): it holds for whichever set is chosen. The unprotected design's "
            "bound is that of the campaign's total."
        ]
    return [
        "Half of each run's injections (by a hash of their numbers) chose, by risks shrunk over networks; "
        "every figure of what remains is from the other half, which had no part in the choice.",
        f"Each bound holds at {percent} %. Sets are judged from the strongest on, up to the first that "
        "fails, so they share that error; the verdict that none is needed is a look of its own.",
        "Bounds are for the inputs that were run.",
    ]


def _left_out(summary: Summary) -> list[str]:
    kinds = summary.campaign.kinds
    left = [_NAMES[kind] for kind in KINDS if kind not in kinds and summary.target.bits(kind)]
    return (
        [f"Failures from {' and '.join(left)} are not counted: the campaign did not inject into them."]
        if left
        else []
    )


def _clusters(design: ProtectableDesign, summary: Summary) -> list[str]:
    if (most := len(summary.campaign.clusters)) < 2:
        return []
    ways = max(option.ways for option in design.options.options.values())
    parity = (
        "Parity is credited with odd numbers of bits alone"
        if ways == 1
        else f"Parity is built with {ways} parity bits in turn, so that of {ways} neighbours no two lie "
        "under one, and is credited with such clusters"
    )
    return [
        f"Upsets of this campaign flip up to {most} bits of a word. {parity}; SECDED corrects one bit "
        "and reports two, and is credited with no more. Clusters that a code misses stay as they are: "
        "neighbours are taken to lie in one word of the code. Where injections "
        "judge, those of each size are counted; else, and in the choice, an upset of two bits counts as "
        "twice as dangerous as one of one bit. Of options that build no code of these, the coverage has to "
        "be a figure for such upsets."
    ]


def _macros(design: ProtectableDesign, summary: Summary) -> list[str]:
    """Say what is offered for flip-flops inside SRAM macros, by name."""
    if "macro" not in design.cells.kind:
        return []
    offered = ", ".join(o.title for o in design.options.options.values() if "macro" in o.protects)
    return [
        f"{summary.target.macro_bits:,} flip-flops lie inside SRAM macros, as output latches do: no "
        f"hardened cell or copy of a cell can be chosen for them. What is offered for them: "
        f"{offered or 'nothing'}; codes on memories count for them where they are checked behind the macro."
    ]


def _areas(design: ProtectableDesign, summary: Summary) -> list[str]:
    said = []
    for kind in CELL_KINDS:
        if kind not in design.cells.kind:
            continue
        key = f"{kind}_area"
        if any(getattr(block, key) is None for block in design.blocks.values()):
            said.append(
                f"The area of {_NAMES[kind]} in {design.unit} is not known, so options that harden or encode "
                f"them were not considered: add a [[cell]] of kind {kind} and unit {design.unit} to an "
                "options file."
            )
        elif kind == "sram":
            said.append(f"The area of {_NAMES[kind]} in each block is that of the area report.")
        else:
            cell = design.options.cells[kind, design.unit]
            said.append(
                f"One bit of {_NAMES[kind]} takes {cell.area:g} {design.unit} ({cell.status}: {cell.source})"
                "; options that act on cells add a multiple of that part of a block only."
            )
    return said


def _watchdog(design: ProtectableDesign, networks: Sequence[Network]) -> list[str]:
    """Say on which networks a watchdog helps, and what is taken for granted of it."""
    if WATCHDOG not in design.options.options or networks[0].limits is not None:
        return []
    if design.limit is None:
        return ["A watchdog was not offered: how long operations take is not in the results of all runs."]
    watched = [n.name for n in networks if n.pace is not None and n.pace.detects(design.limit)]
    late = [n.name for n in networks if n.name not in watched]
    text = (
        f"A watchdog waits {design.limit:,} cycles for the end of an operation. A hang is taken for one in "
    )
    text += "which no operation ends any more, but for the part that the option's coverage leaves."
    if late:
        text += f" On {', '.join(late)} it would detect hangs only after the time-out: it counts for nothing."
    return [text]
