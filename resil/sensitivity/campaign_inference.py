# SPDX-License-Identifier: Apache-2.0
"""The inferences of a campaign, one for each of its inputs, on the functional model."""

from __future__ import annotations

from dataclasses import dataclass

from resil.campaign.campaign import Campaign
from resil.networks.compile import CompiledNetwork
from resil.record.golden import GoldenComparison
from resil.work.decisions import NetworkDecision, network_decision, require_objects
from resil.work.golden import comparison, require_golden
from resil.work.inference import Inference
from resil.work.network import compile_campaign_network, network_inputs, network_path


@dataclass(frozen=True)
class CampaignInference:
    """What a campaign infers.

    Attributes:
        compiled: Its network.
        labels: Of each input.
        decision: The rule that reads the decision.
        of_inputs: An inference for each input.
        compared: Whether the functional model computes the network.
    """

    compiled: CompiledNetwork
    labels: tuple[int, ...]
    decision: NetworkDecision
    of_inputs: tuple[Inference, ...]
    compared: GoldenComparison


def infer_campaign(campaign: Campaign, target: str) -> CampaignInference:
    """Compile a campaign's network and infer its inputs.

    Raises:
        CampaignError: the inputs or the decision do not fit the network.
        NetworkError: the network cannot be read or compiled.
        HarnessError: its output is not what an independent reference computes, and that is not accepted.
    """
    settings = campaign.network
    compiled = compile_campaign_network(settings, target)
    labels, inputs = network_inputs(campaign, settings, compiled)
    decision = network_decision(campaign, settings, compiled)
    found = tuple(
        Inference(compiled, tensors, decision.of_input(tensors), decision.output) for tensors in inputs
    )
    outputs = [inference.outputs for inference in found]
    require_objects(campaign, decision, outputs)
    compared = comparison(network_path(settings), compiled, inputs, outputs, labels)
    require_golden(compared, f"{target} on {compiled.name}", settings.accept_golden)
    return CampaignInference(compiled, labels, decision, found, compared)
