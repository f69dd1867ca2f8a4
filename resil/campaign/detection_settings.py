# SPDX-License-Identifier: Apache-2.0
"""The table `[network.detection]`: which boxes a detector keeps, and when two runs keep the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resil.campaign.declaration import ABSENT, Key, KeyTable
from resil.campaign.section import Section
from resil.networks.detection import ACTIVATIONS

DETECTION = "detection"
_MOST_CLASSES, _MOST_BOXES = 100_000, 10_000
_SCALES = (1.0, 1.0, 1.0, 1.0)

DETECTION_KEYS = KeyTable(
    "network.detection",
    'How boxes are read from the outputs of a single-shot detector. Only with `decision = "detection"`.',
    (
        Key("boxes", "string or integer", "Name or number (from 0) of the output (..., 4) that holds boxes."),
        Key("scores", "string or integer", "Likewise of the output (..., classes) that holds their scores."),
        Key(
            "activation",
            "string",
            "What makes shares of scores. `none` where the network has made them itself.",
            ACTIVATIONS[0],
            choices=ACTIVATIONS,
        ),
        Key(
            "anchors",
            "path",
            "`.npy` file (boxes, 4): middle y and x, height and width of what each box corrects. Without the "
            "key a box is given by top, left, bottom and right.",
            ABSENT,
        ),
        Key(
            "scales",
            "list of 4 numbers",
            "By what the numbers of a box are divided. Only with `anchors`.",
            _SCALES,
        ),
        Key("background", "integer", "Class that stands for no object.", ABSENT, 0, _MOST_CLASSES),
        Key("threshold", "number", "A box is kept if its highest score is above it.", 0.5, -1e9, 1e9),
        Key(
            "overlap",
            "number",
            "Of two boxes of one class whose intersection over union is above it the lower score goes.",
            0.5,
            0.0,
            1.0,
        ),
        Key(
            "match",
            "number",
            "Boxes of one class are the same from this intersection over union on.",
            0.5,
            0.0,
            1.0,
        ),
        Key("most", "integer", "Boxes that are kept, those with the highest scores.", 100, 1, _MOST_BOXES),
    ),
)


@dataclass(frozen=True)
class DetectionSettings:
    """How boxes are read; attributes as the keys of the table."""

    boxes: str | int
    scores: str | int
    activation: str = ACTIVATIONS[0]
    anchors: Path | None = None
    scales: tuple[float, ...] = _SCALES
    background: int | None = None
    threshold: float = 0.5
    overlap: float = 0.5
    match: float = 0.5
    most: int = 100

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it rests on."""
        return (self.anchors,) if self.anchors else ()

    def as_table(self) -> dict[str, str | int | float | list[float] | None]:
        """Return the table that is read back as the same."""
        table: dict[str, str | int | float | list[float] | None] = {
            "boxes": self.boxes,
            "scores": self.scores,
            "activation": self.activation,
            "background": self.background,
            "threshold": self.threshold,
            "overlap": self.overlap,
            "match": self.match,
            "most": self.most,
        }
        if self.anchors is not None:
            table |= {"anchors": str(self.anchors), "scales": list(self.scales)}
        return table


def read_detection(section: Section) -> DetectionSettings:
    """Check the table; CampaignError if a key is wrong."""
    boxes, scores = named_output(section, "boxes"), named_output(section, "scores")
    anchors = section.path("anchors", "a .npy file") if section.has("anchors") else None
    scales = section.numbers("scales", 4)
    if section.has("scales") and anchors is None:
        section.wrong(
            "scales", "the key beside anchors only", repr(list(scales)), "remove it, or add anchors"
        )
    if min(scales) <= 0:
        section.wrong("scales", "four numbers above 0", repr(list(scales)), "change the values")
    found = DetectionSettings(
        boxes,
        scores,
        section.choice("activation"),
        anchors,
        scales,
        section.integer("background") if section.has("background") else None,
        section.number("threshold"),
        section.number("overlap"),
        section.number("match"),
        section.integer("most"),
    )
    section.finish()
    return found


def named_output(section: Section, key: str) -> str | int:
    """Take the name or the number of an output."""
    expected = "the name or the number of an output"
    value = section.raw(key, expected)
    if isinstance(value, str) or (type(value) is int and value >= 0):
        return value
    section.wrong(key, expected, repr(value), "outputs are counted from 0")
    return 0
