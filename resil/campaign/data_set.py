# SPDX-License-Identifier: Apache-2.0
"""The table `[network.inputs]`: inputs that are drawn from a data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resil.campaign.declaration import ABSENT, Key, KeyTable
from resil.campaign.section import Section

HELD_OUT = "held-out"
PLANNED = "planned"
_SUFFIXES = (".npy", ".npz")
_MOST = 100_000
IMAGES = (".png", ".pgm")
IN_FOLDER = (".npy", *IMAGES)

DATA_SET = KeyTable(
    "network.inputs",
    "Inputs that are drawn from a data set: a sample of the inputs that the network will meet.",
    (
        Key(
            "from",
            "string",
            '`"held-out"`, the held-out split of a zoo network; or the path of a `.npy` or `.npz` file as '
            "`inputs` may be, or of a folder with a `.npy`, `.png` or `.pgm` file for each input.",
        ),
        Key(
            "draw",
            "integer or string",
            'How many are drawn, without replacement. `"planned"`: as many as a pilot says are worth their '
            "cost, at most `most`.",
            ABSENT,
        ),
        Key("most", "integer", 'With `draw = "planned"`, the most that are drawn.', 256, 2, _MOST),
        Key(
            "hardest",
            "integer",
            "In place of `draw`: so many inputs on which the decision is closest, by the functional model. "
            "They are a search, no sample: the figures are for these inputs alone.",
            ABSENT,
            1,
            _MOST,
        ),
        Key("seed", "integer", "Of the draw.", 1, 0, 2**63 - 1),
        Key(
            "pixels",
            "list of 2 numbers",
            "Real values that the darkest and the lightest level of an image file stand for.",
            (0.0, 1.0),
        ),
    ),
)


@dataclass(frozen=True)
class DataSet:
    """Inputs out of many.

    Attributes:
        source: A file, or a folder of a file for each input; None for the held-out split of a zoo network.
        draw: How many are drawn at random; 0 if they are searched for; None if a pilot is to say.
        hardest: How many are searched for; 0 if they are drawn.
        seed: Of the draw.
        most: That a pilot may ask for.
        pixels: Real values of the darkest and the lightest level of an image file.
    """

    source: Path | None
    draw: int | None
    hardest: int = 0
    seed: int = 1
    most: int = 256
    pixels: tuple[float, float] = (0.0, 1.0)

    @property
    def drawn(self) -> bool:
        """Whether the inputs are a random sample of the data set."""
        return not self.hardest

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that hold it, of a folder in the order of their names; none of a held-out split."""
        if self.source is None or not self.source.is_dir():
            return () if self.source is None else (self.source,)
        found = (path for path in self.source.iterdir() if path.suffix.lower() in IN_FOLDER)
        return tuple(sorted(found))

    @property
    def title(self) -> str:
        """The data set, for people."""
        return "the held-out split" if self.source is None else str(self.source)

    def as_table(self) -> dict[str, str | int | list[float]]:
        """Return the table that is read back as the same."""
        table: dict[str, str | int | list[float]] = {"from": str(self.source or HELD_OUT)}
        if self.hardest:
            table["hardest"] = self.hardest
        else:
            table |= {"draw": PLANNED if self.draw is None else self.draw, "seed": self.seed}
        if self.draw is None:
            table["most"] = self.most
        return table | ({"pixels": list(self.pixels)} if self.pixels != (0.0, 1.0) else {})


def read_data_set(section: Section, *, zoo: bool) -> DataSet:
    """Check the table.

    Args:
        section: The table.
        zoo: The network is one of the zoo, which has a held-out split.
    """
    source = _source(section, zoo)
    hardest = section.integer("hardest") if section.has("hardest") else 0
    draw = 0 if hardest else _draw(section)
    for key in ("draw", "seed"):
        if hardest and section.has(key):
            section.wrong(key, "either draw or hardest", "both", "a search is no draw: remove one")
    most, seed = section.integer("most"), section.integer("seed")
    if section.has("most") and draw is not None:
        section.wrong("most", f'the key with draw = "{PLANNED}" only', repr(draw), "remove it")
    low, high = section.numbers("pixels", 2)
    if not low < high:
        section.wrong("pixels", "two values, the lower first", f"{low:g} and {high:g}", "change the order")
    section.finish()
    return DataSet(source, draw, hardest, seed, most, (low, high))


def _source(section: Section, zoo: bool) -> Path | None:
    text = section.text("from")
    expected = "a .npy or .npz file, or a folder" + (f', or "{HELD_OUT}"' if zoo else "")
    if text == HELD_OUT:
        if not zoo:
            section.wrong("from", expected, f'"{HELD_OUT}"', "only zoo networks have a held-out split")
        return None
    if not section.sound("from"):
        return None
    folder = section.folder("from")
    if folder.is_dir():
        return folder
    path = section.path("from", expected)
    if section.sound("from") and path.suffix not in _SUFFIXES:
        section.wrong("from", expected, f'"{path.name}"', "convert it, or name the folder of its images")
    return path


def _draw(section: Section) -> int | None:
    expected = f'an integer from 1 to {_MOST:,}, or "{PLANNED}"'
    value = section.raw("draw", expected)
    if value == PLANNED:
        return None
    if type(value) is int and 1 <= value <= _MOST:
        return value
    section.wrong("draw", expected, repr(value), "change the value")
    return 1
