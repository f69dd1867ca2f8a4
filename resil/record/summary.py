# SPDX-License-Identifier: Apache-2.0
"""The results of a run or an estimate: `summary.json`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.blocks import (
    Block,
    Counted,
    Outcome,
    PartLimit,
    RecordedStratum,
    RegisterClass,
    StorageTotals,
    Total,
)
from resil.record.campaign_facts import (
    CampaignRecord,
    EstimateRecord,
    Golden,
    NetworkRecord,
    TargetRecord,
    TechnologyRecord,
)
from resil.record.detection import Detection
from resil.record.evidence import EvidenceRecord, Inferences, SamplingRecord
from resil.record.interval import Ordered, RecordedInterval, ShareInterval, require_order
from resil.record.logic_share import LogicShare
from resil.record.outcomes import HAZARDOUS, OUTCOME_KEYS, OUTCOMES
from resil.record.provenance import Provenance
from resil.record.safety import Assumption, Safety
from resil.record.sanity import Sanity
from resil.record.typed import Amount, Count, Document, OneOf, Typed, wrong

# Of a sum of rates that are stored one by one.
_ROUNDING = 1e-9
RESULTS = ("met", "missed", "inconclusive", "not assessed", "none")
_BITS = ("ff_bits", "macro_bits", "sram_bits")


class NotHazardous(Typed):
    """An outcome that occurred and does not count as hazardous."""

    outcome: Outcome
    """Which."""
    injections: Count
    """How often."""
    fit: Amount
    """Its rate in 10^9 hours."""
    fit_lo: Amount
    """Lower limit of that."""
    fit_hi: Amount
    """Upper limit of that."""


class Unaided(Typed):
    """The answer to the FIT budget if nobody reacts to what the design detects."""

    result: Annotated[str, OneOf(RESULTS)]
    """At the worst corner of the raw rates."""
    fit: Amount
    """At their centre; a detected fault counts as what was seen of it."""
    fit_lo: Amount
    """Lower limit of that."""
    fit_hi: Amount
    """Upper limit of that."""
    corner: str
    """The corner that decides."""
    corner_fit: RecordedInterval
    """Estimate and limits there."""


class Verdict(Typed):
    """The answer to the FIT budget, of the unprotected design, with the error flag and a host that reacts."""

    result: Annotated[str, OneOf(RESULTS)]
    """`none` if no budget was asked for; `not assessed` if nothing was measured."""
    budget_fit: Amount | None
    """Failures in 10^9 hours that are allowed; null without a budget."""
    rationale: str
    """Why that many."""
    fit: Amount | None
    """Hazardous failures in 10^9 hours."""
    fit_lo: Amount
    """Its lower limit."""
    fit_hi: Amount
    """Its upper limit."""
    reason: str
    """Why the result is what it is."""
    left_out: tuple[NotHazardous, ...]
    """Visible outcomes that occurred and do not count as hazardous."""
    centre: Annotated[str, OneOf(RESULTS)] | None
    """Result at the centre of the raw rates; `result` is that at their worst corner. Null if predicted."""
    corner: str | None
    """The corner that decides."""
    corner_fit: RecordedInterval | None
    """Estimate and limits there."""
    unaided: Unaided | None
    """The answer if nobody reacts to what the design detects."""
    scope: str
    """Which storage the verdict is about."""
    population: str
    """What the verdict is about: networks, inputs, cycles; storage is the `scope`."""
    predicted: Annotated[str, OneOf(("to meet", "to miss", "undecided"))] | None
    """What a model foresees where nothing was injected, which decides nothing; else null."""

    @property
    def spared(self) -> str:
        """Which silent failures were found and do not count as hazardous: "critical SDC"; "" if none."""
        left = {own.outcome for own in self.left_out}
        return " and ".join(text.phrase for text in OUTCOMES if text.key in left and text.key in HAZARDOUS)

    @property
    def fit_interval(self) -> RecordedInterval:
        """FIT with its limits."""
        return RecordedInterval(self.fit, self.fit_lo, self.fit_hi)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.result != "none" and self.budget_fit is None:
            wrong("budget_fit", f"a budget, as the result is {self.result!r}", None)
        require_order(self.fit_interval, "fit with fit_lo and fit_hi")
        return self


class Metrics(Typed):
    """Safety metrics of the injected faults; null is not applicable."""

    spfm: ShareInterval | None
    """Single-point fault metric, with the error flag and a host that reacts."""
    spfm_unaided: ShareInterval | None
    """The same if nobody reacts to what is detected; null if that is not known."""
    pmhf_share: Ordered | None
    """Hazardous failures in 10^9 hours, as a part of the item's PMHF."""
    lfm: ShareInterval | None
    """Latent-fault metric."""
    notes: tuple[str, ...]
    """Why one is not applicable."""


