# SPDX-License-Identifier: Apache-2.0
"""The checks of the watched output, with probe faults where no injection has changed it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from resil.bench.bench import Bench
from resil.faults.content import Content
from resil.progress import Progress
from resil.record.sanity import Sanity
from resil.results.sanity import Probed, changed_outputs, reached, sanity
from resil.rtl_harness.engine.contract import CampaignEngine, GoldenRun
from resil.rtl_harness.faults import Fault, Seen

# Faults after each lot of which it is asked whether one has reached the output.
_LOTS = (0, 8, 40, 168)
_REGISTERS = ("ff", "macro")
_CHANGED = (Seen.SDC_TOLERABLE, Seen.SDC_CRITICAL)


def sanity_of(
    bench: Bench,
    engines: Sequence[CampaignEngine],
    goldens: Sequence[GoldenRun],
    found: Content,
    seed: int,
    progress: Progress,
) -> Sanity:
    """Return whether what a campaign watches can show a failure; warn if it cannot.

    Args:
        bench: What was injected into.
        engines: Of its inputs.
        goldens: The run without a fault of each input.
        found: All injections.
        seed: Of the draw of probe faults.
        progress: Shows the probe, and of what failed.
    """
    changed, probed = changed_outputs(found), Probed()
    if not changed:
        progress.stage("no injection changed the output: probing whether any fault does")
        with progress.working("probe"):
            probed = probe(bench, engines, seed)
    own = reached(changed, len(found.injections), probed)
    checks = sanity(bench.output, [run.end.output for run in goldens], own)
    if checks.failed:
        progress.warn(f"warning: {checks.reason}")
    return checks


def probe(bench: Bench, engines: Sequence[CampaignEngine], seed: int) -> Probed:
    """Hold bits of registers at 0 or 1, on the first input, until one changes the output.

    A stuck bit acts in every cycle: where none of them changes the output, upsets of the same storage that do
    are not to be expected.

    Args:
        bench: What is injected into.
        engines: Of its inputs.
        seed: Of the draw.
    """
    faults = _stuck_bits(bench, seed)
    tried = 0
    for first, last in pairwise(_LOTS):
        lot = faults[first:last]
        found = [injection.seen for injection in engines[0].run(lot)] if lot else []
        tried += len(lot)
        if any(seen in _CHANGED for seen in found):
            return Probed(tried, True)
    return Probed(tried)


def _stuck_bits(bench: Bench, seed: int) -> list[Fault]:
    """Return stuck bits in registers that are hardware, in an order of chance; latches cannot be held."""
    sites = [
        site
        for index, element in enumerate(bench.sites.elements)
        if element.kind in _REGISTERS and element.path not in bench.latches
        for first, bits, _ in bench.sites.pieces(index)
        for site in range(first, first + bits)
    ]
    stuck = [Fault(site, 0, held=held) for site in sites for held in (0, 1)]
    order = np.random.default_rng(seed).permutation(len(stuck))[: _LOTS[-1]]
    return [stuck[place] for place in order.tolist()]
