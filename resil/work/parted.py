# SPDX-License-Identifier: Apache-2.0
"""A campaign's inferences of a network of which the NPU computes only parts, or which has state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from resil.bench.bench import OperationFacts
from resil.campaign.campaign import Campaign
from resil.errors import CampaignError
from resil.networks.parts import PartedNetwork
from resil.rtl_harness.npu.stretches import stretches
from resil.rtl_harness.npu.work import operation_work
from resil.work.decisions import NetworkDecision
from resil.work.work import NetworkRuns, Tensors


def parted_runs(
    campaign: Campaign,
    network: PartedNetwork,
    labels: Sequence[int],
    inputs: Sequence[Tensors],
    decision: NetworkDecision,
) -> NetworkRuns:
    """Return the runs of a network in parts: the stretches of each sequence of inferences.

    Raises:
        CampaignError: A run in stretches cannot give what the campaign asks, or the inputs do not divide into
            sequences.
        HarnessError: The bench cannot hold a part, or the model cannot compute it.
    """
    check_parted(campaign, network)
    each = campaign.inferences
    names = sequence_labels(campaign, network, labels)
    sequences = [inputs[start : start + each] for start in range(0, len(inputs), each)]
    runs = tuple(
        stretches(
            network,
            own,
            f"{network.name}, input {label}",
            [decision.of_input(one) for one in own],
            decision.output,
        )
        for own, label in zip(sequences, names, strict=True)
    )
    return NetworkRuns(
        names,
        runs,
        parted_operations(network, each),
        each,
        lambda number, raw: tensors_of(network, raw, each),
        network.hosts,
    )


def check_parted(campaign: Campaign, network: PartedNetwork) -> None:
    """Raise CampaignError for what a campaign asks and a run in stretches cannot give."""
    where, several = campaign.file, campaign.inferences > 1
    found = f"{network.name}: {' '.join(network.adapted)}"
    if campaign.faults.permanent:
        raise CampaignError(
            f"{where}: [faults] model: expected upsets in a network that runs in stretches of the NPU, "
            f'found "stuck_at" ({found}); change the model',
            "faults.model",
        )
    if several and not network.variables:
        raise CampaignError(
            f"{where}: [campaign] inferences: expected 1, where the host computes between parts of the NPU "
            f"and the network has no state, found {campaign.inferences} ({found}); remove the key",
            "campaign.inferences",
        )
    if several and campaign.between != "reset":
        raise CampaignError(
            f'{where}: [campaign] between: expected "reset" for several inferences of a network with state: '
            f'the host resets the NPU before each, found "{campaign.between}"; add between = "reset"',
            "campaign.between",
        )
    source = campaign.network.inputs
    if several and not isinstance(source, Path):
        raise CampaignError(
            f"{where}: [network] inputs: expected a file of inferences one after another for a network with "
            f"state, found {source!r}, of which each is one by itself; give a .npy or .npz file",
            "network.inputs",
        )


def sequence_labels(campaign: Campaign, network: PartedNetwork, labels: Sequence[int]) -> tuple[int, ...]:
    """Return the labels of a campaign's sequences of inferences, for those of the inferences.

    Raises:
        CampaignError: The inferences do not divide into sequences.
    """
    each = campaign.inferences
    if len(labels) % each:
        raise CampaignError(
            f"{campaign.file}: [campaign] inferences: expected inputs for whole sequences of {each} "
            f"inferences of {network.name}, found {len(labels):,}; change the number or the file",
            "campaign.inferences",
        )
    return tuple(labels) if each == 1 else tuple(range(len(labels) // each))


def parted_operations(network: PartedNetwork, each: int) -> tuple[OperationFacts, ...]:
    """Return what reports say of the operations of all parts of `each` inferences, in their order."""
    found = [
        (operation, asdict(work))
        for stream in network.streams
        for operation, work in zip(stream.operations, operation_work(stream), strict=True)
    ]
    return tuple(
        OperationFacts(
            inference * len(found) + number,
            operation.name if each == 1 else f"{operation.name}, inference {inference + 1}",
            operation.kind,
            operation.vela_cycles,
            work,
        )
        for inference in range(each)
        for number, (operation, work) in enumerate(found)
    )


def tensors_of(network: PartedNetwork, raw: bytes, each: int = 1) -> list[Tensors]:
    """Return the outputs of `each` inferences in the bytes that hold them one after the other."""
    start, inferences = 0, []
    for _ in range(each):
        found = []
        for tensor in network.outputs:
            size = int(np.prod(tensor.shape)) * np.dtype(tensor.dtype).itemsize
            found.append(np.frombuffer(raw[start : start + size], tensor.dtype).reshape(tensor.shape))
            start += size
        inferences.append(tuple(found))
    return inferences
