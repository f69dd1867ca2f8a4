# SPDX-License-Identifier: Apache-2.0
"""What becomes in a second inference of what the first left behind."""

from __future__ import annotations

import numpy as np

from resil.campaign.campaign import Campaign
from resil.campaign.network_settings import NetworkSettings
from resil.faults.content import Content
from resil.record.evidence import Inferences
from resil.stats.rates import OUTCOMES

SEQUENCE = "sequence"
"""Stands for what the host does between inferences of a network with state."""
_BETWEEN = {
    "rewrite": "the host clears the interrupt and writes the input and all registers again",
    "reset": "the host resets the NPU and writes the input and all registers again",
}


def inferences_of(campaign: Campaign, content: Content, sequence: bool = False) -> Inferences | None:
    """Return what was seen after the struck one of several inferences and in all; None if there is one.

    That is the first of two, and any of a `sequence` of a network with state. `after_first` counts injections
    by its outcome and, within it, by that of the whole run. Of those that were `latent` after it, `dormant`
    became an SDC, a DUE or a hang in a later one, `vanished` left nothing behind, `latent` are still there.
    What the run ended as is judged with the fault-tolerant time, as in all other figures.
    """
    if campaign.inferences == 1:
        return None
    content = content.within(campaign.detection_cycles)
    table = np.zeros((len(OUTCOMES), len(OUTCOMES)), dtype=np.int64)
    two = content.firsts >= 0
    np.add.at(table, (content.firsts[two], content.outcomes[two]), 1)
    became = dict(zip(OUTCOMES, table[OUTCOMES.index("latent")].tolist(), strict=True))
    whole = sum(became.values())
    return Inferences(
        number=campaign.inferences,
        between=_between(campaign, sequence),
        after_first={
            first: {o: n for o, n in zip(OUTCOMES, row, strict=True) if n}
            for first, row in zip(OUTCOMES, table.tolist(), strict=True)
        },
        latent_after_first=whole,
        dormant=whole - became["masked"] - became["latent"],
        vanished=became["masked"],
        latent=became["latent"],
    )


def _between(campaign: Campaign, sequence: bool) -> str:
    if sequence:
        return SEQUENCE
    return campaign.between if isinstance(campaign.work, NetworkSettings) else ""


def inference_note(facts: Inferences) -> str:
    """Return the facts as a sentence or two."""
    became = facts.after_first["latent"]
    worse = ", ".join(f"{n:,} {o}" for o, n in became.items() if o not in ("masked", "latent"))
    if facts.between == SEQUENCE:
        return (
            f"Each run makes {facts.number} inferences of inputs one after another and is struck in any; "
            "before each the host resets the NPU, and keeps the network's state in memory. Of "
            f"{facts.latent_after_first:,} injections that were latent after the inference that was struck, "
            f"in the network's state or in the NPU, {facts.dormant:,} spoilt a later one"
            f"{f' ({worse})' if worse else ''}; the others changed no output."
        )
    between = _BETWEEN.get(facts.between, "the host does what the memory images say")
    return (
        f"Each run makes two inferences of the same input and is struck in the first; between them "
        f"{between}. Of {facts.latent_after_first:,} injections that were latent state after the first, "
        f"{facts.dormant:,} were dormant{f' ({worse})' if worse else ''}, {facts.vanished:,} vanished "
        f"in the second, and {facts.latent:,} are latent after it."
    )
