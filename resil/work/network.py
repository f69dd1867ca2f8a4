# SPDX-License-Identifier: Apache-2.0
"""The table [network]: a network compiled for the target, its inputs laid out in the target's memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from resil.bench.bench import Describe, NetworkFacts, OperationFacts
from resil.campaign.campaign import Campaign
from resil.campaign.data_set import DataSet
from resil.campaign.network_settings import ZOO_PREFIX, NetworkSettings
from resil.errors import CampaignError
from resil.networks import zoo
from resil.networks.compile import CompiledNetwork
from resil.networks.errors import NetworkError
from resil.networks.parts import Network, PartedNetwork, compile_parts
from resil.progress import Progress
from resil.record.golden import GoldenComparison
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.faults import Corruption
from resil.rtl_harness.npu.refusals import check_taken
from resil.rtl_harness.npu.work import OperationWork, operation_work
from resil.rtl_harness.npu.workload import npu_workload
from resil.work.data_set import data_set_inputs
from resil.work.decisions import NetworkDecision, network_decision, require_objects
from resil.work.golden import comparison
from resil.work.inference import Inference
from resil.work.parted import parted_runs
from resil.work.tensor_files import load_levels
from resil.work.work import NetworkRuns, Tensors, Work

_MEMORIES = ("flash", "sram", "boot")


def network_work(campaign: Campaign, settings: NetworkSettings, target: Target, progress: Progress) -> Work:
    """Compile the network and lay out its inputs.

    Raises:
        CampaignError: the inputs do not fit the network, or the target is none for compiled networks.
        NetworkError: the network cannot be read or compiled.
    """
    _check_memories(target)
    progress.stage(f"compiling {settings.path} for {target.name} with Vela")
    compiled = compile_parts(network_path(settings), target.name)
    for stream in compiled.streams:
        check_taken(stream)
    decision = network_decision(campaign, settings, compiled)
    for remark in remarks(compiled, decision):
        progress.stage(remark)
    labels, inputs = network_inputs(campaign, settings, compiled)
    if isinstance(compiled, PartedNetwork):
        runs = parted_runs(campaign, compiled, labels, inputs, decision)
    else:
        runs = _whole_runs(campaign, compiled, labels, inputs, decision)
    each = runs.inferences

    def compare(outputs: Sequence[bytes]) -> GoldenComparison:
        found = [one for number, raw in enumerate(outputs) for one in runs.outputs(number, raw)]
        require_objects(campaign, decision, found)
        return comparison(network_path(settings), compiled, inputs, found, _of_each(runs.labels, each), each)

    facts = replace(
        network_facts(settings, compiled, runs.operations, decision),
        vela_cycles=each * compiled.vela_total_cycles,
        stretches=len(runs.workloads[0]),
        sequence=each > 1,
    )
    hashes = {"network": compiled.source_sha256}
    if runs.hosts:
        hashes["host"] = ", ".join(runs.hosts)
    return Work(facts, runs.labels, runs.workloads, hashes, describe=runs.describe, compare=compare)


def _whole_runs(
    campaign: Campaign,
    compiled: CompiledNetwork,
    labels: tuple[int, ...],
    inputs: Sequence[Tensors],
    decision: NetworkDecision,
) -> NetworkRuns:
    """Return the runs of a network that the NPU computes as a whole."""
    if campaign.inferences > 2:
        raise CampaignError(
            f"{campaign.file}: [campaign] inferences: expected 1 or 2 for a network without variables "
            f"({compiled.name}), found {campaign.inferences}; change the value",
            "campaign.inferences",
        )
    again = campaign.between if campaign.inferences > 1 else ""
    workloads = [
        npu_workload(
            compiled,
            own,
            f"{compiled.name}, input {label}",
            decision.of_input(own),
            decision.output,
            again,
        )
        for label, own in zip(labels, inputs, strict=True)
    ]
    return NetworkRuns(
        labels,
        tuple((workload,) for workload in workloads),
        operation_facts(compiled, operation_work(compiled)),
        1,
        lambda number, raw: [_in_order(decision.output, workloads[number].tensors(raw))],
        describe=_describer(compiled, inputs),
    )


def _of_each(labels: Sequence[int], each: int) -> tuple[int, ...]:
    return tuple(label for label in labels for _ in range(each))


def _in_order(decided: int, tensors: Tensors) -> Tensors:
    """Return outputs in the network's order; that of the decision comes first."""
    others = tensors[1:]
    return (*others[:decided], tensors[0], *others[decided:])


