# SPDX-License-Identifier: Apache-2.0
"""What new injections into built protection said: `confirmation.json`, which alone says *confirmed*."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record import numbers
from resil.record.golden import GoldenComparison
from resil.record.protection_build import AreaMeasured, AreaPredicted, BitExact
from resil.record.typed import Amount, Count, Document, Share, Typed, wrong


class Predicted(Typed):
    """What the plan predicts. Rates in FIT."""

    fit: Amount
    """For networks that took no part in the choice."""
    fit_lo: Amount
    """The least that is predicted for any network; no limit of an interval."""
    fit_hi: Amount
    """Upper limit on the networks that chose."""
    spfm: Share | None
    """Single-point fault metric there."""
    spfm_lo: Share | None
    """Lower limit of that."""
    injections: Count
    """That the plan rests on."""


class MeasuredRates(Typed):
    """Rates by new injections, in FIT, with limits that hold for all networks together."""

    fit: Amount
    """Hazardous failures."""
    fit_lo: Amount
    """Their lower limit."""
    fit_hi: Amount
    """Their upper limit."""
    spfm: Share
    """Single-point fault metric."""
    spfm_lo: Share
    """Its lower limit."""
    injections: Count
    """Upsets, those of redundant storage included."""
    network: str
    """Name of the network."""


class ConfirmingNetwork(MeasuredRates):
    """What was found on a hold-out network."""

    population: str
    """What it is about, in words: these inputs alone, or inputs like them."""
    inputs: Count
    """Inputs that the limits take as the sampled units; 1 if they are about these inputs alone."""
    copies: Count
    """Upsets of redundant storage."""
    hazardous: Count
    """Upsets with a hazardous outcome."""
    fit_raw: Amount
    """Upset rate."""
    logic_fit: Amount | None
    """Hazardous pulses in logic, in none of the rates above but SPFM, and in all below; null if none were
    injected, and all is of storage alone."""
    logic_fit_hi: Amount | None
    """Their upper limit at the corner that decides."""
    permanent_fit_hi: Amount | None
    """Upper limit of hazardous permanent faults of what was built, at the worst corner of the base rates;
    null if nothing is known of them."""
    permanent_spfm_lo: Share | None
    """The least lower limit of their single-point fault metric over these corners; likewise."""
    due_fit_hi: Amount
    """Upper limit of detected failures."""
    confidence: Share
    """Of the limits."""
    unaided_hi: Amount
    """Upper limit of hazardous failures where nobody reacts to alarms: every detected failure counts."""
    corner: str
    """Corner of the ranges of raw rates with the highest limit, which decides; empty without ranges."""
    corner_fit_hi: Amount
    """Upper limit of hazardous failures there."""
    corner_due_fit_hi: Amount
    """Upper limit of detected failures there."""
    corner_unaided_hi: Amount
    """Upper limit of hazardous failures there where nobody reacts to alarms."""
    corner_spfm_lo: Share
    """The least lower limit of the single-point fault metric over all corners."""
    fit_share_hi: Amount | None
    """Upper limit of what is left of its hazardous FIT, at the worst corner: that with protection over the
    lower limit without; null where that is 0."""
    missed_unprotected: tuple[str, ...]
    """Limits of the plan that it is shown to miss without protection, by which it can refuse a set: `fit`,
    `spfm`, `fit_share`, `due`."""
    golden: GoldenComparison
    """Whether its output without a fault is the network's by an independent reference."""
    safety: str | None
    """Result of the run's safety verdict by the new data alone; null if it has none."""
    hangs: Count | None
    """With a watchdog: injections of which a hang was seen; else null."""
    hangs_reported: Count | None
    """Those of them that an alarm reported in time."""


class MechanismUpsets(Typed):
    """Upsets of copies and of bits of codes of one mechanism, on one network."""

    network: str
    """Its name."""
    mechanism: str
    """`parity`, `duplication`, `triplication`, `memory_parity`, `secded`, `lockstep`."""
    injections: Count
    """Those that it is credited with: it reports or corrects so many wrong bits."""
    hazardous: Count
    """Those of them with a hazardous outcome."""
    unreported: Count
    """Those of them that no alarm reported, though there was something to report, and time."""
    wrong: Count
    """Those of them that were said to be corrected, and showed."""
    counted: Share
    """Part of them that the plan counts as failures at most: what the option's coverage leaves."""
    beyond: Count
    """Larger clusters, which defeat the code: the plan counts all of them as if nothing were there."""
    beyond_hazardous: Count
    """Those of these with a hazardous outcome."""


class RedundantStorage(Typed):
    """Upsets of copies and of bits of codes."""

    injections: Count
    """All of them."""
    hazardous: Count
    """Those with a hazardous outcome."""
    mechanisms: tuple[MechanismUpsets, ...]
    """Each mechanism on each network."""
    harmless_lo: Share
    """Exact lower limit of the part that is harmless."""
    confidence: Share
    """Of that limit."""


