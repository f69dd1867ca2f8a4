"""What a network's output decides, for a campaign: the rule by its name, and its form for each input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from networks import zoo
from networks.decision import RECONSTRUCTION_ERROR, real_values, reconstruction_errors
from networks.graph import Tensor
from networks.tflite_reader import read_network
from resil.campaign.campaign import RECONSTRUCTION, ZOO_PREFIX, Campaign, NetworkSettings
from resil.errors import CampaignError
from rtl_harness.workload import Decision, exact, top1

RULES: dict[str, Decision] = {"exact": exact, "top1": top1}


@dataclass(frozen=True, eq=False)
class Anomaly:
    """Whether an output reconstructs its input badly.

    Attributes:
        given: The input, (1, ...), real-valued.
        output: The output tensor, for its quantisation.
        threshold: An input is an anomaly if the mean squared difference is above it.
    """

    given: npt.NDArray[np.float64]
    output: Tensor
    threshold: float

    def __call__(self, output: npt.NDArray[np.generic]) -> object:
        """Return the decision."""
        drawn = real_values(output, self.output).reshape(1, -1)
        return bool(reconstruction_errors(self.given, drawn)[0] > self.threshold)


@dataclass(frozen=True)
class NetworkDecision:
    """How a network's output is read.

    Attributes:
        name: Of the rule, with its threshold if it has one.
        of_input: The rule for one input tensor.
    """

    name: str
    of_input: Callable[[npt.NDArray[np.int8]], Decision]


def network_decision(campaign: Campaign, settings: NetworkSettings, path: Path) -> NetworkDecision:
    """Return the campaign's rule, a zoo network's own one if it names none, else the largest output.

    Args:
        campaign: For messages.
        settings: Its network.
        path: The network's file.

    Raises:
        CampaignError: the rule does not fit the network.
        NetworkError: the network cannot be read.
    """
    rule, threshold = settings.decision, settings.threshold
    if settings.path.startswith(ZOO_PREFIX) and rule in (None, RECONSTRUCTION):
        known = zoo.load(settings.path.removeprefix(ZOO_PREFIX))
        if known.decision == RECONSTRUCTION_ERROR:
            rule, threshold = RECONSTRUCTION, threshold or known.threshold
    if rule != RECONSTRUCTION:
        fixed = RULES[rule or "top1"]
        return NetworkDecision(rule or "top1", lambda _: fixed)
    if threshold is None:
        raise CampaignError(
            f"{campaign.file}: [network] threshold: expected one beside decision = "
            f'"{RECONSTRUCTION}", found none; add the mean squared error above which an input is an anomaly'
        )
    limit, (given, drawn) = threshold, _ends(campaign, path)
    return NetworkDecision(
        f"{RECONSTRUCTION} error above {limit:g}",
        lambda tensor: Anomaly(real_values(tensor.reshape(1, -1), given), drawn, limit),
    )


def _ends(campaign: Campaign, path: Path) -> tuple[Tensor, Tensor]:
    """Return the input and the output tensor of a network that draws its input."""
    graph = read_network(path)
    given, drawn = graph.tensors[graph.inputs[0]], graph.tensors[graph.outputs[0]]
    quantised = given.quantisation is not None and drawn.quantisation is not None
    if int(np.prod(given.shape)) != int(np.prod(drawn.shape)) or not quantised:
        raise CampaignError(
            f'{campaign.file}: [network] decision: "{RECONSTRUCTION}" compares the output with the input; '
            f"expected both quantised and of one size, found shapes {given.shape} and "
            f"{drawn.shape} in {path}; choose another decision"
        )
    return given, drawn