def _check_memories(target: Target) -> None:
    missing = [name for name in _MEMORIES if name not in target.memories]
    if missing:
        raise CampaignError(
            f"target {target.name}: expected the memories {', '.join(_MEMORIES)} that a compiled network "
            f"is laid out in, found no {', '.join(missing)}; add them to the target file, or give a table "
            "[workload] with memory images in place of [network]",
            "memories",
        )


def compile_campaign_network(settings: NetworkSettings, target: str) -> CompiledNetwork:
    """Compile a campaign's network for a target.

    Raises:
        NetworkError: the network cannot be read or compiled, or the zoo has none of that name.
        HarnessError: the NPU does not take an operation.
    """
    compiled = compile_parts(network_path(settings), target)
    if isinstance(compiled, PartedNetwork):
        raise NetworkError(
            f"{settings.path}: expected a network that the NPU computes as a whole, found one of which the "
            f"host computes operators: {' '.join(compiled.adapted)} Only `resil run` and "
            "`resil infer` know such networks; replace the operators, or run a campaign",
            "operators",
        )
    check_taken(compiled)
    return compiled


def network_path(settings: NetworkSettings) -> Path:
    """Return the .tflite file of a campaign's network; NetworkError if the zoo has none of that name."""
    if settings.path.startswith(ZOO_PREFIX):
        return Path(zoo.load(settings.path.removeprefix(ZOO_PREFIX)).path)
    return Path(settings.path)


def network_inputs(
    campaign: Campaign, settings: NetworkSettings, compiled: Network
) -> tuple[tuple[int, ...], tuple[Tensors, ...]]:
    """Return the label of each inference, and the tensors that the NPU is given in it.

    Raises:
        CampaignError: the inputs cannot be read, or there are not so many.
        NetworkError: the inputs of a zoo network neither ship nor come with what is installed.
    """
    if isinstance(settings.inputs, DataSet):
        return data_set_inputs(campaign, settings, settings.inputs, compiled)
    if isinstance(settings.inputs, Path):
        levels = load_levels(compiled, [settings.inputs])
        return tuple(range(len(levels[0]))), tuple(zip(*levels, strict=True))
    known = zoo.load(settings.path.removeprefix(ZOO_PREFIX))
    held_out = known.heldout_count
    if (last := max(settings.inputs)) >= held_out:
        raise CampaignError(
            f"{campaign.file}: [network] inputs: expected indices below {held_out}, the size of the "
            f"held-out split of {known.name}, found {last}; change the value",
            "network.inputs",
        )
    return settings.inputs, tuple((tensor,) for tensor in known.heldout_at(settings.inputs))


def remarks(compiled: Network, decision: NetworkDecision) -> tuple[str, ...]:
    """Return what was done to the network of the file, and which outputs the decision leaves out."""
    names = [slot.name for slot in compiled.outputs]
    read = range(len(names)) if decision.outputs is None else decision.outputs
    others = [name for i, name in enumerate(names) if i not in read]
    if not others:
        return compiled.adapted
    left_out = (
        f"The decision is read from {' and '.join(names[i] for i in read)} alone: where only "
        f"{', '.join(others)} differ, an SDC counts as tolerable."
    )
    return (*compiled.adapted, left_out)


def _describer(compiled: CompiledNetwork, inputs: Sequence[Tensors]) -> Describe:
    @cache
    def inference(position: int) -> Inference:
        return Inference(compiled, inputs[position])

    def describe(position: int, corruption: Corruption) -> str:
        pattern = inference(position).pattern(corruption)
        return "" if pattern is None else pattern.as_text()

    return describe


def network_facts(
    settings: NetworkSettings,
    compiled: Network,
    operations: Sequence[OperationFacts],
    decision: NetworkDecision,
) -> NetworkFacts:
    """Return what reports say of a network with these operations; `decision` is the rule."""
    return NetworkFacts(
        name=compiled.name,
        path=settings.path,
        sha256=compiled.source_sha256,
        operations=tuple(operations),
        macs=sum(own.macs or 0 for stream in compiled.streams for own in stream.operations),
        vela_cycles=compiled.vela_total_cycles,
        decision=decision.name,
        remarks=remarks(compiled, decision),
    )


def operation_facts(compiled: CompiledNetwork, work: Sequence[OperationWork]) -> tuple[OperationFacts, ...]:
    """Return what reports say of the operations of a network, whose work is given."""
    return tuple(
        OperationFacts(o.index, o.name, o.kind, o.vela_cycles, asdict(own))
        for o, own in zip(compiled.operations, work, strict=True)
    )
