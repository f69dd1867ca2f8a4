# SPDX-License-Identifier: Apache-2.0
"""The safety verdict and the assumptions of use of a run, as `summary.json` has them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from resil.record import numbers
from resil.record.interval import RecordedInterval, require_order
from resil.record.typed import Amount, OneOf, Share, Typed, wrong

STATES = ("met", "missed", "inconclusive", "not assessed")
State = Annotated[str, OneOf(STATES)]
_TITLES = {
    "spfm_transient": "SPFM, transient faults",
    "spfm_permanent": "SPFM, permanent faults",
    "lfm_permanent": "LFM, permanent faults",
    "pmhf_share": "PMHF share",
    "due_rate": "rate of detected failures (DUE)",
    "detection_time": "detections in time",
    "spfm_in_use": "SPFM, transient faults, storage in use",
    "single_point_transient": "single-point faults, transient",
    "residual_transient": "residual faults, transient",
    "safe_transient": "safe faults, transient",
    "single_point_permanent": "single-point faults, permanent",
    "residual_permanent": "residual faults, permanent",
    "latent_permanent": "latent faults, permanent",
    "safe_permanent": "safe faults, permanent",
    "dedicated_measures": "dedicated measures, ASIL C and D",
    "sensitivity": "sensitivity",
}
COVERAGE_PERMANENT = "coverage_permanent of "


class UnaidedRow(Typed):
    """A row of the verdict if nobody reacts to what is detected."""

    state: State
    """At the worst corner of the raw rates."""
    value: Amount | None
    """Estimate at their centre; null if not assessed."""
    lo: Amount | None
    """Its lower limit."""
    hi: Amount | None
    """Its upper limit."""
    corner: str
    """Corner of the ranges of raw rates that decides."""
    corner_limit: Amount | None
    """The limit on the safe side at that corner."""


class SafetyRow(Typed):
    """A row of the verdict; figures are null where nothing is known, or nothing was asked.

    Figures are those at the centre of the raw rates, the state is that of the worst corner of their ranges.
    """

    name: str
    """Of the row, as campaigns claim it."""
    state: State
    """A limit on the safe side that meets the target is `met`; nothing else is."""
    unit: Annotated[str, OneOf(("share", "FIT"))]
    """Of value, limits and target."""
    value: Amount | None
    """Estimate; null if not assessed."""
    lo: Amount | None
    """Its lower limit."""
    hi: Amount | None
    """Its upper limit."""
    at_least: bool
    """Whether the target is the least that is allowed, else the most."""
    target: Amount | None
    """Null if none was asked for."""
    confidence: Share | None
    """With which the limit on the safe side holds."""
    origin: str
    """Which injections and data it comes from."""
    reason: str
    """Why the state is what it is."""
    centre_state: State
    """The state at the centre of the raw rates."""
    corner: str
    """Corner of the ranges of raw rates that decides."""
    corner_limit: Amount | None
    """The limit on the safe side at that corner."""
    unaided: UnaidedRow | None
    """The row if nobody reacts to what is detected; null where that makes no difference."""

    @property
    def interval(self) -> RecordedInterval | None:
        """Value and limits; None if not assessed."""
        if self.value is None or self.lo is None or self.hi is None:
            return None
        return RecordedInterval(self.value, self.lo, self.hi)

    @property
    def limit(self) -> float | None:
        """The limit on the safe side; None if not assessed."""
        return self.lo if self.at_least else self.hi

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.interval is not None:
            require_order(self.interval, "value with lo and hi")
        elif (self.value, self.lo, self.hi) != (None, None, None):
            wrong("value", "value, lo and hi, or none of them", [self.value, self.lo, self.hi])
        if self.unit == "share" and max(self.hi or 0.0, self.target or 0.0) > 1.0 + 1e-9:
            wrong("value", "shares from 0 to 1", [self.value, self.lo, self.hi, self.target])
        if self.state == "met" and self.name != "sensitivity" and not self._meets:
            expected = "a limit on the safe side that meets the target, as the state is 'met'"
            wrong("state", expected, self.state)
        return self

    @property
    def _meets(self) -> bool:
        if self.limit is None or self.target is None:
            return False
        return self.limit >= self.target if self.at_least else self.limit <= self.target

    @property
    def title(self) -> str:
        """The row's name for people."""
        if self.name.startswith(COVERAGE_PERMANENT):
            return f"coverage of {self.name.removeprefix(COVERAGE_PERMANENT)}, permanent faults"
        return _TITLES.get(self.name, self.name)

    @property
    def shown_value(self) -> str:
        """Estimate with its interval."""
        if self.interval is None:
            return numbers.NOT_KNOWN
        if self.unit == "share":
            lo, hi = numbers.spfm(self.lo), numbers.spfm(self.hi)
            return f"{numbers.spfm(self.value)} [{lo}, {hi}]"
        return f"{numbers.fit(self.value)} FIT {numbers.fit_range(self.interval)}"

    @property
    def shown_unaided(self) -> str:
        """State and limit if nobody reacts to what is detected; "" where that makes no difference."""
        if self.unaided is None:
            return ""
        limit = self.unaided.lo if self.at_least else self.unaided.hi
        return f"{self.unaided.state}, {numbers.NOT_KNOWN if limit is None else self._figure(limit)}"

    @property
    def shown_corner(self) -> str:
        """The corner that decides, in short."""
        return self.corner.removeprefix("raw rates of ").removesuffix(" of the raw rates")

    @property
    def shown_limit(self) -> str:
        """The limit on the safe side."""
        return numbers.NOT_KNOWN if self.limit is None else self._figure(self.limit)

    @property
    def shown_target(self) -> str:
        """The target with its relation."""
        if self.target is None:
            return ""
        return f"{'>=' if self.at_least else '<='} {self._figure(self.target, given=True)}"

    @property
    def shown_confidence(self) -> str:
        """With which the limit on the safe side holds."""
        return "" if self.confidence is None else numbers.confidence(self.confidence)

    def _figure(self, value: float, *, given: bool = False) -> str:
        if self.unit == "share":
            return f"{100.0 * value:.6g} %" if given else numbers.spfm(value)
        return f"{numbers.given(value) if given else numbers.fit(value)} FIT"


