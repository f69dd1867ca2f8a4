# SPDX-License-Identifier: Apache-2.0
"""From the content of `study.json` to what is shown of it; each field is checked."""

from __future__ import annotations

from collections.abc import Mapping

from resil.record.interval import Interval
from resil.record.node import Node, ordered_interval
from resil.record.study import (
    CLAIM_RESULTS,
    PROTECTIONS,
    VERDICTS,
    Asked,
    Claim,
    Growth,
    StudyCell,
    StudyClass,
    StudyProtection,
    StudySummary,
    StudyTime,
    Trend,
)

_OF_ALL = ("met", "missed", "inconclusive", "none")
_TRENDS = ("grows", "shrinks", "constant", "not shown")
_FILE = "study.json"
_REMEDY = "make it again with: resil study STUDY.toml --out OUT --resume"
_TOTAL = "total"
_PRECISION = ("margin", "half_width")


def parse_study(document: Mapping[str, object]) -> StudySummary:
    """Return the content of `study.json`, typed.

    Raises:
        ReportError: a field is missing or wrong, or an unanswered cell claims a verdict.
    """
    root = Node(document, _FILE, _REMEDY)
    verdict = root.at("verdict")
    finished = root.maybe("finished")
    return StudySummary(
        root.at("name").text(),
        root.at("resil").text(),
        _asked(root.at("asked")),
        verdict.at("result").one_of(_OF_ALL),
        verdict.at("reason").text(),
        root.at("confidence").number(0.0, 1.0),
        tuple(_cell(node) for node in root.at("cells").items()),
        tuple(_protection(node) for node in root.at("protection").items()),
        tuple(_claim(node) for node in root.at("claims").items()),
        _growth(root.at("growth")),
        tuple(_class(node) for node in root.at("classes").items()),
        root.at("seconds").number(),
        tuple(_time(node) for node in root.at("spent").items()),
        root.at("started").text(),
        finished.text() if finished else "",
        {name: str(value) for name, value in root.at("definition").mapping().items()},
    )


def _asked(node: Node) -> Asked:
    budget, rationale, asil = node.maybe("budget_fit"), node.maybe("rationale"), node.maybe("asil")
    kept = node.maybe("protection")
    values = {} if kept is None else {name: kept.maybe(name) for name in kept.mapping()}
    return Asked(
        None if budget is None else budget.number(),
        rationale.text() if rationale else "",
        tuple(own.text() for own in node.at("hazardous").items()),
        tuple(own.text() for own in node.at("claims").items()),
        asil.text() if asil else "",
        {name: own.number() for name, own in values.items() if own is not None},
    )


def _cell(node: Node) -> StudyCell:
    verdict = node.at("verdict").one_of(VERDICTS)
    predicted = node.at("predicted").flag()
    fit = _interval(node, "fit")
    if (fit is None) != (verdict in ("failed", "not run")):
        node.fail("figures with a verdict, and none of a cell that has failed or was not run")
    if predicted and verdict in ("met", "missed"):
        node.fail("no decision of a cell that is only predicted")
    blocks = node.maybe("blocks")
    rows = {} if blocks is None else {row.at("block").text(): _interval(row, "fit") for row in blocks.items()}
    spfm = node.maybe("spfm")
    error, foreseen, reached = node.maybe("error"), node.maybe("foreseen"), node.maybe("reached")
    scope, titles = node.maybe("scope"), node.maybe("titles")
    margin, half = (None if (own := node.maybe(key)) is None else own.number() for key in _PRECISION)
    if (margin is None) != (reached is None) or (reached is not None and reached.flag() and half is None):
        node.fail("whether a margin that was asked for is reached, and the half width of one that is")
    return StudyCell(
        node.at("target").text(),
        node.at("network").text(),
        verdict,
        predicted,
        fit,
        {name: own for name, own in rows.items() if own is not None and name != _TOTAL},
        None if spfm is None else spfm.interval(1.0),
        node.at("injections").integer(),
        foreseen.text() if foreseen else "",
        margin,
        half,
        None if reached is None else reached.flag(),
        {} if titles is None else {block: titles.at(block).text() for block in titles.mapping()},
        scope.text() if scope else "",
        error.text() if error else "",
        node.at("run").text(),
        None if (unaided := node.maybe("spfm_unaided")) is None else unaided.interval(1.0),
        golden.text() if (golden := node.maybe("golden")) else "",
    )


def _class(node: Node) -> StudyClass:
    avf = ordered_interval(node, node.at("avf"), node.at("avf_lo"), node.at("avf_hi"), 1.0)
    networks = tuple(own.text() for own in node.at("networks").items())
    return StudyClass(node.at("target").text(), node.at("register_class").text(), avf, networks)


def _interval(node: Node, key: str) -> Interval | None:
    if node.maybe(f"{key}_lo") is None:
        return None
    return ordered_interval(node, node.at(key), node.at(f"{key}_lo"), node.at(f"{key}_hi"))


def _protection(node: Node) -> StudyProtection:
    result = node.at("result").one_of(PROTECTIONS)
    keys = ("overhead", "overhead_lockstep", "fit_hi", "spfm_lo")
    known = {key: None if (own := node.maybe(key)) is None else own.number() for key in keys}
    confirmed = node.maybe("confirmed")
    if (known["overhead"] is None) != (result in ("not reached", "not assessed")):
        node.fail("an area overhead of a set that was found, and none where there is none")
    return StudyProtection(
        node.at("target").text(),
        result,
        known["overhead"],
        known["overhead_lockstep"],
        tuple(own.text() for own in node.at("networks").items()),
        known["fit_hi"],
        known["spfm_lo"],
        None if confirmed is None else confirmed.flag(),
        node.at("reason").text(),
    )


def _time(node: Node) -> StudyTime:
    parts = (node.at(key).number() for key in ("builds", "cells", "protection"))
    return StudyTime(node.at("target").text(), *parts)


def _claim(node: Node) -> Claim:
    return Claim(
        node.at("claim").text(),
        node.at("result").one_of(CLAIM_RESULTS),
        tuple(own.text() for own in node.at("evidence").items()),
    )


def _growth(node: Node) -> Growth:
    parameter = node.maybe("parameter")
    return Growth(
        parameter.text() if parameter else "",
        tuple(own.text() for own in node.at("targets").items()),
        tuple(own.integer(1) for own in node.at("sizes").items()),
        tuple(own.text() for own in node.at("networks").items()),
        tuple(_trend(own) for own in node.at("rows").items()),
        node.at("reason").text(),
    )


def _trend(node: Node) -> Trend:
    columns = [[own.number(-float("inf")) for own in node.at(key).items()] for key in ("values", "lo", "hi")]
    keys = ("per_doubling", "per_doubling_lo", "per_doubling_hi")
    middle, low, high = (node.at(key).number(-float("inf")) for key in keys)
    return Trend(
        node.at("what").text(),
        node.at("block").text(),
        tuple(Interval(*own) for own in zip(*columns, strict=True)),
        Interval(middle, low, high),
        node.at("trend").one_of(_TRENDS),
    )
