# SPDX-License-Identifier: Apache-2.0
"""What `resil validate` found: evidence that this installation does what it says, `validation.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.typed import Amount, Count, Document, OneOf, Typed, wrong

PASSED, FAILED, NOT_MADE = STATES = ("passed", "failed", "not made")
# What has to be there for the evidence to be whole, with what each shows.
CHECKS = {
    "truth": "every fault of a small design ends as a model of it says that shares nothing with any engine",
    "independent": "the engine plain, a Verilator build with another driver, gives the same injections",
    "coverage": "intervals of whole campaigns hold the enumerated truth as often as they claim",
    "mutants": "faults put into engine, rules, statistics and RTL on purpose are noticed by these checks",
    "restart": "a campaign that is killed and resumed, or enlarged, holds the same rows as one in one go",
}


class ValidationCheck(Typed):
    """One check of the validation."""

    name: Annotated[str, OneOf(tuple(CHECKS))]
    """Which."""
    state: Annotated[str, OneOf(STATES)]
    """What came of it; `not made` if something it needs is missing."""
    tried: Count
    """How many cases were tried: faults, intervals, mutants or rows."""
    wrong: Count
    """How many of them came out otherwise; of mutants, how many nothing noticed; of intervals, how many
    missed the truth, which a part of them may."""
    text: str
    """What was done and found, in sentences."""
    details: Mapping[str, str]
    """The same case by case, for people."""
    seconds: Amount
    """Time that it took."""

    @property
    def shows(self) -> str:
        """What it shows when it passes."""
        return CHECKS[self.name]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.state == PASSED and not self.tried:
            wrong("state", "a check that tried something, as it passed", self.state)
        if self.state == PASSED and self.wrong and self.name != "coverage":
            wrong("state", "'failed', as something came out otherwise", self.state)
        return self


class Validation(Document):
    """Evidence that this installation of resil does what it says, made by `resil validate`.

    It is of the installation that made it: what is of another version, of other files or of other tools
    says nothing of this one.
    """

    FILE: ClassVar[str] = "validation.json"
    SCHEMA: ClassVar[Literal[1]] = 1
    REMEDY: ClassVar[str] = "make it again with: resil validate"

    schema_number: Literal[1] = Field(alias="schema")
    """Of this file."""
    quick: bool
    """Whether it was the short one: fewer campaigns and mutants, and nothing of the NPU."""
    passed: bool
    """Whether all checks were made and passed."""
    checks: tuple[ValidationCheck, ...]
    """Each check, once."""
    resil: str
    """Version of resil."""
    package: str
    """SHA-256 of all files of the installed package."""
    design: str
    """SHA-256 of the small design and of the model of it."""
    versions: Mapping[str, str]
    """Version of each package that counts."""
    compiler: str
    """The C++ compiler that simulators were built with."""
    python: str
    """Version of Python."""
    platform: str
    """Operating system and processor."""
    seed: int
    """The seed that all random choices come from."""
    seconds: Amount
    """Time that it took."""
    made: str
    """When (ISO 8601, UTC)."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [check.name for check in self.checks]
        if sorted(names) != sorted(CHECKS):
            wrong("checks", f"each of {', '.join(CHECKS)} once", names)
        if self.passed != all(check.state == PASSED for check in self.checks):
            wrong("passed", f"{not self.passed}, as the checks say", self.passed)
        return self
