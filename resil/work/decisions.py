# SPDX-License-Identifier: Apache-2.0
"""What a network's output decides, for a campaign: the rule by its name, and its form for each input."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import Campaign
from resil.campaign.detection_settings import DETECTION, DetectionSettings
from resil.campaign.network_settings import RECONSTRUCTION, ZOO_PREFIX, NetworkSettings
from resil.errors import CampaignError
from resil.networks import zoo
from resil.networks.decision import RECONSTRUCTION_ERROR, real_values, reconstruction_errors
from resil.networks.detection import DetectionRule, Detections, Reals
from resil.networks.ends import QuantisedEnd
from resil.networks.parts import Network
from resil.rtl_harness.engine.workload import Decision, OfAll, exact, top1
from resil.work.image_files import load_npy

Tensors = tuple[npt.NDArray[np.generic], ...]
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


@dataclass(frozen=True, eq=False)
class Detector:
    """What a detector keeps.

    Attributes:
        rule: How boxes are read.
        boxes: Number of the NPU's output that holds them, and its quantisation.
        scores: Likewise of their scores.
    """

    rule: DetectionRule
    boxes: tuple[int, QuantisedEnd]
    scores: tuple[int, QuantisedEnd]

    def __call__(self, outputs: Sequence[npt.NDArray[np.generic]]) -> Detections:
        """Return the decision, of all outputs."""
        return self.rule.detect(
            *(real_values(outputs[place], end) for place, end in (self.boxes, self.scores))
        )


@dataclass(frozen=True)
class NetworkDecision:
    """How a network's output is read.

    Attributes:
        name: Of the rule, with its threshold if it has one, and with the output if there are several.
        of_input: The rule for the tensors that the NPU is given in one inference.
        output: Number of the NPU's output that it is read from; 0 for a rule of several.
        outputs: Numbers of all that it is read from; None for all there are.
        detector: The rule, if it is one of boxes.
    """

    name: str
    of_input: Callable[[Sequence[npt.NDArray[np.generic]]], Decision]
    output: int = 0
    outputs: tuple[int, ...] | None = None
    detector: Detector | None = None


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
    if settings.detection is not None:
        return _detection(campaign, settings.detection, compiled)
    output, of_output = _stated_output(campaign, settings, compiled)
    if rule != RECONSTRUCTION:
        fixed = bytes_of if rule == "exact" else RULES[rule or "top1"]
        return NetworkDecision(f"{rule or 'top1'}{of_output}", lambda _: fixed, output, (output,))
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
        (output,),
    )


def _detection(campaign: Campaign, settings: DetectionSettings, compiled: Network) -> NetworkDecision:
    """Return the rule of a detector.

    Raises:
        CampaignError: An output is not there or holds no boxes, or the anchors do not fit.
    """
    boxes, scores = (
        _named_output(campaign, f"detection.{key}", compiled, wanted)
        for key, wanted in (("boxes", settings.boxes), ("scores", settings.scores))
    )
    drawn, said = compiled.outputs[boxes], compiled.outputs[scores]
    count = int(np.prod(drawn.shape)) // 4
    classes = drawn.shape[-1:] == (4,) and count and int(np.prod(said.shape)) / count
    if boxes == scores or not classes or classes != int(classes) or not (drawn.scale and said.scale):
        raise CampaignError(
            f"{campaign.file}: [network.detection] boxes: expected an output (..., 4) of boxes and another "
            f"of scores, of as many boxes, both quantised, found {drawn.name} {tuple(drawn.shape)} and "
            f"{said.name} {tuple(said.shape)}; name the outputs before what makes a list of them",
            "network.detection.boxes",
        )
    if settings.background is not None and settings.background >= classes:
        raise CampaignError(
            f"{campaign.file}: [network.detection] background: expected a class below {int(classes)}, as "
            f"{said.name} {tuple(said.shape)} has, found {settings.background}; change the value",
            "network.detection.background",
        )
    anchors = None if settings.anchors is None else _anchors(campaign, settings, count)
    rule = DetectionRule(
        settings.activation,
        settings.threshold,
        settings.overlap,
        settings.match,
        settings.most,
        settings.background,
        anchors,
        settings.scales,
    )
    detector = Detector(rule, (boxes, drawn), (scores, said))
    own = f"{drawn.name} and {said.name} {settings.activation}"
    if anchors is not None:
        own += f", anchors {hashlib.sha256(anchors.tobytes()).hexdigest()[:16]} x {settings.scales}"
    name = (
        f"{DETECTION} of {own}, background {settings.background}, above {settings.threshold:g}, overlap "
        f"{settings.overlap:g}, most {settings.most}, match {settings.match:g}"
    )
    fixed = OfAll(detector)
    return NetworkDecision(name, lambda _: fixed, 0, (boxes, scores), detector)


def _anchors(campaign: Campaign, settings: DetectionSettings, count: int) -> Reals:
    assert settings.anchors is not None
    found, what = load_npy(settings.anchors, ".npy")
    sound = found is not None and found.shape == (count, 4) and found.dtype.kind in "fiu"
    if found is None or not sound or not np.isfinite(found).all() or not (found[:, 2:] > 0).all():
        raise CampaignError(
            f"{campaign.file}: [network.detection] anchors: expected numbers of shape ({count}, 4), middle y "
            f"and x, height and width above 0, found {what} in {settings.anchors}; save one for "
            "each box of the output",
            "network.detection.anchors",
        )
    return found.astype(np.float64)


def require_objects(campaign: Campaign, decision: NetworkDecision, found: Sequence[Tensors]) -> None:
    """Refuse a detector that keeps no box of any input: then no fault could take one away.

    Args:
        campaign: For messages.
        decision: Its rule.
        found: Outputs of each inference without a fault, in the network's order.

    Raises:
        CampaignError: No box is kept.
    """
    if decision.detector is None or any(len(decision.detector(outputs)) for outputs in found):
        return
    raise CampaignError(
        f"{campaign.file}: [network.detection] threshold: expected a box without a fault in at least one of "
        f"{len(found)} inputs, found none ({decision.name}); check activation, threshold, background and "
        "anchors, or add an input with an object",
        "network.detection.threshold",
    )


def _stated_output(campaign: Campaign, settings: NetworkSettings, compiled: Network) -> tuple[int, str]:
    """Return which of the NPU's outputs the decision is read from, and how the rule's name says it."""
    names = [tensor.name for tensor in compiled.ends.outputs]
    wanted = settings.output
    if wanted is None and len(names) == 1:
        return 0, ""
    if wanted is None:
        raise CampaignError(
            f'{_expected_output(campaign, "output", names)}, found none; add it, or decision = "exact", '
            "which takes all",
            "network.output",
        )
    place = _named_output(campaign, "output", compiled, wanted)
    return place, f" of {wanted if isinstance(wanted, str) else names[wanted]}"


def _expected_output(campaign: Campaign, key: str, names: Sequence[str]) -> str:
    known = ", ".join(f"{name!r} ({number})" for number, name in enumerate(names))
    table, _, own = f"network.{key}".rpartition(".")
    return f"{campaign.file}: [{table}] {own}: expected the output that the decision is read from, {known}"


def _named_output(campaign: Campaign, key: str, compiled: Network, wanted: str | int) -> int:
    """Return the number of the NPU's output that a key names by name or number."""
    names = [tensor.name for tensor in compiled.ends.outputs]
    number = wanted if isinstance(wanted, int) else names.index(wanted) if names.count(wanted) == 1 else -1
    if not 0 <= number < len(names):
        raise CampaignError(
            f"{_expected_output(campaign, key, names)}, found {wanted!r}; give one of these names or numbers",
            f"network.{key}",
        )
    return compiled.ends.sources[number]


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
