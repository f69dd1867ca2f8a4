# SPDX-License-Identifier: Apache-2.0
"""The parts of `protection.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from resil.record.campaign_facts import STATUSES
from resil.record.typed import Amount, Count, OneOf, Share, Typed


class PlanBasis(Typed):
    """Results that a plan rests on."""

    summary: str
    """SHA-256 of their `summary.json`."""
    injections: Count
    """How many they rest on."""


class ChoosingRun(PlanBasis):
    """A run, of one network, that chose."""

    run: str
    """Name of its network."""


class ChoosingModel(Typed):
    """A sensitivity model whose injections helped to choose."""

    model: str
    """Name of its file."""
    sha256: str
    """Of its content."""


class BlockChoice(Typed):
    """What is chosen in a block. Areas in the summary's unit, rates in FIT."""

    block: str
    """Its name."""
    option: str
    """Names of the options, joined by `+`; `none` without protection."""
    option_title: str
    """The same for people, with the bits that each covers."""
    area: Amount
    """Of the block."""
    area_added: float
    """By the options' figures."""
    fit_before: Amount
    """Hazardous failures in 10^9 hours, without protection."""
    fit_after: Amount
    """With it."""
    fit_after_by_kind: Mapping[str, Amount]
    """The same by kind of storage."""
    due_after_by_kind: Mapping[str, Amount] | None
    """Detected failures that are expected with it, by kind of storage; null if they are not known."""
    due_added: Amount
    """Those of the storage that it adds."""
    fit_hi_before: Amount
    """Upper limit without protection."""
    fit_hi_after: Amount
    """Upper limit with it."""
    base_factor: Share
    """Part of the hazardous rate that is left by hardened cells alone, which upset less."""
    coverage: Share
    """Part of what is left that is detected or corrected."""
    fit_raw_after: Amount
    """Upset rate that is left."""
    source: str
    """Where the figures are from."""
    status: Annotated[str, OneOf(STATUSES)]
    """How sure they are."""


class ProtectedGroup(Typed):
    """A unit that is protected."""

    unit: str
    """Its name."""
    parts: tuple[str, ...]
    """Registers, or parts of registers, in it."""
    block: str
    """That it is in; empty of the whole design."""
    bits: Count
    """Of all kinds."""
    option: str
    """By which option."""
    option_title: str
    """The same for people."""
    area_added: float
    """By the option's figures."""


class NpuMechanism(Typed):
    """A mechanism of the whole design."""

    option: str
    """Its name."""
    option_title: str
    """The same for people."""
    area_added: Amount
    """By the option's figures."""
    source: str
    """Where they are from."""
    limit: Count | None
    """Cycles for which a watchdog waits; null of others."""
    watched: tuple[str, ...] | None
    """Networks on which a watchdog counts; null of others."""


STORAGE_ALONE = (
    "Storage alone: pulses in logic are in these figures only where [safety] logic names a run of them."
)

NOT_PERMANENT = "Not chosen against permanent faults: no limit of them was asked."


class LogicLeft(Typed):
    """What a set leaves of pulses in logic. Rates in FIT."""

    copied: tuple[str, ...]
    """Blocks that are copied as a whole and compared: their logic is credited, that of no other is."""
    fit_before: Amount
    """Hazardous pulses without protection, at the centre of their raw rates."""
    fit_hi_before: Amount
    """Upper limit of that, at the highest raw rates."""
    raw: Amount
    """All pulses, at the centre: what SPFM divides by beside the upsets of storage."""
    fit: Amount
    """Hazardous pulses that are left, at the centre."""
    fit_hi: Amount
    """Upper limit of that, at the highest raw rates."""
    due: Amount
    """Detected failures of logic, at the centre; each pulse that a copy may report is one."""
    due_hi: Amount
    """Upper limit of that, at the highest raw rates."""
    lowest: Amount
    """Factor of the raw rate at the lower end of its range."""
    highest: Amount
    """The same at the upper end."""
    with_storage: Amount
    """Hazardous failures that are left, of storage and of logic, at the centre of the raw rates."""
    with_storage_hi: Amount
    """The sum of both upper limits, that of storage at its worst corner."""

    def fit_hi_at(self, factor: float) -> float:
        """Return the upper limit of hazardous pulses at another raw rate."""
        return self.fit_hi * factor / self.highest

    def storage_within(self, spfm: float, fit_raw: float) -> float:
        """Return the most hazardous FIT of storage with which both keep an SPFM, wherever the raw rate lies.

        Args:
            spfm: The least that is asked, 0 to 1.
            fit_raw: Upset rate of storage.
        """
        ends = (self.lowest, 1.0, self.highest)
        return min((1.0 - spfm) * (fit_raw + self.raw * f) - self.fit_hi_at(f) for f in ends)

    @property
    def text(self) -> str:
        """The same in a sentence."""
        credit = f"copies of {', '.join(self.copied)} are credited for their logic" if self.copied else ""
        credit = credit or "nothing that was chosen covers logic"
        return (
            f"Logic: {self.fit:.3g} FIT of {self.fit_before:.3g} of pulses, at most {self.fit_hi:.3g} at "
            f"their highest raw rates ({credit}); with storage {self.with_storage:.3g} FIT, at most "
            f"{self.with_storage_hi:.3g}. SPFM and detected failures are of both."
        )