class Summary(Document):
    """The results of a run, or of an estimate, in which nothing was injected and a model foresees them."""

    FILE: ClassVar[str] = "summary.json"
    SCHEMA: ClassVar[Literal[11]] = 11
    REMEDY: ClassVar[str] = (
        "the file is damaged or of another version: write it anew with 'resil run CAMPAIGN.toml --resume'"
    )

    schema_number: Literal[11] = Field(alias="schema")
    """Of this file: another one is of another version, and is refused."""
    estimate: EstimateRecord | None
    """What an estimate rests on; null of a run."""
    campaign: CampaignRecord
    """What was asked for, and how it was carried out."""
    sampling: SamplingRecord | None
    """How injections were chosen; null of an estimate."""
    network: NetworkRecord
    """What ran."""
    target: TargetRecord
    """The hardware that ran it."""
    golden: Golden
    """The run without a fault."""
    inferences: Inferences | None
    """What became of latent state in a second inference; null if there was none."""
    technology: TechnologyRecord
    """Where raw rates come from."""
    sanity: Sanity | None
    """Whether what the run watched could have shown a failure; null of an estimate."""
    verdict: Verdict
    """The answer to the FIT budget."""
    blocks: tuple[Block, ...] = Field(min_length=1)
    """Each block of the target."""
    strata: tuple[RecordedStratum, ...]
    """Injections as they were sampled; none of an estimate."""
    limits: tuple[PartLimit, ...]
    """Limits of each block and kind of storage that hold together."""
    storage: tuple[StorageTotals, ...]
    """Each kind of storage in all blocks; none of an estimate."""
    classes: tuple[RegisterClass, ...]
    """Each register class, where the sampling plan divides faults by it."""
    total: Total
    """All blocks together."""
    detection: Detection | None
    """What alarms reported; null of an estimate."""
    metrics: Metrics
    """Safety metrics of the injected faults."""
    evidence: EvidenceRecord | None
    """Injections as the safety verdict counts them; null of an estimate."""
    safety: Safety | None
    """The answer to the safety claims; null without a `[safety]` table."""
    logic: tuple[LogicShare, ...]
    """How much of the hazardous rate lies in logic, where `[safety]` names runs that say so; else none."""
    assumptions: tuple[Assumption, ...]
    """What must hold in use."""
    notes: tuple[str, ...]
    """What a reader of the figures has to know."""
    provenance: Provenance
    """What made the results, as in `provenance.json`."""

    @property
    def predicted(self) -> bool:
        """Whether nothing was injected and a model foresees the figures."""
        return self.estimate is not None

    @property
    def nothing_measured(self) -> str:
        """Why the run measured nothing; "" if it did, or nothing was injected."""
        return "" if self.sanity is None else self.sanity.reason

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [block.name for block in self.blocks]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            wrong("blocks", "each block once", doubled)
        self._check_total()
        self._check_storage()
        if self.detection is not None:
            self.detection.check({block.name: block.due for block in (*self.blocks, self.total)})
        elif not self.predicted:
            wrong("detection", "what alarms reported, as this is a run", None)
        return self

    def _check_total(self) -> None:
        for key in (*_BITS, "injections", *OUTCOME_KEYS):
            expected = sum(getattr(block, key) for block in self.blocks)
            if (found := getattr(self.total, key)) != expected:
                wrong(f"total.{key}", f"{expected}, the sum over the blocks", found)

    def _check_storage(self) -> None:
        """Refuse kinds of storage that do not add up to the total; an estimate has none."""
        if self.predicted and not self.storage:
            return
        kinds = [row.kind for row in self.storage]
        if doubled := sorted({kind for kind in kinds if kinds.count(kind) > 1}):
            wrong("storage", "each kind once", doubled)
        for index, row in enumerate(self.storage):
            if row.bits != self.total.bits(row.kind):
                wrong(f"storage[{index}].bits", f"{self.total.bits(row.kind)}, those of the total", row.bits)
        for key in ("injections", *OUTCOME_KEYS):
            expected = getattr(self.total, key)
            if (found := _sum(self.storage, key)) != expected:
                wrong("storage", f"rows whose {key} add up to {expected}, those of the total", found)
        raw = sum(row.fit_raw for row in self.storage)
        if abs(raw - self.total.fit_raw) > _ROUNDING * self.total.fit_raw:
            wrong("storage", f"rows whose fit_raw add up to {self.total.fit_raw}, that of the total", raw)


def _sum(rows: Iterable[Counted], key: str) -> int:
    return sum(getattr(row, key) for row in rows)
