"""The inferences of a campaign, one for each of its inputs, on the functional model."""

from __future__ import annotations

from dataclasses import dataclass

from networks.compile import CompiledNetwork, compile_network
from resil.campaign.campaign import Campaign
from resil.work.decisions import network_decision
from resil.work.inference import Inference
from resil.work.network import network_inputs


@dataclass(frozen=True)
class CampaignInference:
    """What a campaign infers.

    Attributes:
        compiled: Its network.
        labels: Of each input.
        decision: Name of the rule that reads the decision.
        of_inputs: An inference for each input.
    """

    compiled: CompiledNetwork
    labels: tuple[int, ...]
    decision: str
    of_inputs: tuple[Inference, ...]


def infer_campaign(campaign: Campaign, target: str) -> CampaignInference:
    """Compile a campaign's network and infer its inputs.

    Raises:
        CampaignError: the inputs or the decision do not fit the network.
        NetworkError: the network cannot be read or compiled.
    """
    settings = campaign.network
    path, labels, inputs = network_inputs(campaign, settings)
    decision = network_decision(campaign, settings, path)
    compiled = compile_network(path, target)
    found = tuple(Inference(compiled, tensor, decision.of_input(tensor)) for tensor in inputs)
    return CampaignInference(compiled, labels, decision.name, found)
