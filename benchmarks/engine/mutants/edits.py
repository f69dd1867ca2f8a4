# SPDX-License-Identifier: Apache-2.0
"""What a mutant is: small edits of the sources, what they break, and the tests that notice it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class MutantCampaign(Enum):
    """The campaign that shows what of a mutant's answers is wrong."""

    PLAIN = "upsets on the fast engine"
    LANES = "upsets on the fast engine, with a lane model"
    LOGIC = "held pins, open inputs and pulses on the engines of logic"


class AnchorError(Exception):
    """The text that an edit replaces is not there, or not once: the mutant has to be written anew."""


@dataclass(frozen=True)
class Edit:
    """Text of a file, which it has exactly once, and what takes its place."""

    file: str
    old: str
    new: str

    def applied(self, text: str) -> str:
        """Return the changed text."""
        if (found := text.count(self.old)) != 1:
            raise AnchorError(f"{self.file}: expected once, found {found} times: {self.old!r}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Mutant:
    """An engine that does one thing wrong.

    Attributes:
        name: Of the mutant.
        breaks: What it does wrong, in a few words.
        edits: What is changed.
        tests: Tests that fail with it.
        campaign: Of its answers; None of a mutant that changes none.
    """

    name: str
    breaks: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]
    campaign: MutantCampaign | None = MutantCampaign.PLAIN
