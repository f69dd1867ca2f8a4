# SPDX-License-Identifier: Apache-2.0
"""What a network's output decides, and how well: top-1 classification and anomaly detection."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.networks.ends import QuantisedEnd

TOP_1 = "top-1"
RECONSTRUCTION_ERROR = "reconstruction error"


def accuracy(outputs: npt.NDArray[np.generic], labels: npt.NDArray[np.int64]) -> float:
    """Return the share of outputs (N, classes) whose largest value, the first of equals, is at the label."""
    return float(np.mean(outputs.reshape(len(outputs), -1).argmax(axis=-1) == labels))


def reconstruction_errors(
    inputs: npt.NDArray[np.generic], outputs: npt.NDArray[np.generic]
) -> npt.NDArray[np.float64]:
    """Return the mean squared difference of each real-valued input and its reconstruction, (N,)."""
    differences = (outputs.astype(np.float64) - inputs.astype(np.float64)).reshape(len(inputs), -1)
    errors: npt.NDArray[np.float64] = np.square(differences).mean(axis=1)
    return errors


def real_values(levels: npt.NDArray[np.generic], tensor: QuantisedEnd) -> npt.NDArray[np.float64]:
    """Return what the int8 levels of a tensor stand for."""
    return (levels.astype(np.float64) - tensor.zero_point) * tensor.scale


def area_under_curve(scores: npt.NDArray[np.float64], anomalies: npt.NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: P(an anomaly scores above a normal input), equal scores half.

    It is the Mann-Whitney statistic divided by the number of pairs (Hanley and McNeil, Radiology 143, 1982).
    """
    normal = np.sort(scores[~anomalies])
    below = np.searchsorted(normal, scores[anomalies], side="left")
    not_above = np.searchsorted(normal, scores[anomalies], side="right")
    return float((below + not_above).mean() / (2 * len(normal)))
