# SPDX-License-Identifier: Apache-2.0
"""Whether the output without a fault is what the network's file says, by an independent reference."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from resil.record.typed import Count, OneOf, Typed, wrong

EQUAL, DIFFERS, NOT_COMPARED = STATES = ("equal", "differs", "not compared")


class GoldenComparison(Typed):
    """The output of the run without a fault, against an independent integer reference of the network."""

    state: Annotated[str, OneOf(STATES)]
    """`equal`; `differs`, which the campaign accepted; `not compared` where no reference can be had."""
    reference: str
    """What the output was compared with, and its version; empty if with nothing."""
    inputs: Count
    """Inputs that were compared."""
    elements: Count
    """Elements of their outputs."""
    differing: Count
    """Elements that differ."""
    text: str
    """Which operation and element differ first, with both values; or why nothing was compared."""

    @classmethod
    def none(cls, reason: str) -> Self:
        """Return that nothing was compared."""
        return cls(state=NOT_COMPARED, reference="", inputs=0, elements=0, differing=0, text=reason)

    @property
    def caveat(self) -> str:
        """What stands beside a verdict in a few words if the outputs are not the network's; else ""."""
        return "golden output is not the network's" if self.state == DIFFERS else ""

    @property
    def remark(self) -> str:
        """What a verdict says of the golden output; "" if it was compared and is equal."""
        return "" if self.state == EQUAL else self.sentence

    @property
    def sentence(self) -> str:
        """The comparison in a sentence."""
        if self.state == NOT_COMPARED:
            return f"The golden output was compared with no independent reference: {self.text}."
        if self.state == EQUAL:
            return (
                f"The golden output is that of {self.reference}: {self.elements:,} elements of "
                f"{self.inputs:,} inputs are equal."
            )
        return (
            f"The golden output is not the network's, which was accepted: {self.differing:,} of "
            f"{self.elements:,} elements differ from {self.reference}; {self.text}. All figures are of this "
            "other computation."
        )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        state = NOT_COMPARED if not self.reference else DIFFERS if self.differing else EQUAL
        if self.state != state:
            wrong("state", f"{state!r}, as the other fields say", self.state)
        return self
