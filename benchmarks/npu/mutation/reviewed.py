# SPDX-License-Identifier: Apache-2.0
"""Mutants that a person has looked at: why nothing that README.md specifies depends on them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testkit.npu.mutation.sites import Mutation

_FILE = Path(__file__).with_name("reviewed.toml")


@dataclass(frozen=True)
class Review:
    """Mutants of one kind of expression.

    Attributes:
        file: Pattern that the whole name of the file matches.
        context: Pattern that the whole source line matches.
        change: Pattern that the whole change matches, as `Mutation.change` has it.
        reason: Why they do no harm.
    """

    file: re.Pattern[str]
    context: re.Pattern[str]
    change: re.Pattern[str]
    reason: str

    def takes(self, mutation: Mutation) -> bool:
        """Whether the mutant is one of these."""
        return (
            self.file.fullmatch(mutation.file.name) is not None
            and self.context.fullmatch(mutation.context) is not None
            and self.change.fullmatch(mutation.change) is not None
        )


def read_reviews() -> list[Review]:
    """Return what `reviewed.toml` says."""
    entries = tomllib.loads(_FILE.read_text(encoding="utf-8"))["reviewed"]
    return [
        Review(re.compile(e["file"]), re.compile(e["line"]), re.compile(e.get("change", ".*")), e["reason"])
        for e in entries
    ]


def review_of(mutation: Mutation, reviews: Sequence[Review]) -> str:
    """Return why the mutant does no harm, "" if nobody has said so."""
    return next((review.reason for review in reviews if review.takes(mutation)), "")
