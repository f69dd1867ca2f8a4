# SPDX-License-Identifier: Apache-2.0
"""What a protection plan takes for granted, in sentences for its reader."""

from __future__ import annotations

from collections.abc import Sequence

from resil.protection.blocks import Block
from resil.protection.options import CELL_KINDS, KINDS, OptionSet
from resil.record.summary import Summary

_PREDICTED = (
    "PREDICTED: nothing was injected into this network; the limits are those of a sensitivity model, and so "
    "is the plan. Injections into the design are the check.",
)
_NAMES = {"ff": "flip-flops", "macro": "flip-flops in SRAM macros", "sram": "memories"}


def assumptions(
    summary: Summary, blocks: Sequence[Block], options: OptionSet, hazardous: Sequence[str]
) -> list[str]:
    """Return the assumptions behind a plan.

    Args:
        summary: Of the results.
        blocks: Its blocks.
        options: What might be chosen.
        hazardous: Outcomes that count as failures.
    """
    percent = f"{50.0 + 50.0 * summary.campaign.confidence:.4g}"
    told = [
        *_PREDICTED[: summary.predicted],
        f"The bound of a protected set is the sum of its blocks' upper limits, which all hold together at "
        f"{percent} % (Bonferroni): it holds for whichever set is chosen. The unprotected design's bound is "
        "that of the campaign's total.",
        "Bounds hold over the ranges of the options' factors and coverages in the options file; an option "
        "without a range is taken at its figure.",
        "SPFM is 1 - residual rate / upset rate. Hardened cells lower both, so they raise SPFM less than "
        "they lower FIT: the denominator shrinks with them. Detection and correction lower the first alone.",
        "The storage that a protection adds is not itself counted as a source of hazardous failures.",
        *_areas(summary, blocks, options),
        *_macros(summary, blocks, options),
    ]
    left_out = [_NAMES[k] for k in KINDS if k not in summary.campaign.kinds and summary.target.bits(k)]
    if left_out:
        told.append(
            f"Failures from {' and '.join(left_out)} are not counted: the campaign did not inject into them."
        )
    if len(summary.campaign.clusters) > 1:
        told.append(
            "Upsets of this campaign flip up to "
            f"{len(summary.campaign.clusters)} bits of a word: the coverages of codes on memories must "
            "be figures for such upsets (parity misses even numbers of bits, SECDED corrects one bit alone)."
        )
    if "due" in hazardous:
        told.append(
            "Detected failures count as hazardous in this campaign, so detection alone brings nothing."
        )
    return told


def _macros(summary: Summary, blocks: Sequence[Block], options: OptionSet) -> list[str]:
    """Say what is offered for flip-flops inside SRAM macros, by name."""
    if not any("macro" in block.hazards for block in blocks):
        return []
    offered = ", ".join(o.title for o in options.options.values() if "macro" in o.protects) or "nothing"
    return [
        f"{summary.target.macro_bits:,} flip-flops lie inside SRAM macros, as output latches do: no "
        f"hardened cell or copy of a cell can be chosen for them. What is offered for them: {offered}; codes "
        "on memories count for them where they are checked behind the macro."
    ]


def _areas(summary: Summary, blocks: Sequence[Block], options: OptionSet) -> list[str]:
    told = []
    unit = summary.total.area_unit
    for kind in CELL_KINDS:
        if not any(kind in block.hazards for block in blocks):
            continue
        key = f"{kind}_area"
        if any(getattr(block, key) is None for block in blocks):
            told.append(
                f"The area of {_NAMES[kind]} in {unit} is not known, so options that harden or encode them "
                f"were not considered: add a [[cell]] of kind {kind} and unit {unit} to an options file."
            )
        elif kind == "sram":
            told.append(f"The area of {_NAMES[kind]} in each block is that of the area report.")
        else:
            cell = options.cells[kind, unit]
            told.append(
                f"One bit of {_NAMES[kind]} takes {cell.area:g} {unit} ({cell.status}: {cell.source}); "
                "options that act on cells add a multiple of that part of a block only."
            )
    return told
