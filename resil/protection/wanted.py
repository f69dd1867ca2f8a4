# SPDX-License-Identifier: Apache-2.0
"""What a user wants of a protection: what it has to keep, how it is chosen, and whether it is confirmed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from resil.protection.targets import Targets
from resil.protection.units import Granularity


@dataclass(frozen=True)
class ProtectionRequest:
    """What is asked of `resil.protection.flow.protect`.

    Attributes:
        targets: What has to be kept; with nothing named, the limits of the campaigns.
        granularity: What is chosen for; None for blocks of one run, and groups where several runs, a model, a
            share of the FIT or a limit of detected failures ask for injections that did not choose.
        options: File of options of the user's own, over those that ship.
        name: Of the plan; None for one made of granularity and targets.
        label: What such a name has behind them.
        verify: Inject into what is built.
        networks: Zoo networks or campaign files that confirm; nothing for two of the zoo.
        seed: Of the injections that confirm; None for an unused one.
        workers: Simulator processes; None for as many as the first run has.
        reuse: Take a plan, a build and a confirmation that are there already for just this.
    """

    targets: Targets = field(default_factory=Targets)
    granularity: Granularity | None = None
    options: Path | None = None
    name: str | None = None
    label: str = ""
    verify: bool = False
    networks: tuple[str, ...] = ()
    seed: int | None = None
    workers: int | None = None
    reuse: bool = False

    def plan_name(self, asked: Targets, granularity: Granularity) -> str:
        """Return the name of the plan: "by-register_fit-0.01" if none is given."""
        if self.name is not None:
            return self.name
        limits = {"fit": asked.budget_fit, "spfm": asked.spfm, "share": asked.fit_share, "due": asked.due_fit}
        limits |= {"permanent": asked.permanent_fit, "permanent-spfm": asked.permanent_spfm}
        label = "".join(c if c.isalnum() or c in "_.+-" else "-" for c in self.label)
        parts = [f"{key}-{value!r}" for key, value in limits.items() if value is not None]
        return "_".join([f"by-{granularity}", *parts, *filter(None, [label])])[:64]