class NewData(Typed):
    """What new injections say of a plan, by themselves."""

    confirmed: bool
    """Whether all held."""
    reasons: tuple[str, ...]
    """What did not, a sentence each."""
    predicted: Predicted
    """What the plan predicts."""
    measured: MeasuredRates
    """On the network with the highest upper limit; `injections` on all networks."""
    networks: tuple[ConfirmingNetwork, ...]
    """Each hold-out network."""
    passed: tuple[str, ...]
    """Networks on which everything held."""
    copies: RedundantStorage
    """Redundant storage, on all networks."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.confirmed == bool(self.reasons):
            wrong("confirmed", "true without reasons against it, false with some", self.confirmed)
        return self


class AlikeNetworks(Typed):
    """A hold-out network that runs almost what another one does, by the cycles of its operations."""

    network: str
    """Its name."""
    other: str
    """Name of the other one."""
    distance: Share
    """Part of the cycles that goes to operations of another sort."""
    chose: bool
    """Whether the other one took part in the choice; else it judges too, and both count as one."""


class NetworkPopulation(Typed):
    """What hold-out networks say of the next network, if it is drawn as they were."""

    networks: Count
    """Hold-out networks that count: those that are alike count as one."""
    passed: Count
    """Those of them on which everything held."""
    share_lo: Share
    """Exact lower limit of the part of such networks on which it holds."""
    confidence: Share
    """Of that limit."""
    needed: Count
    """Networks that have to pass, without one that fails, for a limit of 95 %."""
    alike: tuple[AlikeNetworks, ...]
    """Pairs that are alike."""
    unknown: tuple[str, ...]
    """Those of which it is not known what their operations compute: they are set apart by content alone."""

    @property
    def sentence(self) -> str:
        """What it is, for people."""
        return (
            f"Of networks drawn as the hold-out networks were at least {numbers.percent(self.share_lo)} pass "
            f"({self.passed} of {self.networks} did; {numbers.confidence(self.confidence)} confidence); "
            f"{self.needed} that all pass would show 95 %."
        )


class LookNumber(Typed):
    """Which look at this RTL it is."""

    number: Count
    """From 1."""
    confidence: Share
    """That it is judged at."""


class MechanismCoverage(Typed):
    """Stuck bits of the mechanisms themselves."""

    network: str
    """That they were injected on."""
    injections: Count
    """How many."""
    reported: Count
    """Those that an alarm reported."""
    coverage: Share
    """Their part."""
    coverage_lo: Share
    """Its exact lower limit."""
    confidence: Share
    """Of that limit."""


class WatchdogRecord(Typed):
    """The watchdog of the design."""

    limit: Count
    """Cycles for which it waits."""
    false_alarms: tuple[str, ...]
    """Networks of the zoo with longer operations, which it would not let through."""


class Confirmation(NewData, Document):
    """What new injections say of built protection, in the folder of the build.

    Its runs are in `confirmation/NETWORK/upsets` and `confirmation/NETWORK/stuck-at` there, those of the
    design without protection in `unprotected/NETWORK`.
    """

    FILE: ClassVar[str] = "confirmation.json"
    SCHEMA: ClassVar[Literal[6]] = 6
    REMEDY: ClassVar[str] = "move the folder of the build away, build it again and inject into that"

    schema_number: Literal[6] = Field(alias="schema")
    """Of this file: another one is of another version, and is refused."""
    plan: str
    """Name of the plan."""
    choice: str
    """Digest of what was built, as in `build.json`."""
    rtl_digest: str
    """Hash of the RTL that was injected into."""
    look: LookNumber
    """Which look at this RTL it is."""
    population: NetworkPopulation
    """What passing on these networks says of others."""
    seed: int
    """Of the new injections."""
    seed_of_choice: int
    """Of the run that the choice rests on."""
    golden_of_choice: tuple[str, ...]
    """A sentence for each run of the choice whose golden output is not its network's."""
    latent: MechanismCoverage | None
    """Stuck bits of the mechanisms; null if there are no such bits."""
    hardened_not_confirmed: tuple[str, ...]
    """Groups of hardened cells: their factor is taken with its range, RTL cannot show it."""
    watchdog: WatchdogRecord | None
    """Null without one."""
    bit_exact: BitExact
    """What ran without a fault as the source does."""
    area_predicted: AreaPredicted
    """Area that the plan says of it, by the options' figures."""
    area_measured: AreaMeasured
    """That of what was built, by synthesis."""
    commands: tuple[str, ...]
    """That make each of its runs again."""

    @property
    def caveat(self) -> str:
        """What stands beside *confirmed* in a few words; "" if there is nothing to be said."""
        said = ", chosen on a golden output that is not the network's" if self.golden_of_choice else ""
        if self.look.number > 1:
            left = 1.0 - self.look.confidence
            said += f", look {self.look.number} at this RTL, with {left:.2%} of the error left to it"
        return said