class Variation(Typed):
    """Rows judged again under other credits or raw rates."""

    title: str
    """What is other."""
    rows: tuple[SafetyRow, ...]
    """The rows that rest on it."""


class Safety(Typed):
    """The answer to the safety claims: no better than the worst claimed row."""

    result: State
    """Of all claims together."""
    reason: str
    """Why."""
    confidence: Share | None
    """With which "all met" is right, if that is said."""
    joint_confidence: Share | None
    """With which all limits of the claimed rows hold at once, at least."""
    claims: tuple[str, ...]
    """Names of the claimed rows."""
    asil: str | None
    """The level that targets are of; null if none was named."""
    rows: tuple[SafetyRow, ...]
    """Every row."""
    sensitivity: tuple[Variation, ...]
    """Rows judged again without credits and across raw rates."""

    @model_validator(mode="after")
    def _no_better_than_its_rows(self) -> Self:
        met = {row.name for row in self.rows if row.state == "met"}
        if self.result == "met" and (not self.claims or not set(self.claims) <= met):
            wrong("result", "a result as good as the worst claimed row", self.result)
        return self

    @property
    def shown_confidence(self) -> str:
        """What confidence the verdict as a whole has, in a sentence; "" if it has none."""
        if self.confidence is None or self.joint_confidence is None:
            return ""
        sure = numbers.confidence(self.joint_confidence)
        joint = f"all limits of the claimed rows hold at once with {sure} or more"
        if self.result != "met":
            return f"{joint.capitalize()} confidence."
        return (
            f"That all claimed rows are met is said with {numbers.confidence(self.confidence)} confidence, "
            f"that of the weakest row; {joint}."
        )


class Assumption(Typed):
    """One assumption of use."""

    topic: str
    """In a word or two."""
    text: str
    """What must hold, and what if it does not."""
