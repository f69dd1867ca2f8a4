# SPDX-License-Identifier: Apache-2.0
"""The contents of `protection.json`, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from resil.record import numbers
from resil.record.campaign_facts import STATUSES
from resil.record.node import Node

SCHEMA = 6
_SHARES = ("fit_share_target", "due_fit_target")
RESULTS = ("optimal", "infeasible", "not_needed")
_FILE = "protection.json"
_REMEDY = "the file is damaged or of another version: write it anew with 'resil protect RUN_DIR'"


@dataclass(frozen=True, slots=True)
class Choice:
    """The option chosen for a block. Areas in the summary's unit, rates in FIT.

    Hardened cells upset less: `base_factor` is the share of the hazardous rate that is left for that alone.
    Of what is left `coverage` is detected or corrected. `fit_raw_after` is the upset rate with them.
    """

    block: str
    option: str
    option_title: str
    area: float
    area_added: float
    fit_before: float | None
    fit_after: float | None
    fit_hi_before: float
    fit_hi_after: float
    source: str
    status: str
    base_factor: float
    coverage: float
    fit_raw_after: float


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A set of options that no other set beats in both area and FIT.

    Attributes:
        area_added: In the summary's area unit.
        area_overhead: Fraction of the unprotected area.
        fit_hi: Upper bound of residual FIT.
        choices: Option of each block.
    """

    area_added: float
    area_overhead: float
    fit_hi: float
    choices: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What new injections into the protected RTL said, on the network with the highest upper limit.

    Attributes:
        confirmed: The plan holds by them alone.
        fit: Hazardous rate that was measured, in FIT.
        fit_lo: Its lower limit.
        fit_hi: Its upper limit.
        spfm_lo: Lower limit of SPFM.
        injections: On all networks.
        reasons: Why it is not confirmed.
    """

    confirmed: bool
    fit: float
    fit_lo: float
    fit_hi: float
    spfm_lo: float
    injections: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protection:
    """All of `protection.json`; None where a figure does not exist for the result.

    Added areas are those of synthesis where `area_measured` says so, else by the figures of the options.
    """

    budget_fit: float | None
    result: str
    spfm_target: float | None
    choices: tuple[Choice, ...]
    area_unprotected: float
    area_added: float | None
    area_overhead: float | None
    area_overhead_lockstep: float | None
    fit_hi_unprotected: float
    fit_hi: float | None
    fit: float | None
    fit_raw_before: float
    fit_raw_after: float | None
    spfm_before: float | None
    spfm_lo_before: float | None
    spfm: float | None
    spfm_lo: float | None
    bound: float | None
    gap: float | None
    pareto: tuple[FrontPoint, ...]
    assumptions: tuple[str, ...]
    predicted: bool
    fit_share_target: float | None = None
    due_fit_target: float | None = None
    built: bool = False
    area_measured: bool = False
    confirmation: Confirmation | None = None
    waived: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """What was asked for, in words."""
        parts = []
        if self.budget_fit is not None:
            parts.append(f"a budget of {numbers.given(self.budget_fit)} FIT")
        if self.spfm_target is not None:
            parts.append(f"SPFM of at least {numbers.percent(self.spfm_target)}")
        if self.fit_share_target is not None:
            parts.append(f"at most {numbers.percent(self.fit_share_target)} of the FIT without protection")
        if self.due_fit_target is not None:
            parts.append(f"at most {numbers.given(self.due_fit_target)} FIT detected")
        return " and ".join(parts) + "".join(f" ({text})" for text in self.waived)

    @property
    def protects(self) -> bool:
        """Whether the choice has any protection in it."""
        return any(choice.option != "none" for choice in self.choices)


def parse_protection(document: Mapping[str, object]) -> Protection:
    """Check a decoded `protection.json` and return it typed. Unknown fields are ignored.

    Raises:
        ReportError: A field is missing or wrong.
    """
    root = Node(document, _FILE, _REMEDY)
    if root.at("schema").integer() != SCHEMA:
        root.at("schema").fail(f"schema {SCHEMA}")
    result = root.at("result").one_of(RESULTS)
    if result == "optimal":
        for key in ("area_added", "area_overhead", "fit_hi"):
            root.at(key).number()
    if all(root.maybe(key) is None for key in ("budget_fit", "spfm_target", *_SHARES)):
        root.at("budget_fit").fail("a budget, as there is no spfm_target")
    front = tuple(_front_point(node) for node in root.at("pareto").items())
    return _with_area(root, _planned(root, result, front))


def confirmation_line(protection: Protection) -> str:
    """Return what injection into the built protection said, in a sentence; "" if nothing was built."""
    found = protection.confirmation
    if found is None:
        return "Built; NOT CONFIRMED by injection." if protection.built else ""
    measured = (
        f"{numbers.fit(found.fit)} [{numbers.fit(found.fit_lo)}, {numbers.fit(found.fit_hi)}] FIT, SPFM at "
        f"least {numbers.spfm(found.spfm_lo)} by {numbers.count(found.injections)} new injections"
    )
    if found.confirmed:
        return f"CONFIRMED by injection: {measured}."
    return f"NOT CONFIRMED by injection: {measured}; {'; '.join(found.reasons)}."


def _planned(root: Node, result: str, front: tuple[FrontPoint, ...]) -> Protection:
    return Protection(
        budget_fit=_optional(root, "budget_fit"),
        result=result,
        spfm_target=_optional(root, "spfm_target"),
        choices=tuple(_choice(node) for node in root.at("choices").items()),
        area_unprotected=root.at("area_unprotected").number(),
        area_added=_optional(root, "area_added"),
        area_overhead=_optional(root, "area_overhead"),
        area_overhead_lockstep=_optional(root, "area_overhead_lockstep"),
        fit_hi_unprotected=root.at("fit_hi_unprotected").number(),
        fit_hi=_optional(root, "fit_hi"),
        fit=_optional(root, "fit"),
        fit_raw_before=root.at("fit_raw_before").number(),
        fit_raw_after=_optional(root, "fit_raw_after"),
        spfm_before=_optional(root, "spfm_before"),
        spfm_lo_before=_optional(root, "spfm_lo_before"),
        spfm=_optional(root, "spfm"),
        spfm_lo=_optional(root, "spfm_lo"),
        bound=_optional(root, "bound"),
        gap=_optional(root, "gap"),
        pareto=tuple(sorted(front, key=lambda point: (point.area_added, point.fit_hi))),
        assumptions=tuple(node.text() for node in root.at("assumptions").items()),
        fit_share_target=_given(root, "fit_share_target"),
        due_fit_target=_given(root, "due_fit_target"),
        predicted=root.at("from_estimate").flag(),
        built=root.maybe("rtl") is not None,
        confirmation=_confirmation(root),
        waived=tuple(node.text() for node in root.at("waived").items()),
    )


def _with_area(root: Node, planned: Protection) -> Protection:
    """Return a plan with measured areas, if all that was added is in them: hardened cells are not."""
    measured = root.maybe("area_measured")
    if measured is None or measured.at("hardened_included").value is False:
        return planned
    blocks = measured.at("blocks")
    added = {name: blocks.at(name).at("after").number() for name in blocks.mapping()}
    choices = tuple(
        replace(choice, area_added=added[choice.block] - blocks.at(choice.block).at("before").number())
        if choice.block in added
        else choice
        for choice in planned.choices
    )
    return replace(
        planned,
        choices=choices,
        area_added=measured.at("added").number(),
        area_overhead=measured.at("overhead").number(),
        area_measured=True,
    )


def _confirmation(root: Node) -> Confirmation | None:
    measured = root.maybe("measured")
    if measured is None:
        return None
    return Confirmation(
        confirmed=root.at("confirmed").flag(),
        fit=measured.at("fit").number(),
        fit_lo=measured.at("fit_lo").number(),
        fit_hi=measured.at("fit_hi").number(),
        spfm_lo=measured.at("spfm_lo").number(),
        injections=int(measured.at("injections").number()),
        reasons=tuple(node.text() for node in root.at("reasons").items()),
    )


def _optional(node: Node, key: str) -> float | None:
    node.at(key)
    return _given(node, key)


def _given(node: Node, key: str) -> float | None:
    found = node.maybe(key)
    return None if found is None else found.number()


def _choice(node: Node) -> Choice:
    return Choice(
        block=node.at("block").text(),
        option=node.at("option").text(),
        option_title=node.at("option_title").text(),
        area=node.at("area").number(),
        area_added=node.at("area_added").number(),
        fit_before=_optional(node, "fit_before"),
        fit_after=_optional(node, "fit_after"),
        fit_hi_before=node.at("fit_hi_before").number(),
        fit_hi_after=node.at("fit_hi_after").number(),
        source=node.at("source").text(),
        status=node.at("status").one_of(STATUSES),
        base_factor=node.at("base_factor").number(maximum=1.0),
        coverage=node.at("coverage").number(maximum=1.0),
        fit_raw_after=node.at("fit_raw_after").number(),
    )


def _front_point(node: Node) -> FrontPoint:
    choices = node.at("choices")
    return FrontPoint(
        area_added=node.at("area_added").number(),
        area_overhead=node.at("area_overhead").number(),
        fit_hi=node.at("fit_hi").number(),
        choices={block: choices.at(block).text() for block in choices.mapping()},
    )
