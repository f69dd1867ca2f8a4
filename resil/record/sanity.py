# SPDX-License-Identifier: Apache-2.0
"""Whether what a run watched could have shown a failure at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import model_validator

from resil.record.typed import OneOf, Typed, wrong

PASSED, FAILED, NOT_TESTED = STATES = ("passed", "failed", "not tested")


class Check(Typed):
    """One check of the output that a run watched."""

    name: Annotated[str, OneOf(("written", "varies", "reached"))]
    """What is checked: that the output is written, varies with the input, and is reached by some fault."""
    state: Annotated[str, OneOf(STATES)]
    """What came of it."""
    text: str
    """What was expected and found, and what to do if it failed."""

    @classmethod
    def of(cls, name: str, state: str, text: str) -> Self:
        """Return the check of these values."""
        return cls(name=name, state=state, text=text)


class Sanity(Typed):
    """All checks of a run; its verdict counts only if none failed."""

    failed: bool
    """Whether the run measured nothing that a verdict can rest on."""
    checks: tuple[Check, ...]
    """Each check."""

    @classmethod
    def of(cls, checks: Sequence[Check]) -> Self:
        """Return these checks together."""
        return cls(failed=any(check.state == FAILED for check in checks), checks=tuple(checks))

    @property
    def reason(self) -> str:
        """Why no verdict is given; "" if nothing failed."""
        return " ".join(check.text for check in self.checks if check.state == FAILED)

    @property
    def note(self) -> str:
        """All checks, for the notes of a report."""
        found = "; ".join(f"{check.name}: {check.state} ({check.text.rstrip('.')})" for check in self.checks)
        return f"Checks of the watched output: {found}."

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.failed != any(check.state == FAILED for check in self.checks):
            wrong("failed", f"{not self.failed}, as the checks say", self.failed)
        return self
