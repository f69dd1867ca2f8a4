# SPDX-License-Identifier: Apache-2.0
"""A chosen protection: `protection.json`."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record import numbers
from resil.record.protection_parts import (
    NOT_PERMANENT,
    BlockChoice,
    ChoosingModel,
    ChoosingRun,
    FrontPoint,
    JudgedNetwork,
    LogicLeft,
    NpuMechanism,
    PlanBasis,
    ProtectedGroup,
)
from resil.record.typed import Amount, Document, OneOf, Share, wrong

OPTIMAL, INFEASIBLE, NOT_NEEDED = RESULTS = ("optimal", "infeasible", "not_needed")
TARGETS = (
    *("budget_fit", "spfm_target", "fit_share_target", "due_fit_target"),
    *("permanent_fit_target", "permanent_spfm_target"),
)
_REACHED = ("area_added", "area_overhead", "fit", "fit_hi")
# What is built, for what was promised: the same in the plan of each run.
_CHOICE = (
    *("name", "granularity", "based_on", "models", "groups", "mechanisms", "networks", "hold_out"),
    *TARGETS,
)


class Protection(Document):
    """The protection that was chosen for finished runs, in each of them with its own figures. Rates in FIT.

    What was built of it and what injections said of that stand beside the build, in `build.json` and
    `confirmation.json`, and nowhere else.
    """

    FILE: ClassVar[str] = "protection.json"
    SCHEMA: ClassVar[Literal[13]] = 13
    REMEDY: ClassVar[str] = (
        "the file is damaged or of another version: write it anew with 'resil protect RUN_DIR'"
    )

    schema_number: Literal[13] = Field(alias="schema")
    """Of this file: another one is of another version, and is refused."""
    name: str
    """Of the plan."""
    basis: PlanBasis
    """Results of this run."""
    based_on: tuple[ChoosingRun, ...]
    """Results of all runs that it rests on."""
    models: tuple[ChoosingModel, ...]
    """Sensitivity models that helped to choose."""
    from_estimate: bool
    """Whether it rests on an estimate, so that nothing was injected."""
    golden: tuple[str, ...]
    """What is to be said of golden outputs: where one is not the network's, or was not compared."""
    granularity: Annotated[str, OneOf(("block", "register", "group"))]
    """Of the units of choice."""
    budget_fit: Amount | None
    """Most FIT that was asked for, the campaign's own budget included; null if none was."""
    spfm_target: Share | None
    """Least SPFM that was asked for; null if none was."""
    fit_share_target: Amount | None
    """Most of each network's FIT, as a part of it; null if that was not asked for."""
    due_fit_target: Amount | None
    """Most detected failures; null if that was not asked for."""
    permanent_fit_target: Amount | None
    """Most FIT of permanent faults; null if that was not asked for."""
    permanent_spfm_target: Share | None
    """Least SPFM of permanent faults; null if that was not asked for. Without this and the one above, nothing
    was chosen against permanent faults."""
    waived: tuple[str, ...]
    """Limits of the campaign that were waived, or replaced by laxer ones, in words."""
    result: Annotated[str, OneOf(RESULTS)]
    """`optimal`, `not_needed` or `infeasible`."""
    reason: str
    """Why nothing was chosen; empty if something was."""
    reserve: Share | None
    """Part of what the targets allow that the set uses by the injections that chose."""
    area_unprotected: Amount
    """Of all blocks."""
    area_added: Amount | None
    """By the options' figures; null if nothing was chosen, as all that follows."""
    area_overhead: Amount | None
    """The same as a part of the unprotected area."""
    area_overhead_lockstep: Amount | None
    """Of duplicating everything; null where that is no option."""
    bound: Amount | None
    """Area that no choice goes below, by the solver's proof."""
    gap: Amount | None
    """How far this one is from it, as a part of its area."""
    fit_hi_unprotected: Amount
    """Upper limit of FIT on this run's network, without protection."""
    fit_hi: Amount | None
    """With it."""
    fit: Amount | None
    """Hazardous failures that are left."""
    fit_raw_before: Amount
    """Upset rate without protection."""
    fit_raw_after: Amount | None
    """With hardened cells."""
    spfm_before: Share | None
    """Single-point fault metric without protection."""
    spfm_lo_before: Share | None
    """Its lower limit."""
    spfm: Share | None
    """With it."""
    spfm_lo: Share | None
    """Its lower limit."""
    due: Amount | None
    """Detected failures that are left; null if they are not known."""
    due_hi: Amount | None
    """Upper limit of that."""
    choices: tuple[BlockChoice, ...]
    """What is chosen in each block; none if nothing is needed or reached."""
    groups: tuple[ProtectedGroup, ...]
    """Each unit that is protected."""
    mechanisms: tuple[NpuMechanism, ...]
    """Mechanisms of the whole design."""
    networks: tuple[JudgedNetwork, ...]
    """Each network that chose."""
    hold_out: tuple[JudgedNetwork, ...]
    """The same of each network for a set that was chosen without it."""
    logic: LogicLeft | None
    """What the set leaves of pulses in logic; null if nothing is known of them, or nothing was chosen."""
    pareto: tuple[FrontPoint, ...]
    """Sets that were judged, by area."""
    assumptions: tuple[str, ...]
    """What the choice rests on."""
    build: str | None
    """Folder of what was built last of it, from the folder of the run; null if nothing was."""

    @property
    def storage_budget(self) -> float | None:
        """What of the budget is left for storage beside the limit of logic, in FIT; None without one."""
        logic = 0.0 if self.logic is None else self.logic.fit_hi
        return None if self.budget_fit is None else self.budget_fit - logic

    @property
    def storage_due(self) -> float | None:
        """What of the limit of detected failures is left for storage, likewise."""
        logic = 0.0 if self.logic is None else self.logic.due_hi
        return None if self.due_fit_target is None else self.due_fit_target - logic

    def storage_within(self, spfm: float, fit_raw: float) -> float:
        """Return the most hazardous FIT of storage with which an SPFM is kept beside the limits of logic.

        Args:
            spfm: The least that is asked, 0 to 1.
            fit_raw: Upset rate of storage.
        """
        return (1.0 - spfm) * fit_raw if self.logic is None else self.logic.storage_within(spfm, fit_raw)

    @property
    def target(self) -> str:
        """What was asked for, in words."""
        parts = []
        if self.budget_fit is not None:
            parts.append(f"a budget of {numbers.given(self.budget_fit)} FIT")
        if self.spfm_target is not None:
            parts.append(f"SPFM of at least {numbers.percent(self.spfm_target)}")
        if self.fit_share_target is not None:
            parts.append(f"at most {numbers.percent(self.fit_share_target)} of the FIT without protection")
        if self.due_fit_target is not None:
            parts.append(f"at most {numbers.given(self.due_fit_target)} FIT detected")
        if self.permanent_fit_target is not None:
            parts.append(f"at most {numbers.given(self.permanent_fit_target)} FIT of permanent faults")
        if self.permanent_spfm_target is not None:
            parts.append(
                f"SPFM of permanent faults of at least {numbers.percent(self.permanent_spfm_target)}"
            )
        return " and ".join(parts) + "".join(f" ({text})" for text in self.waived)

    @property
    def asks_of_permanent(self) -> bool:
        """Whether a limit of permanent faults was asked."""
        return self.permanent_fit_target is not None or self.permanent_spfm_target is not None

    @property
    def permanent_text(self) -> str:
        """What it leaves of permanent faults on each network, or that it was not chosen against them."""
        known = [own for own in self.networks if own.permanent is not None]
        if not known:
            return NOT_PERMANENT
        return " ".join(
            f"On {own.network} {own.permanent.text}." for own in known if own.permanent is not None
        )

    @property
    def protects(self) -> bool:
        """Whether the choice has any protection in it."""
        return any(choice.option != "none" for choice in self.choices)

    @property
    def choice_digest(self) -> str:
        """Digest of what is chosen, for what, and of which results: the same in the plan of each run."""
        plain = self.plain()
        return sha256(json.dumps([plain[key] for key in _CHOICE]).encode()).hexdigest()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if all(getattr(self, key) is None for key in TARGETS):
            wrong("budget_fit", "a budget, as there is no spfm_target", None)
        for key in _REACHED if self.result == OPTIMAL else ():
            if getattr(self, key) is None:
                wrong(key, f"a number, as the result is {OPTIMAL!r}", None)
        return self
