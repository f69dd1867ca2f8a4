# SPDX-License-Identifier: Apache-2.0
"""A protection with what was built of it, and with what injections into that have said."""

from __future__ import annotations

from dataclasses import dataclass

from resil.record import numbers
from resil.record.protection import Protection
from resil.record.protection_build import Build
from resil.record.protection_confirmation import Confirmation
from resil.record.protection_parts import BlockChoice


@dataclass(frozen=True, slots=True)
class ProtectionState:
    """A plan as it stands.

    Attributes:
        plan: What was chosen.
        build: What was built last of just this plan; None if nothing was, or it is not there any more.
        confirmation: What injections into that build have said; None if nothing was injected.
    """

    plan: Protection
    build: Build | None = None
    confirmation: Confirmation | None = None

    @property
    def confirmed(self) -> bool | None:
        """Whether new injections have confirmed what was built; None if none were made."""
        return None if self.confirmation is None else self.confirmation.confirmed

    @property
    def area_measured(self) -> bool:
        """Whether areas are those of synthesis, with all that was added: hardened cells are not in it."""
        return self.build is not None and self.build.area_measured.whole

    @property
    def area_added(self) -> float | None:
        """By synthesis if all is in that, else by the options' figures."""
        return self.build.area_measured.added if self.build and self.area_measured else self.plan.area_added

    @property
    def area_overhead(self) -> float | None:
        """Likewise, as a part of the unprotected area."""
        whole = self.build if self.area_measured else None
        return self.plan.area_overhead if whole is None else whole.area_measured.overhead

    @property
    def choices(self) -> tuple[BlockChoice, ...]:
        """What is chosen in each block, with its area likewise."""
        if self.build is None or not self.area_measured:
            return self.plan.choices
        blocks = self.build.area_measured.blocks
        return tuple(
            own.changed(area_added=blocks[own.block].after - blocks[own.block].before)
            if own.block in blocks
            else own
            for own in self.plan.choices
        )

    @property
    def beside(self) -> dict[str, float]:
        """Area of what no block of the design has: copies in lockstep, what collects alarms, the watchdog.

        By synthesis under the names of the blocks that protection added, else under those of the options.
        """
        if self.build is None or not self.area_measured:
            return {own.option_title: own.area_added for own in self.plan.mechanisms if own.area_added}
        own = {choice.block for choice in self.plan.choices}
        blocks = self.build.area_measured.blocks
        added = {name: area.after - area.before for name, area in blocks.items() if name not in own}
        return {name: area for name, area in added.items() if area}


def confirmation_line(protection: ProtectionState) -> str:
    """Return what injection into the built protection said, in a sentence; "" if nothing was built."""
    found = protection.confirmation
    if found is None:
        if protection.plan.build is None:
            return ""
        if protection.build is None:
            gone = f"no build of this plan is in {protection.plan.build} now"
            return f"Built, and {gone}; NOT CONFIRMED by injection."
        return "Built; NOT CONFIRMED by injection: --verify injects into it."
    own = found.measured
    logic = [row.logic_fit_hi for row in found.networks if row.logic_fit_hi is not None]
    beside = f" in storage, and at most {numbers.fit(max(logic))} in logic" if logic else " in storage alone"
    said = (
        f"by injection{found.caveat}, seed {found.seed}: {numbers.fit(found.predicted.fit)} FIT predicted, "
        f"{numbers.fit(own.fit)} [{numbers.fit(own.fit_lo)}, {numbers.fit(own.fit_hi)}] FIT{beside}, SPFM at "
        f"least {numbers.spfm(own.spfm_lo)} by {numbers.count(own.injections)} new injections"
    )
    if not found.confirmed:
        return f"NOT CONFIRMED {said}; {'; '.join(found.reasons)}."
    return " ".join((f"CONFIRMED {said}.", found.population.sentence, *found.golden_of_choice))
