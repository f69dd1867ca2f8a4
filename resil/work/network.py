"""The table [network]: a network compiled for the target, its inputs laid out in the target's memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from networks import zoo
from networks.compile import CompiledNetwork, compile_network
from resil.bench.bench import Describe, NetworkFacts, OperationFacts
from resil.campaign.campaign import ZOO_PREFIX, Campaign, NetworkSettings
from resil.errors import CampaignError
from resil.progress import Progress
from resil.work.decisions import network_decision
from resil.work.image_files import load_npy
from resil.work.inference import Inference
from resil.work.work import Work
from rtl_harness.faults import Corruption
from rtl_harness.npu.work import OperationWork, operation_work
from rtl_harness.npu.workload import npu_workload
from rtl_harness.target import Target

_MEMORIES = ("flash", "sram", "boot")


def network_work(campaign: Campaign, settings: NetworkSettings, target: Target, progress: Progress) -> Work:
    """Compile the network and lay out its inputs.

    Raises:
        CampaignError: the inputs do not fit the network, or the target is none for compiled networks.
        NetworkError: the network cannot be read or compiled.
    """
    _check_memories(target)
    path, labels, inputs = network_inputs(campaign, settings)
    progress.stage(f"compiling {settings.path} for {target.name} with Vela")
    compiled = compile_network(path, target.name)
    decision = network_decision(campaign, settings, path)
    workloads = tuple(
        npu_workload(compiled, tensor, f"{compiled.name}, input {label}", decision.of_input(tensor))
        for label, tensor in zip(labels, inputs, strict=True)
    )
    facts = network_facts(settings, compiled, operation_work(compiled), decision.name)
    hashes = {"network": compiled.source_sha256}
    describe = _describer(compiled, inputs)
    return Work(facts, labels, workloads, hashes, describe=describe)


def load_inputs(path: Path) -> npt.NDArray[np.int8]:
    """Return the tensors in a .npy file.

    Raises:
        CampaignError: the file is not an array of int8 with at least one tensor.
    """
    inputs, found = load_npy(path, "int8 (N, H, W, C)")
    if inputs is None or inputs.dtype != np.int8 or inputs.ndim < 2 or not inputs.size:
        raise CampaignError(
            f"{path}: expected int8 (N, H, W, C) with N >= 1, found {found}; quantise the inputs "
            "with the scale and zero point of the network's input"
        )
    return inputs


def _check_memories(target: Target) -> None:
    missing = [name for name in _MEMORIES if name not in target.memories]
    if missing:
        raise CampaignError(
            f"target {target.name}: expected the memories {', '.join(_MEMORIES)} that a compiled network "
            f"is laid out in, found no {', '.join(missing)}; add them to the target file, or give a table "
            "[workload] with memory images in place of [network]"
        )


def network_inputs(
    campaign: Campaign, settings: NetworkSettings
) -> tuple[Path, tuple[int, ...], npt.NDArray[np.int8]]:
    """Return the network's file, and label and tensor of each input.

    Raises:
        CampaignError: the inputs cannot be read, or there are not so many.
        NetworkError: the zoo has no such network, or its inputs neither ship nor come with what is installed.
    """
    if isinstance(settings.inputs, Path):
        inputs = load_inputs(settings.inputs)
        path = Path(settings.path)
        if settings.path.startswith(ZOO_PREFIX):
            path = zoo.load(settings.path.removeprefix(ZOO_PREFIX)).path
        return path, tuple(range(len(inputs))), inputs
    known = zoo.load(settings.path.removeprefix(ZOO_PREFIX))
    held_out = known.heldout_count
    if (last := max(settings.inputs)) >= held_out:
        raise CampaignError(
            f"{campaign.file}: [network] inputs: expected indices below {held_out}, the size of the "
            f"held-out split of {known.name}, found {last}; change the value"
        )
    return known.path, settings.inputs, known.heldout_at(settings.inputs)


def _describer(compiled: CompiledNetwork, inputs: npt.NDArray[np.int8]) -> Describe:
    @cache
    def inference(position: int) -> Inference:
        return Inference(compiled, inputs[position])

    def describe(position: int, corruption: Corruption) -> str:
        pattern = inference(position).pattern(corruption)
        return "" if pattern is None else pattern.as_text()

    return describe


def network_facts(
    settings: NetworkSettings, compiled: CompiledNetwork, work: Sequence[OperationWork], decision: str
) -> NetworkFacts:
    """Return what reports say of a network; `work` is that of its operations, `decision` the rule's name."""
    operations = tuple(
        OperationFacts(o.index, o.name, o.kind, o.vela_cycles, asdict(own))
        for o, own in zip(compiled.operations, work, strict=True)
    )
    macs = sum(o.macs or 0 for o in compiled.operations)
    return NetworkFacts(
        name=compiled.name,
        path=settings.path,
        sha256=compiled.source_sha256,
        operations=operations,
        macs=macs,
        vela_cycles=compiled.vela_total_cycles,
        decision=decision,
    )
