# SPDX-License-Identifier: Apache-2.0
"""The gate before every verdict: could what was watched have shown a failure at all?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resil.bench.bench import OutputFacts
from resil.faults.content import Content
from resil.record.sanity import FAILED, NOT_TESTED, PASSED, Check, Sanity
from resil.stats.rates import OUTCOMES

_CHANGED = ("sdc_tolerable", "sdc_critical")


@dataclass(frozen=True)
class Probed:
    """What was tried beyond the campaign's own injections.

    Attributes:
        faults: Probe faults that were simulated.
        reached: Whether one of them changed the output.
    """

    faults: int = 0
    reached: bool = False


def changed_outputs(content: Content) -> int:
    """Return how many injections changed the output, whatever the design reported of them."""
    codes = [OUTCOMES.index(name) for name in _CHANGED]
    return int(np.isin(content.seen, codes).sum())


def written(facts: OutputFacts | None, outputs: Sequence[bytes]) -> Check:
    """Return whether the design writes the output in the run without a fault.

    An output that is as it was before the run, for every input, may still have been written with the same
    values: then the run is made once more on memory that begins with other content.

    Args:
        facts: Where the output lies, and what lay there before; None if that is not known.
        outputs: Of the run without a fault of each input.
    """
    if facts is None:
        return Check.of("written", NOT_TESTED, "what the output was before the run is not known")
    if any(found != before for found, before in zip(outputs, facts.before, strict=True)):
        return Check.of("written", PASSED, f"the run without a fault changes {facts.place}")
    if facts.again() == outputs[0]:
        return Check.of("written", PASSED, f"{facts.place} is written with the values that it began with")
    return Check.of(
        "written",
        FAILED,
        f"Expected the design to write its output, {facts.place}, in the run without a fault; found it as it "
        "was before the run. Correct the place of the output in the campaign ([workload.output]).",
    )


def varies(facts: OutputFacts | None, outputs: Sequence[bytes]) -> Check:
    """Return whether different inputs give different outputs; `facts` and `outputs` as of `written`."""
    if len(outputs) == 1:
        return Check.of("varies", NOT_TESTED, "one input was run: that the output depends on it is not known")
    if len(set(outputs)) > 1:
        return Check.of("varies", PASSED, f"{len(set(outputs))} outputs of {len(outputs)} inputs")
    if facts is not None and facts.placed_by:
        return Check.of(
            "varies", NOT_TESTED, f"all inputs give one output, which {facts.placed_by} has placed"
        )
    place = "the output" if facts is None else f"the output, {facts.place},"
    return Check.of(
        "varies",
        FAILED,
        f"Expected {place} to differ between inputs; found the same of all {len(outputs)} inputs. Correct "
        "the place of the output, or run inputs whose outputs differ.",
    )


def reached(changed: int, injections: int, probed: Probed) -> Check:
    """Return whether some fault changed the output.

    Args:
        changed: Injections that did.
        injections: All injections of the campaign.
        probed: What was tried beyond them.
    """
    if changed:
        return Check.of("reached", PASSED, f"{changed:,} of {injections:,} injections changed the output")
    if probed.reached:
        return Check.of(
            "reached", PASSED, f"no injection changed the output, but one of {probed.faults:,} stuck bits did"
        )
    tried = f", and none of {probed.faults:,} bits held at 0 or 1" if probed.faults else ""
    return Check.of(
        "reached",
        FAILED,
        f"Expected some fault to change the output; found none among {injections:,} injections{tried}. What "
        "is watched may not be the design's output: correct its place, or inject into storage that it "
        "depends on.",
    )


def sanity(facts: OutputFacts | None, outputs: Sequence[bytes], own: Check) -> Sanity:
    """Return all checks; `own` is that of `reached`, the others as of `written`."""
    return Sanity.of((written(facts, outputs), varies(facts, outputs), own))
