# SPDX-License-Identifier: Apache-2.0
"""The inferences of a campaign, one for each of its inputs, on the functional model."""

from __future__ import annotations

from dataclasses import dataclass

from resil.campaign.campaign import Campaign
from resil.networks.compile import CompiledNetwork
from resil.work.decisions import NetworkDecision, network_decision
from resil.work.inference import Inference
from resil.work.network import compile_campaign_network, network_inputs


@dataclass(frozen=True)
class CampaignInference:
    """What a campaign infers.

    Attributes:
        compiled: Its network.
        labels: Of each input.
        decision: The rule that reads the decision.
        of_inputs: An inference for each input.
    """

    compiled: CompiledNetwork
    labels: tuple[int, ...]
    decision: NetworkDecision
    of_inputs: tuple[Inference, ...]


def infer_campaign(campaign: Campaign, target: str) -> CampaignInference:
    """Compile a campaign's network and infer its inputs.

    Raises:
        CampaignError: the inputs or the decision do not fit the network.
        NetworkError: the network cannot be read or compiled.
    """
    settings = campaign.network
    compiled = compile_campaign_network(settings, target)
    labels, inputs = network_inputs(campaign, settings, compiled)
    decision = network_decision(campaign, settings, compiled)
    found = tuple(
        Inference(compiled, tensors, decision.of_input(tensors), decision.output) for tensors in inputs
    )
    return CampaignInference(compiled, labels, decision, found)
