# SPDX-License-Identifier: Apache-2.0
"""Parts of `summary.json` that say what was asked for, what ran, and on which hardware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from resil.record import numbers
from resil.record.blocks import Kind, Outcome, StoredBits
from resil.record.golden import GoldenComparison
from resil.record.interval import Ordered
from resil.record.model_source import ModelSource
from resil.record.typed import Amount, Count, OneOf, Share, Typed

PERMANENT_MODELS = ("stuck_at", "open", "bridge")
FAULT_MODELS = ("upset", *PERMANENT_MODELS, "memory_upset", "set")
STATUSES = ("measured", "modelled", "assumed")


class CampaignRecord(Typed):
    """What was asked for, and how it was carried out."""

    name: str
    """Of the campaign."""
    seed: int
    """The seed that all random choices come from."""
    confidence: Annotated[float, Field(ge=0.5, le=1.0)]
    """Of every interval by itself."""
    kinds: tuple[Kind, ...]
    """Kinds of storage that were injected into."""
    fault_model: Annotated[str, OneOf(FAULT_MODELS)]
    """What a fault does."""
    timeout: str
    """What has a time-out: `inference`, or each `operation` too."""
    until: str
    """`end`, or `detection`: an injection ends with its first alarm."""
    detection_cycles: Count | None
    """Cycles from fault to alarm that count as detection in time; null without such a limit."""
    clusters: tuple[Share, ...]
    """Part of the upsets that flip 1, 2, ... adjacent bits."""
    injections: Count
    """Injections that count; 0 of an estimate."""
    hazardous: tuple[Outcome, ...]
    """Outcomes that count as failures."""
    inputs: tuple[int, ...]
    """Labels of the inputs that were run."""
    engine: str
    """What simulated."""
    workers: Count
    """Simulator processes."""
    seconds: Amount
    """Time that all sessions took, in seconds."""

    @property
    def faults(self) -> str:
        """What sort of faults the figures are about: transient or permanent ones."""
        return "permanent" if self.fault_model in PERMANENT_MODELS else "transient"


class RecordedOperation(Typed):
    """One operation of the network."""

    index: Count
    """Its number, from 0."""
    name: str
    """For people."""
    kind: str
    """Of the operation; empty if unknown."""
    cycles: Count | None
    """On the RTL, from the end of the one before to its own; null if not known."""
    vela_cycles: Count | None
    """The compiler's estimate; null if it makes none."""
    work: Mapping[str, str | int | float | tuple[int, ...]] | None
    """What it computes and moves, as sensitivity models need it; null if it is no operation of the NPU."""


class NetworkRecord(Typed):
    """What ran: a network, or a workload of the user's own."""

    name: str
    """For people."""
    path: str
    """As the campaign names it."""
    sha256: str
    """Of the file; of a workload that of its images and of where its output lies."""
    operations: tuple[RecordedOperation, ...]
    """In the order in which they run."""
    macs: Count
    """Multiply-accumulates of one inference; 0 if not known."""
    decision: str
    """The rule that reads the decision from the output."""
    remarks: tuple[str, ...]
    """What was done to the network so that the target can run it."""


class LogicFaultCounts(Typed):
    """Faults that may be drawn in logic, before and after those are joined that are one by the structure."""

    faults: Count
    """Each site with each value that it may be held, or open, at; of pulses the sites, in one cycle."""
    classes: Count
    """Classes of structurally equivalent ones: what comes of one member comes of all, and each counts."""


class TargetRecord(StoredBits):
    """The hardware."""

    name: str
    """Of the target."""
    top: str
    """Its top module."""
    unmapped_sites: Count
    """Storage bits that did not become fault sites; they are in no figure."""
    area: Amount
    """Of all, in `area_unit`; 0 if it was not measured."""
    area_unit: str
    """`GE` (gate equivalents) or `um2`."""
    area_library: str | None
    """SHA-256 of the Liberty file that areas are from; null without one, and of an estimate."""
    titles: Mapping[str, str]
    """Blocks in words."""
    parameters: Mapping[str, int | str]
    """Parameters of the top module; a literal of SystemVerilog is a string, `"8'hff"`."""
    logic_faults: LogicFaultCounts | None
    """Faults in logic, of the campaign's model; null if it strikes none there, or bridges."""

    @property
    def settings(self) -> str:
        """The parameters as one line, "Macs = 32, RegionCheck = 1"; "" if there are none."""
        return ", ".join(f"{name} = {value}" for name, value in self.parameters.items())


class Golden(Typed):
    """The run without a fault; of an estimate as it is foreseen."""

    cycles: tuple[Count, ...]
    """Of an inference, for each input."""
    vela_cycles: Count | None
    """The compiler's estimate; null if it makes none."""
    output_hash: tuple[str, ...]
    """Of the output, for each input."""
    longest_operation: tuple[Count, ...]
    """Most cycles without the end of an operation, for each input; empty where none is counted."""
    comparison: GoldenComparison
    """Whether the output is what the network's file says, by an independent reference."""


class Figure(Typed):
    """One figure of a technology, with where it comes from."""

    quantity: str
    """What it is the figure of."""
    value: float
    """In `unit`."""
    low: float | None
    """Lower end of what it may be; null where no range is known."""
    high: float | None
    """Its upper end."""
    unit: str
    """Such as `FIT/Mbit`."""
    status: Annotated[str, OneOf(STATUSES)]
    """How well it is known."""
    source: str
    """Citation."""

    @property
    def title(self) -> str:
        """The quantity in words."""
        return self.quantity.replace("_", " ")

    @property
    def shown(self) -> str:
        """The value for people."""
        return numbers.given(self.value)


class TechnologyRecord(Typed):
    """The process that raw rates are of."""

    name: str
    """As campaigns name it."""
    node: str
    """For people."""
    entries: tuple[Figure, ...]
    """Its figures."""


class CorrectionRecord(Typed):
    """Injections into the network of an estimate that have corrected its FIT."""

    run: str
    """Folder of the run."""
    campaign: str
    """Identity of that run."""
    injections: Count
    """How many."""
    fit: Ordered
    """The total's FIT, corrected."""
    fit_without_predictions: Ordered
    """The same from the injections alone."""
    tuning: float
    """How much of the predictions entered, 0 to 1."""
    gain: float
    """How many times the injections count, with the predictions."""


class EstimateRecord(Typed):
    """What an estimate rests on."""

    model: ModelSource
    """What the sensitivity model was made from."""
    known_network: bool
    """Whether the model has seen injections into this network."""
    held: Mapping[str, tuple[Count, Count]]
    """How many intervals held injections into networks that the model had not seen, and of how many."""
    rests_on: Mapping[str, str]
    """What each kind of figure is made from."""
    correction: CorrectionRecord | None
    """Injections that have corrected the FIT; null without."""
