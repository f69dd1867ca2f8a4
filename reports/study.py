"""The results of a study, typed: what `study.json` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reports.node import Interval, Node, ordered_interval

VERDICTS = ("met", "missed", "inconclusive", "not assessed", "none", "failed", "not run")
_OF_ALL = ("met", "missed", "inconclusive", "none")
PROTECTIONS = ("not needed", "reached", "not reached", "not assessed")
CLAIM_RESULTS = ("supported", "refuted", "open")
_TRENDS = ("grows", "shrinks", "constant", "not shown")
_FILE = "study.json"
_REMEDY = "make it again with: resil study STUDY.toml --out OUT --resume"
_TOTAL = "total"
_PRECISION = ("margin", "half_width")


@dataclass(frozen=True, slots=True)
class StudyClass:
    """AVF of a register class on a target, the mean over injected networks."""

    target: str
    name: str
    avf: Interval


@dataclass(frozen=True, slots=True)
class StudyCell:
    """A network on a target.

    Attributes:
        target: Name.
        network: Name.
        verdict: Out of `VERDICTS`.
        predicted: Nothing was injected.
        fit: Hazardous failures per 1e9 h; None without results.
        blocks: Likewise of each block; one that was not injected has none.
        spfm: Of the faults that were injected; None if there is none.
        injections: How many.
        foreseen: What a prediction foresees of the budget; "" if nothing.
        margin: Half width of the total's interval, as part of the estimate, that was asked for; None if none
            was.
        half_width: That of the interval; None without a failure, without results, or of a prediction.
        reached: Whether that is within the margin; None if none was asked for.
        titles: Blocks in words.
        scope: What the verdict is about.
        error: Why it failed; "" if it did not.
        run: Its folder.
    """

    target: str
    network: str
    verdict: str
    predicted: bool
    fit: Interval | None
    blocks: Mapping[str, Interval]
    spfm: Interval | None
    injections: int
    foreseen: str
    margin: float | None
    half_width: float | None
    reached: bool | None
    titles: Mapping[str, str]
    scope: str
    error: str
    run: str

    @property
    def answered(self) -> bool:
        """Whether it has results, injected or predicted."""
        return self.fit is not None


@dataclass(frozen=True, slots=True)
class Trend:
    """How a figure of a block goes with the size of the array.

    Attributes:
        what: "fit", "bits", "raw fit" or "area".
        block: Its name, or `total`.
        values: Of each size.
        per_doubling: What a doubling of the size adds; limits of any sign.
        trend: "grows", "shrinks", "constant" or "not shown".
    """

    what: str
    block: str
    values: tuple[Interval, ...]
    per_doubling: Interval
    trend: str


@dataclass(frozen=True, slots=True)
class Growth:
    """Trends over the targets, by the parameter that tells them apart; `reason` says why there are none."""

    parameter: str
    targets: tuple[str, ...]
    sizes: tuple[int, ...]
    networks: tuple[str, ...]
    trends: tuple[Trend, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class StudyProtection:
    """What is known of the protection of a target that holds for all its networks.

    Attributes:
        target: Its name.
        result: Out of `PROTECTIONS`.
        overhead: Area as a part of that without; None if no set was found.
        overhead_lockstep: Likewise of a second copy of everything; None if not known.
        networks: That it was judged on.
        fit_hi: Upper limit of what is left on the worst of them, in FIT; None if not known.
        spfm_lo: Lower limit of SPFM on the worst; None if not known.
        confirmed: Whether new injections into the protected RTL have confirmed it; None if it was not tried.
        reason: On what it rests, or why there is none.
    """

    target: str
    result: str
    overhead: float | None
    overhead_lockstep: float | None
    networks: tuple[str, ...]
    fit_hi: float | None
    spfm_lo: float | None
    confirmed: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence about all configurations, out of `CLAIM_RESULTS`, and a line of evidence for each."""

    claim: str
    result: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the verdicts are about.

    Attributes:
        budget_fit: Most hazardous failures per 1e9 h; None without a budget.
        rationale: Of the budget; "" without one.
        hazardous: Outcomes that count.
        claims: Safety rows that are claimed.
        asil: Level that gives their targets; "" if none does.
        protection: What a set of protection has to keep, by name; empty if none is asked for.
    """

    budget_fit: float | None
    rationale: str
    hazardous: tuple[str, ...]
    claims: tuple[str, ...]
    asil: str
    protection: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class StudySummary:
    """All of `study.json` that is shown."""

    name: str
    resil: str
    asked: Asked
    result: str
    reason: str
    confidence: float
    cells: tuple[StudyCell, ...]
    protection: tuple[StudyProtection, ...]
    claims: tuple[Claim, ...]
    growth: Growth
    classes: tuple[StudyClass, ...]
    seconds: float
    started: str
    finished: str
    definition: Mapping[str, str]

    @property
    def targets(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(cell.target for cell in self.cells))

    @property
    def networks(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(cell.network for cell in self.cells))

    def titled(self, block: str) -> str:
        """Return a block in words, with its name; the name alone if it has no words."""
        words = next((own.titles[block] for own in self.cells if own.titles.get(block)), "")
        return f"{words} ({block})" if words else block

    def cell(self, target: str, network: str) -> StudyCell:
        """Return the cell of a network on a target."""
        return next(own for own in self.cells if (own.target, own.network) == (target, network))


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
    )


def _class(node: Node) -> StudyClass:
    avf = ordered_interval(node, node.at("avf"), node.at("avf_lo"), node.at("avf_hi"), 1.0)
    return StudyClass(node.at("target").text(), node.at("register_class").text(), avf)


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
