# SPDX-License-Identifier: Apache-2.0
"""The table `[network]`: what is inferred, on which inputs, and what its output decides."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resil.campaign.data_set import DataSet, read_data_set
from resil.campaign.detection_settings import DETECTION, DetectionSettings, named_output, read_detection
from resil.campaign.section import Section

ZOO_PREFIX = "zoo:"
RECONSTRUCTION = "reconstruction"


@dataclass(frozen=True)
class NetworkSettings:
    """What is inferred.

    Attributes:
        path: "zoo:NAME", or the absolute path of a .tflite file.
        inputs: Indices into the zoo network's held-out split, or a .npy file of shape (N, H, W, C), or a .npz
            file of one array for each input; or some that are drawn from a data set.
        decision: "top1": only another index of the largest output is another decision; "exact": any other
            output is; "reconstruction": whether the mean squared difference of input and output, real-valued,
            is above `threshold`; "detection": the boxes that `detection` keeps are others. None for a zoo
            network's own rule, or the largest output.
        threshold: None but for "reconstruction"; for a zoo network then that of its record.
        output: Name or number of the output that the decision is read from; None if there is but one, or for
            "exact", which takes all, and "detection", which names its own.
        detection: How boxes are read; None but for "detection".
        accept_golden: Go on although the output without a fault is not the network's by an independent
            reference.
    """

    path: str
    inputs: tuple[int, ...] | Path | DataSet
    decision: str | None = None
    threshold: float | None = None
    output: str | int | None = None
    accept_golden: bool = False
    detection: DetectionSettings | None = None


def read_network(section: Section) -> NetworkSettings:
    """Check the table; CampaignError if a key is wrong."""
    path = section.text("path")
    if not path.startswith(ZOO_PREFIX):
        path = str(section.path("path", 'a .tflite file or "zoo:NAME"'))
    inputs = _inputs(section, zoo=path.startswith(ZOO_PREFIX) or not section.sound("path"))
    decision = section.choice("decision") if section.has("decision") else None
    threshold = None
    if decision == RECONSTRUCTION and section.has("threshold"):
        threshold = section.number("threshold")
    detection = None
    if decision == DETECTION:
        detection = read_detection(section.table("detection", "a table [network.detection]"))
    elif section.has("detection"):
        section.wrong(
            "detection", f'the table with decision = "{DETECTION}" only', repr(decision), "remove it"
        )
    output = None
    if section.has("output"):
        output = named_output(section, "output")
        if detection:
            section.wrong("output", "none beside [network.detection]", repr(output), "remove it")
    accepted = section.flag("accept_golden")
    section.finish()
    return NetworkSettings(path, inputs, decision, threshold, output, accepted, detection)


def _inputs(section: Section, *, zoo: bool) -> tuple[int, ...] | Path | DataSet:
    if section.is_table("inputs"):
        return read_data_set(section.table("inputs", "a table [network.inputs]"), zoo=zoo)
    expected = "a list of indices into the held-out split, or a .npy file" if zoo else "a .npy or .npz file"
    value = section.raw("inputs", expected)
    if isinstance(value, str):
        return section.path("inputs", "a .npy or .npz file")
    if not zoo:
        section.wrong("inputs", expected, repr(value), "only zoo networks have a held-out split")
    indices = value if isinstance(value, list) else []
    whole = all(type(index) is int and index >= 0 for index in indices)
    if not indices or not whole or len(set(indices)) != len(indices):
        section.wrong("inputs", expected, repr(value), "give one or more different indices from 0")
    return tuple(indices)
