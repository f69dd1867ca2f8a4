# SPDX-License-Identifier: Apache-2.0
"""What a network's output decides, for a campaign: the rule by its name, and its form for each input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import Campaign
from resil.campaign.network_settings import RECONSTRUCTION, ZOO_PREFIX, NetworkSettings
from resil.errors import CampaignError
from resil.networks import zoo
from resil.networks.decision import RECONSTRUCTION_ERROR, real_values, reconstruction_errors
from resil.networks.ends import QuantisedEnd
from resil.networks.parts import Network
from resil.rtl_harness.engine.workload import Decision, exact, top1

RULES: dict[str, Decision] = {"exact": exact, "top1": top1}


def bytes_of(output: npt.NDArray[np.generic]) -> object:
    """Return one output itself: unlike `exact`, whatever the others are."""
    return output.tobytes()


@dataclass(frozen=True, eq=False)
class Anomaly:
    """Whether an output reconstructs its input badly.

    Attributes:
        given: The input, (1, ...), real-valued.
        output: The NPU's output, for its quantisation.
        threshold: An input is an anomaly if the mean squared difference is above it.
    """

    given: npt.NDArray[np.float64]
    output: QuantisedEnd
    threshold: float

    def __call__(self, output: npt.NDArray[np.generic]) -> object:
        """Return the decision."""
        drawn = real_values(output, self.output).reshape(1, -1)
        return bool(reconstruction_errors(self.given, drawn)[0] > self.threshold)


@dataclass(frozen=True)
class NetworkDecision:
    """How a network's output is read.

    Attributes:
        name: Of the rule, with its threshold if it has one, and with the output if there are several.
        of_input: The rule for the tensors that the NPU is given in one inference.
        output: Number of the NPU's output that it is read from.
    """

    name: str
    of_input: Callable[[Sequence[npt.NDArray[np.generic]]], Decision]
    output: int = 0


def network_decision(campaign: Campaign, settings: NetworkSettings, compiled: Network) -> NetworkDecision:
    """Return the campaign's rule, a zoo network's own one if it names none, else the largest output.

    Args:
        campaign: For messages.
        settings: Its network.
        compiled: The network.

    Raises:
        CampaignError: the rule does not fit the network, or there are several outputs and none is named.
        NetworkError: the zoo's record of the network cannot be read.
    """
    rule, threshold = settings.decision, settings.threshold
    if settings.path.startswith(ZOO_PREFIX) and rule in (None, RECONSTRUCTION):
        known = zoo.load(settings.path.removeprefix(ZOO_PREFIX))
        if known.decision == RECONSTRUCTION_ERROR:
            rule, threshold = RECONSTRUCTION, threshold or known.threshold
    if rule == "exact" and settings.output is None:
        return NetworkDecision("exact", lambda _: exact)
    output, of_output = _stated_output(campaign, settings, compiled)
    if rule != RECONSTRUCTION:
        fixed = bytes_of if rule == "exact" else RULES[rule or "top1"]
        return NetworkDecision(f"{rule or 'top1'}{of_output}", lambda _: fixed, output)
    if threshold is None:
        raise CampaignError(
            f"{campaign.file}: [network] threshold: expected one beside decision = "
            f'"{RECONSTRUCTION}", found none; add the mean squared error above which an input is an anomaly',
            "network.threshold",
        )
    limit, (given, drawn) = threshold, _input_and_drawing(campaign, settings, compiled, output)
    return NetworkDecision(
        f"{RECONSTRUCTION} error above {limit:g}{of_output}",
        lambda tensors: Anomaly(real_values(tensors[0].reshape(1, -1), given), drawn, limit),
        output,
    )


def _stated_output(campaign: Campaign, settings: NetworkSettings, compiled: Network) -> tuple[int, str]:
    """Return which of the NPU's outputs the decision is read from, and how the rule's name says it."""
    names = [tensor.name for tensor in compiled.ends.outputs]
    wanted = settings.output
    if wanted is None and len(names) == 1:
        return 0, ""
    known = ", ".join(f"{name!r} ({number})" for number, name in enumerate(names))
    where = f"{campaign.file}: [network] output: expected the output that the decision is read from, {known}"
    if wanted is None:
        raise CampaignError(
            f'{where}, found none; add it, or decision = "exact", which takes all', "network.output"
        )
    if isinstance(wanted, str):
        if names.count(wanted) != 1:
            raise CampaignError(
                f"{where}, found {wanted!r}; give one of these names or numbers", "network.output"
            )
        wanted = names.index(wanted)
    if wanted >= len(names):
        raise CampaignError(f"{where}, found {wanted}; give one of these names or numbers", "network.output")
    return compiled.ends.sources[wanted], f" of {names[wanted]}"


def _input_and_drawing(
    campaign: Campaign, settings: NetworkSettings, compiled: Network, output: int
) -> tuple[QuantisedEnd, QuantisedEnd]:
    """Return the input and the output of a network that draws its input."""
    given, drawn = compiled.inputs[0], compiled.outputs[output]
    one_size = int(np.prod(given.shape)) == int(np.prod(drawn.shape))
    if len(compiled.inputs) > 1 or not (one_size and given.scale and drawn.scale):
        shapes = " and ".join(str(slot.shape) for slot in (*compiled.inputs, drawn))
        raise CampaignError(
            f'{campaign.file}: [network] decision: "{RECONSTRUCTION}" compares the output with the input; '
            f"expected one input, both quantised and of one size, found shapes {shapes} in {settings.path}; "
            "choose another decision",
            "network.decision",
        )
    return given, drawn


def margins(
    decision: NetworkDecision,
    inputs: Sequence[npt.NDArray[np.generic]],
    outputs: npt.NDArray[np.generic],
) -> npt.NDArray[np.float64] | None:
    """Return how far each decision is from another one; None if the rule has no distance.

    For the largest output it is what the second largest is behind, in levels; for a reconstruction the
    distance of its error from the threshold. An error of a given size changes close decisions first.

    Args:
        decision: The rule.
        inputs: Tensors that the NPU is given, (N, ...) each.
        outputs: The output that is read, (N, ...).
    """
    flat = outputs.reshape(len(outputs), -1).astype(np.float64)
    if decision.name.startswith("top1") and flat.shape[1] > 1:
        ranked = np.partition(flat, -2, axis=1)
        return ranked[:, -1] - ranked[:, -2]
    if not decision.name.startswith(RECONSTRUCTION):
        return None
    found = []
    for place, output in enumerate(outputs):
        rule = decision.of_input([tensor[place] for tensor in inputs])
        assert isinstance(rule, Anomaly)
        drawn = real_values(output, rule.output).reshape(1, -1)
        found.append(abs(float(reconstruction_errors(rule.given, drawn)[0]) - rule.threshold))
    return np.array(found)
