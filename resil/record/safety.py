# SPDX-License-Identifier: Apache-2.0
"""The safety verdict and the assumptions of use of a run, as `summary.json` has them."""

from __future__ import annotations

from dataclasses import dataclass

from resil.record import numbers
from resil.record.node import Interval, Node, ordered_interval

STATES = ("met", "missed", "inconclusive", "not assessed")
_TITLES = {
    "spfm_transient": "SPFM, transient faults",
    "spfm_permanent": "SPFM, permanent faults",
    "lfm_permanent": "LFM, permanent faults",
    "pmhf_share": "PMHF share",
    "due_rate": "rate of detected failures (DUE)",
    "detection_time": "detections in time",
    "sensitivity": "sensitivity",
}
_UNITS = ("share", "FIT")


@dataclass(frozen=True, slots=True)
class SafetyRow:
    """A row of the verdict; figures are None where nothing is known, or nothing was asked."""

    name: str
    state: str
    unit: str
    at_least: bool
    value: Interval | None
    target: float | None
    confidence: float | None
    origin: str
    reason: str

    @property
    def title(self) -> str:
        """The row's name for people."""
        return _TITLES.get(self.name, self.name)

    @property
    def shown_value(self) -> str:
        """Estimate with its interval."""
        if self.value is None:
            return numbers.NOT_KNOWN
        if self.unit == "share":
            lo, hi = numbers.spfm(self.value.lo), numbers.spfm(self.value.hi)
            return f"{numbers.spfm(self.value.estimate)} [{lo}, {hi}]"
        return f"{numbers.fit(self.value.estimate)} FIT {numbers.fit_range(self.value)}"

    @property
    def shown_limit(self) -> str:
        """The limit on the safe side."""
        if self.value is None:
            return numbers.NOT_KNOWN
        return self._figure(self.value.lo if self.at_least else self.value.hi)

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


@dataclass(frozen=True, slots=True)
class Variation:
    """Rows judged again under other credits or raw rates."""

    title: str
    rows: tuple[SafetyRow, ...]


@dataclass(frozen=True, slots=True)
class Safety:
    """The verdict; `confidence` is that of "all met", `joint` that of all limits at once."""

    result: str
    reason: str
    asil: str | None
    claims: tuple[str, ...]
    confidence: float | None
    joint: float | None
    rows: tuple[SafetyRow, ...]
    sensitivity: tuple[Variation, ...]

    @property
    def shown_confidence(self) -> str:
        """What confidence the verdict as a whole has, in a sentence; "" if it has none."""
        if self.confidence is None or self.joint is None:
            return ""
        joint = f"all limits of the claimed rows hold at once with {numbers.confidence(self.joint)} or more"
        if self.result != "met":
            return f"{joint.capitalize()} confidence."
        return (
            f"That all claimed rows are met is said with {numbers.confidence(self.confidence)} confidence, "
            f"that of the weakest row; {joint}."
        )


@dataclass(frozen=True, slots=True)
class Assumption:
    """One assumption of use."""

    topic: str
    text: str


def parse_safety(node: Node) -> Safety:
    """Return the verdict; ReportError if it is damaged, or better than its worst claimed row."""
    rows = _rows(node.at("rows"))
    confidence, joint, asil = (node.maybe(key) for key in ("confidence", "joint_confidence", "asil"))
    safety = Safety(
        node.at("result").one_of(STATES),
        node.at("reason").text(),
        None if asil is None else asil.text(),
        tuple(item.text() for item in node.at("claims").items()),
        None if confidence is None else confidence.number(0.0, 1.0),
        None if joint is None else joint.number(0.0, 1.0),
        rows,
        tuple(
            Variation(item.at("title").text(), _rows(item.at("rows")))
            for item in node.at("sensitivity").items()
        ),
    )
    met = {row.name for row in rows if row.state == "met"}
    if safety.result == "met" and (not safety.claims or not set(safety.claims) <= met):
        node.at("result").fail("a result as good as the worst claimed row")
    return safety


def parse_assumptions(node: Node | None) -> tuple[Assumption, ...]:
    """Return the assumptions of use; none of a summary that has none."""
    items = [] if node is None else node.items()
    return tuple(Assumption(item.at("topic").text(), item.at("text").text()) for item in items)


def _rows(node: Node) -> tuple[SafetyRow, ...]:
    return tuple(_row(item) for item in node.items())


def _row(node: Node) -> SafetyRow:
    state, unit = node.at("state").one_of(STATES), node.at("unit").one_of(_UNITS)
    target, confidence, value = (node.maybe(key) for key in ("target", "confidence", "value"))
    most = 1.0 if unit == "share" else float("inf")
    at_least = node.at("at_least").value
    if not isinstance(at_least, bool):
        node.at("at_least").fail("true or false")
    found = (
        None
        if value is None
        else ordered_interval(node, node.at("value"), node.at("lo"), node.at("hi"), maximum=most)
    )
    row = SafetyRow(
        node.at("name").text(),
        state,
        unit,
        bool(at_least),
        found,
        None if target is None else target.number(maximum=most),
        None if confidence is None else confidence.number(0.0, 1.0),
        node.at("origin").text(),
        node.at("reason").text(),
    )
    if state == "met" and row.name != "sensitivity" and not _meets(row):
        node.at("state").fail("a limit on the safe side that meets the target, as the state is 'met'")
    return row


def _meets(row: SafetyRow) -> bool:
    if row.value is None or row.target is None:
        return False
    return row.value.lo >= row.target if row.at_least else row.value.hi <= row.target
