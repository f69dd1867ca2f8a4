# SPDX-License-Identifier: Apache-2.0
"""The results of a run, typed: what `summary.json` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resil.record.detection import ToldCounts
from resil.record.node import Interval
from resil.record.outcomes import HAZARDOUS, OUTCOMES
from resil.record.safety import Assumption, Safety
from resil.record.sanity import Sanity


@dataclass(frozen=True, slots=True)
class Campaign:
    """What was asked for, and how it was carried out."""

    name: str
    seed: int
    confidence: float
    kinds: tuple[str, ...]
    injections: int
    hazardous: tuple[str, ...]
    inputs: tuple[str, ...]
    engine: str
    workers: int
    seconds: float
    fault_model: str = "upset"

    @property
    def faults(self) -> str:
        """What sort of faults the figures are about: transient or permanent ones."""
        return "permanent" if self.fault_model == "stuck_at" else "transient"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the network; cycles are None where they are not known."""

    index: int
    name: str
    kind: str
    cycles: int | None
    vela_cycles: int | None


@dataclass(frozen=True, slots=True)
class Network:
    """The network that ran, and the rule that read its decision; "" in files that do not tell."""

    name: str
    path: str
    sha256: str
    operations: tuple[Operation, ...]
    macs: int
    decision: str


@dataclass(frozen=True, slots=True)
class Target:
    """The hardware that ran it; area in `area_unit`, `titles` the blocks in words, `parameters` the top's."""

    name: str
    top: str
    ff_bits: int
    macro_bits: int
    sram_bits: int
    unmapped_sites: int
    area: float
    area_unit: str
    titles: Mapping[str, str]
    ff_bits_source: int
    macro_bits_source: int
    sram_bits_source: int
    parameters: Mapping[str, str]

    @property
    def settings(self) -> str:
        """The parameters as one line, "Macs = 32, RegionCheck = 1"; "" if there are none."""
        return ", ".join(f"{name} = {value}" for name, value in self.parameters.items())


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a technology with where it comes from."""

    quantity: str
    value: str
    unit: str
    status: str
    source: str


@dataclass(frozen=True, slots=True)
class Technology:
    """The technology that raw rates were taken from."""

    name: str
    node: str
    entries: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An outcome that occurred and does not count as hazardous."""

    outcome: str
    injections: int
    fit: Interval


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to the budget; `budget_fit` is None if none was asked for. `scope`: of which storage.

    `predicted` is what a model foresees where nothing was injected, else ""; `left_out` are the outcomes that
    were found and do not count.
    """

    result: str
    budget_fit: float | None
    rationale: str
    fit: Interval
    reason: str
    scope: str
    predicted: str = ""
    left_out: tuple[LeftOut, ...] = ()

    @property
    def spared(self) -> str:
        """Which silent failures were found and do not count as hazardous: "critical SDC"; "" if none."""
        found = [text.phrase for text in OUTCOMES if text.key in HAZARDOUS and self._leaves(text.key)]
        return " and ".join(found)

    def _leaves(self, outcome: str) -> bool:
        return any(own.outcome == outcome for own in self.left_out)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the target, or their total.

    Attributes:
        name: The block, or `total`.
        ff_bits: Flip-flops that synthesis leaves, those inside SRAM macros apart.
        macro_bits: Flip-flops inside SRAM macros.
        sram_bits: Memory bits that it leaves.
        area: In `area_unit`.
        area_unit: `GE` or `um2`.
        injections: Faults simulated in this block.
        counts: Injections of each outcome, in report order.
        avf: P(SDC, DUE or hang | a bit flips at a uniformly random time).
        latent: P(latent state | likewise), which is not part of the AVF.
        fit_raw: Upsets per 1e9 h of all bits.
        fit: Hazardous failures per 1e9 h.
        rates: Probability of each outcome, in report order.
        sampled: Whether the campaign says anything about this block; if not, its figures mean nothing.
        weights_bits: Bits of weights in memory outside the NPU.
        activations_bits: Likewise of activations.
    """

    name: str
    ff_bits: int
    macro_bits: int
    sram_bits: int
    area: float
    area_unit: str
    injections: int
    counts: Mapping[str, int]
    avf: Interval
    latent: Interval
    fit_raw: float
    fit: Interval
    rates: Mapping[str, Interval]
    sampled: bool = True
    weights_bits: int = 0
    activations_bits: int = 0


@dataclass(frozen=True, slots=True)
class StorageTotals:
    """A kind of storage in all blocks together.

    Attributes:
        kind: `ff`, `macro` (flip-flops inside SRAM macros), `sram`, or `weights` and `activations` outside.
        bits: How many were injected into.
        injections: Faults simulated in it.
        counts: Injections of each outcome, in report order.
        avf: P(SDC, DUE or hang | a bit of it flips at a uniformly random time).
        fit_raw: Upsets per 1e9 h of all bits.
        fit: Hazardous failures per 1e9 h.
    """

    kind: str
    bits: int
    injections: int
    counts: Mapping[str, int]
    avf: Interval
    fit_raw: float
    fit: Interval


@dataclass(frozen=True, slots=True)
class Metrics:
    """Safety metrics; None means not applicable. `pmhf_share` in FIT."""

    spfm: Interval | None
    pmhf_share: Interval | None
    lfm: Interval | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """What made the results."""

    resil: str
    python: str
    platform: str
    seed: int
    command: tuple[str, ...]
    versions: Mapping[str, str]
    hashes: Mapping[str, str]
    started: str
    finished: str


@dataclass(frozen=True, slots=True)
class Summary:
    """All of `summary.json`; `predicted` if nothing was injected and a model foresees the figures."""

    campaign: Campaign
    network: Network
    target: Target
    golden_cycles: tuple[int, ...]
    golden_vela_cycles: int | None
    output_hashes: tuple[str, ...]
    technology: Technology
    verdict: Verdict
    blocks: tuple[Block, ...]
    total: Block
    metrics: Metrics
    notes: tuple[str, ...]
    provenance: Provenance
    safety: Safety | None = None
    assumptions: tuple[Assumption, ...] = ()
    predicted: bool = False
    told: ToldCounts | None = None
    storage: tuple[StorageTotals, ...] = ()
    sanity: Sanity | None = None