class PermanentLeft(Typed):
    """What a set leaves of permanent faults, by held pins and stuck bits that did not choose. In FIT."""

    injections: Count
    """Stuck bits that judge."""
    population: str
    """What the figures are about, in words."""
    fit_before: Amount
    """Hazardous faults without protection, of storage and of what is known of logic, as all that follows."""
    fit: Amount
    """Those that are left."""
    fit_hi: Amount
    """Upper limit of that."""
    logic_fit: Amount | None
    """The part of `fit` that lies in logic; null if no run of stuck pins was named."""
    logic_fit_hi: Amount | None
    """Upper limit of that."""
    copied: tuple[str, ...]
    """Blocks that are copied as a whole and compared: their logic is credited, that of no other is."""
    spfm: Share | None
    """Single-point fault metric of permanent faults; null without faults."""
    spfm_lo: Share | None
    """Lower limit of that."""
    corner: str
    """Corner of the ranges of base rates with the highest limit; empty without ranges."""
    corner_fit_hi: Amount
    """Upper limit of hazardous faults there."""
    corner_spfm_lo: Share | None
    """The least lower limit of the metric over all corners."""

    @property
    def text(self) -> str:
        """The same in a sentence."""
        logic = "storage alone: no run of stuck pins was named"
        if self.logic_fit is not None and self.logic_fit_hi is not None:
            logic = f"{self.logic_fit:.3g} of them in logic, at most {self.logic_fit_hi:.3g}; "
            logic += f"copies of {', '.join(self.copied)} are credited" if self.copied else "none is credited"
        spfm = "" if self.spfm_lo is None else f", SPFM at least {self.spfm_lo:.3%}"
        at = ""
        if self.corner:
            least = "" if self.corner_spfm_lo is None else f", SPFM at least {self.corner_spfm_lo:.3%}"
            at = f"; at the {self.corner} at most {self.corner_fit_hi:.3g} FIT{least}"
        return (
            f"permanent faults: {self.fit:.3g} FIT, at most {self.fit_hi:.3g} of {self.fit_before:.3g} "
            f"({logic}){spfm}{at} (judged by {self.injections:,} stuck bits)"
        )


class JudgedNetwork(Typed):
    """What is left on a network, by injections that did not choose. Rates in FIT."""

    network: str
    """Its name."""
    population: str
    """What the figures are about, in words: these inputs, or inputs like them."""
    injections: Count
    """That judge."""
    inputs: Count
    """Whose injections judge; where they stand for others, these took no part in the choice."""
    fit_before: Amount
    """Without protection; of storage, as all FIT here but those of `logic` and detected failures."""
    fit: Amount
    """Hazardous failures that are left."""
    fit_hi: Amount
    """Upper limit of that."""
    logic_fit: Amount | None
    """Hazardous pulses in logic that are left; null if nothing is known of them: all is of storage alone."""
    logic_fit_hi: Amount | None
    """Upper limit of that at the corner that decides."""
    spfm: Share | None
    """Single-point fault metric of storage and of what is known of logic; null without faults."""
    spfm_lo: Share | None
    """Lower limit of that."""
    due: Amount | None
    """Detected failures, those in logic included; null if they are not known."""
    due_hi: Amount | None
    """Upper limit of that."""
    unaided_hi: Amount | None
    """Upper limit of hazardous failures of storage where nobody reacts to alarms; null if it is not known."""
    corner: str
    """Corner of the ranges of raw rates with the highest limit, which decides; empty without ranges."""
    corner_fit_hi: Amount
    """Upper limit of hazardous failures there, those in logic included."""
    corner_unaided_hi: Amount | None
    """The same where nobody reacts to alarms."""
    corner_spfm_lo: Share | None
    """The least lower limit of the single-point fault metric over all corners."""
    permanent: PermanentLeft | None
    """The same of permanent faults; null where no limit of them was asked: then nothing was chosen for it."""
    missed: tuple[str, ...]
    """Targets that are not shown to be kept at every corner, in words."""


class BlockLeft(Typed):
    """What a set leaves in a block, in FIT, by the injections that judge."""

    fit_before: Amount
    """Hazardous failures without protection."""
    fit_after: Amount
    """With the set."""
    fit_hi_before: Amount
    """Upper limit without it."""
    fit_hi_after: Amount
    """Upper limit with it."""


class FrontPoint(Typed):
    """A set that was judged; where limits of blocks judge, one that no other beats in both area and FIT."""

    area_added: float
    """In the summary's unit."""
    area_overhead: float
    """As a part of the unprotected area."""
    reserve: Share
    """Part of what the targets allow that it uses by the injections that chose."""
    gap: Amount
    """How far its area is above what the solver has proven."""
    fit_hi: Amount
    """Upper limit of FIT on its worst network, of storage at the centre of the raw rates."""
    worst_hi: Amount
    """The most that it may be at a corner of the raw rates on a network, that of logic included."""
    fit: Amount
    """FIT there, by the injections that judge."""
    claimed: Amount
    """The most FIT on a network, by the injections that chose."""
    choices: Mapping[str, str]
    """What is chosen in each block."""
    blocks: Mapping[str, BlockLeft]
    """What is left in each block, on that network."""
