# SPDX-License-Identifier: Apache-2.0
"""Failure modes: a block and one outcome of faults in it, as the FMEDA lists them."""

from __future__ import annotations

from dataclasses import dataclass

from resil.record.blocks import Block
from resil.record.interval import RecordedInterval
from resil.record.outcomes import OUTCOMES, OutcomeText
from resil.record.protection_parts import BlockChoice
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary


@dataclass(frozen=True, slots=True)
class FailureMode:
    """One row of the FMEDA: a block and one outcome of faults in it. Rates in FIT.

    Attributes:
        block: Where the fault is.
        outcome: What it leads to.
        share: Probability of this outcome given a fault.
        violates: Whether the outcome counts as hazardous in this campaign.
        mechanism: Protection chosen for the block, or `none`.
        base_factor: Share of the rate that is left because hardened cells upset less; no diagnostic coverage.
        coverage: Diagnostic coverage of the mechanism for hazardous outcomes, 0 to 1.
        weight: What the rate has to be multiplied with because bits of unlike raw rates have unlike
            shares; 1 in a block with one kind of bits.
        source: Where share and coverage come from.
    """

    block: Block
    outcome: OutcomeText
    share: RecordedInterval
    violates: bool
    mechanism: str
    base_factor: float
    coverage: float
    weight: float
    source: str

    @property
    def fit(self) -> RecordedInterval:
        """Rate of this failure mode without protection."""
        return self.share.scaled((self.block.fit_raw or 0.0) * self.weight)

    @property
    def base(self) -> RecordedInterval:
        """Rate of this failure mode with hardened cells, whatever detects it."""
        return self.fit.scaled(self.base_factor)

    @property
    def residual(self) -> RecordedInterval:
        """Rate that still violates the safety goal; 0 for outcomes that never do."""
        return self.base.scaled(1.0 - self.coverage) if self.violates else RecordedInterval(0.0, 0.0, 0.0)


def failure_modes(summary: Summary, protection: ProtectionState | None) -> list[FailureMode]:
    """Return a row for every block and outcome, in report order."""
    applied = protection is not None and protection.plan.result == "optimal"
    choices = (
        {choice.block: choice for choice in protection.choices} if protection is not None and applied else {}
    )
    return [
        _failure_mode(summary, block, outcome, choices.get(block.name))
        for block in summary.blocks
        for outcome in OUTCOMES
    ]


def _failure_mode(
    summary: Summary, block: Block, outcome: OutcomeText, choice: BlockChoice | None
) -> FailureMode:
    observed = f"{block.counts[outcome.key]} of {block.injections}"
    source = f"fault injection, {observed}, engine {summary.campaign.engine}"
    if summary.predicted:
        source = "PREDICTED by a sensitivity model, nothing injected"
    violates = outcome.key in summary.campaign.hazardous
    chosen = choice if choice is not None and choice.option != "none" else None
    factor, coverage, mechanism = 1.0, 0.0, "none"
    if chosen is not None:
        factor = chosen.base_factor if violates else _other_factor(block, chosen)
    if chosen is not None and violates:
        coverage, mechanism = chosen.coverage, chosen.option_title
        source += f"; factor and coverage {chosen.status}: {chosen.source}"
    return FailureMode(
        block=block,
        outcome=outcome,
        share=block.rate(outcome.key),
        violates=violates,
        mechanism=mechanism,
        base_factor=factor,
        coverage=coverage,
        weight=_weight(block, summary.campaign.hazardous, violates),
        source=source,
    )


def _other_factor(block: Block, choice: BlockChoice) -> float:
    """Return the base rate factor of the outcomes that do no harm, so that all add up to the upset rate."""
    fit = block.fit or 0.0
    before = (block.fit_raw or 0.0) - fit
    return max(0.0, choice.fit_raw_after - fit * choice.base_factor) / before if before > 0.0 else 1.0


def _weight(block: Block, hazardous: tuple[str, ...], violates: bool) -> float:
    """Return the factor that makes the modes of a block add up to its FIT, and to its raw FIT."""
    outcomes = [outcome.key for outcome in OUTCOMES if (outcome.key in hazardous) == violates]
    share = sum(block.rate(key).estimate or 0.0 for key in outcomes)
    fit, raw = block.fit or 0.0, block.fit_raw or 0.0
    wanted = fit if violates else raw - fit
    expected = share * raw
    return max(0.0, wanted) / expected if expected > 0.0 else 1.0
