# SPDX-License-Identifier: Apache-2.0
"""What a campaign injects into, whatever made it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resil.bench.identity import Identity
from resil.record.campaign_facts import LogicFaultCounts
from resil.record.golden import GoldenComparison
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.target import Parameters
from resil.rtl_harness.engine.contract import CampaignEngine
from resil.rtl_harness.faults import Corruption, Truths

Describe = Callable[[int, Corruption], str]
Compare = Callable[[Sequence[bytes]], GoldenComparison]
InReset = Callable[[], tuple[Truths, ...]]
GatePlaces = Callable[[], Iterable[str]]
LogicFaults = Callable[[], LogicFaultCounts | None]


def never_in_reset() -> tuple[Truths, ...]:
    """Return nothing: the bench drives the reset, which is over before the first cycle."""
    return ()


def no_gate_places() -> Iterable[str]:
    """Return nothing: of no gates it is known where they lie."""
    return ()


def no_logic_faults() -> LogicFaultCounts | None:
    """Return nothing: no fault strikes logic."""
    return None


def say_nothing(_position: int, _corruption: Corruption) -> str:
    """Describe no corruption."""
    return ""


def compare_nothing(_outputs: Sequence[bytes]) -> GoldenComparison:
    """Compare no output."""
    return GoldenComparison.none("what runs is no network that a reference could compute")


@dataclass(frozen=True)
class OperationFacts:
    """One operation of the network.

    Attributes:
        index: Its number, from 0.
        name: For people.
        kind: Of the operation; "" if unknown.
        vela_cycles: The compiler's own estimate, None if it makes none.
        work: Fields of `resil.rtl_harness.npu.work.OperationWork`; None if it is no operation of the NPU.
    """

    index: int
    name: str
    kind: str
    vela_cycles: int | None
    work: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class NetworkFacts:
    """What runs: a network, or a workload of the user's own; for reports.

    Attributes:
        name: For people.
        path: As the campaign names it; for a workload the campaign file.
        sha256: Of the .tflite file; for a workload of its images and of where its output lies.
        operations: In the order in which they run.
        macs: Multiply-accumulates of one inference; 0 if they are not known.
        vela_cycles: The compiler's own estimate of one inference; None if there is no such compiler.
        decision: Name of the rule that reads the decision from the output.
        remarks: What was done to the network of the file so that the target can run it, and what the decision
            leaves out, in words.
        stretches: Runs of the NPU that a run consists of, between which the host resets it.
        sequence: A run is several inferences of a network with state, one after another, and faults strike in
            each of them.
    """

    name: str
    path: str
    sha256: str
    operations: tuple[OperationFacts, ...]
    macs: int
    vela_cycles: int | None
    decision: str
    remarks: tuple[str, ...] = ()
    stretches: int = 1
    sequence: bool = False


@dataclass(frozen=True)
class OutputFacts:
    """The output that a campaign watches.

    Attributes:
        place: Where it lies, in words.
        before: Its bytes before the run, of each input.
        again: Makes the first input's run without a fault on memory in which other bytes lie there before,
            and returns the output; None if that run fails.
        placed_by: What has placed it, in words, if it was not the user.
    """

    place: str
    before: tuple[bytes, ...]
    again: Callable[[], bytes | None]
    placed_by: str = ""


@dataclass(frozen=True)
class Area:
    """Area of logic (flip-flops included) and of memories."""

    logic: float = 0.0
    sram: float = 0.0

    @property
    def total(self) -> float:
        """Both."""
        return self.logic + self.sram


@dataclass(frozen=True)
class AreaFacts:
    """Area of each block.

    Attributes:
        blocks: By name.
        unit: "GE" for gate equivalents, "um2" with a Liberty file.
        notes: What the figures rest on.
        library: SHA-256 of the Liberty file; None without one.
    """

    blocks: Mapping[str, Area]
    unit: str
    notes: tuple[str, ...] = ()
    library: str | None = None

    def of(self, block: str) -> Area:
        """Return the area of a block; zero if it has none."""
        return self.blocks.get(block, Area())

    @property
    def total(self) -> Area:
        """Sum of all blocks."""
        parts = self.blocks.values()
        return Area(sum(area.logic for area in parts), sum(area.sram for area in parts))


NO_AREA = AreaFacts({}, "GE", ("The area of the blocks was not measured.",))


@dataclass(frozen=True)
class Bench:
    """A network on a target, ready for faults.

    Attributes:
        network: For reports.
        target_name: For reports.
        top: Top module of the target.
        blocks: All blocks of the target's block map, those without storage too.
        sites: All fault sites.
        inputs: Label of each input.
        identity: Of the campaign.
        hashes: Digests of network or workload and of the target, for the provenance.
        engine: Makes the engine for the input at a position.
        area: Synthesises the target (slow the first time).
        unmapped: Storage that could not become fault sites, each with the reason.
        warnings: Remarks of the elaboration.
        expected: Raw output tensor that the run without a fault must give for each input; empty if the
            campaign expects none.
        describe: Says what a corruption of memory is to the input at a position, as one line of text; "" if
            there is nothing to be said.
        compare: Compares the raw output tensors without a fault, one an input, with an independent reference.
        titles: Blocks in words, for people; a block may have none.
        parameters: Of the target's top module, as the target file and the campaign set them.
        alarms: What each of the target's alarms reports, by name: "detected" or "corrected".
        output: Where the output lies, and what lay there before; None if that is not known.
        latches: Paths of storage that is made of latches, which cannot be held at a value.
        workloads: Digest of what runs on each input, input and all; empty if that is not known.
        rtl_registers: Of a netlist, which register of the RTL an element of `sites` is called after, by path,
            where it is. None of RTL.
        not_assessed: What the target file leaves out or describes by its ports alone, in sentences.
        conditions: What a verdict says of that, and of such codes, behind its scope.
        codes: What is assumed of codes of memories that are not in the RTL; "" if there are none.
        relative: How often faults come at the sites of each class in logic, beside the rate of the kind;
            empty if all come equally often.
        placement: How upsets of several bits fall into words by a placement, in words; "" without one.
        cycles: Of the run of each input, where a recording says so; empty if only a simulation shows them.
        in_reset: Returns for each input in which cycles of its recording a fault finds the design in reset;
            nothing where none drives it, or where several clocks do.
        gate_places: Returns the paths at which synthesis keeps what lies below apart, so that gates are known
            by them.
        logic_faults: Counts the faults in logic, and their classes, that the campaign draws from.
    """

    network: NetworkFacts
    target_name: str
    top: str
    blocks: tuple[str, ...]
    sites: SiteTable
    inputs: tuple[int, ...]
    identity: Identity
    hashes: Mapping[str, str]
    engine: Callable[[int], CampaignEngine]
    area: Callable[[], AreaFacts]
    unmapped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    expected: tuple[bytes, ...] = ()
    describe: Describe = say_nothing
    compare: Compare = compare_nothing
    titles: Mapping[str, str] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=dict)
    alarms: Mapping[str, str] = field(default_factory=dict)
    output: OutputFacts | None = None
    latches: frozenset[str] = frozenset()
    workloads: tuple[str, ...] = ()
    rtl_registers: Mapping[str, str] | None = None
    not_assessed: str = ""
    conditions: tuple[str, ...] = ()
    codes: str = ""
    placement: str = ""
    relative: Mapping[str, float] = field(default_factory=dict)
    cycles: tuple[int, ...] = ()
    in_reset: InReset = never_in_reset
    gate_places: GatePlaces = no_gate_places
    logic_faults: LogicFaults = no_logic_faults
