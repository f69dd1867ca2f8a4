# SPDX-License-Identifier: Apache-2.0
"""What a campaign file and a study file have in common: all tables but those of what runs on which target."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from resil.campaign.declaration import KeyTable
from resil.campaign.engines import chosen_engine, read_options
from resil.campaign.farm_settings import FarmSettings, read_farm
from resil.campaign.fault_settings import BRIDGE, LOGIC, FaultSettings, check_plan, read_faults
from resil.campaign.problems import Problems, UnreadError
from resil.campaign.safety import SafetySettings, read_safety
from resil.campaign.sampling_settings import SamplingSettings, read_sampling
from resil.campaign.section import Section
from resil.campaign.technology_settings import BY, TechnologySettings, read_technology
from resil.rtl_harness.engine.declaration import Ability, OptionValues
from resil.rtl_harness.faults import Outcome
from resil.rtl_harness.host import usable_processors

BETWEEN = ("rewrite", "reset")
MOST_INFERENCES = 1024
TIMEOUTS = ("inference", "operation")
UNTIL = ("end", "detection")
HAZARDOUS_DEFAULT = (Outcome.SDC_CRITICAL.value, Outcome.HANG.value)
HAZARDOUS_CHOICES = tuple(outcome.value for outcome in Outcome if outcome is not Outcome.MASKED)
# Closer to 1 neither the limits of rare events nor the share of looks in the error can be computed.
NO_CONFIDENCE = 0.99999
_BUDGET_REMEDY = (
    "derive the NPU's share of the item's target and write where it comes from; "
    "without a [budget] table no verdict is given"
)


@dataclass(frozen=True)
class ExecutionSettings:
    """How the injections are simulated.

    Attributes:
        engine: Name of the engine.
        workers: Simulator processes; None for one a processor.
        timeout: What has a time-out, one of `TIMEOUTS`: the inference, or each operation too.
        timeout_factor: What takes longer than this times what it takes in the golden run is a hang.
        until: How far an injection goes, one of `UNTIL`: to its end, or to the first alarm that reports
            something detected; what would have come then is not known.
        farm: Workers elsewhere that simulate; None if this process and its children do.
        options: Of the engine, each of those that it declares.
        recall: Take outcomes that earlier campaigns have found of the very same faults, and keep these.
    """

    engine: str
    workers: int | None
    timeout_factor: float
    timeout: str = "inference"
    until: str = UNTIL[0]
    farm: FarmSettings | None = None
    options: OptionValues = field(default_factory=dict)
    recall: bool = False

    @property
    def processes(self) -> int:
        """Simulator processes on this machine."""
        return self.workers or usable_processors()

    @property
    def ends_at_detection(self) -> bool:
        """Whether an alarm that reports a detection ends an injection."""
        return self.until != UNTIL[0]

    @property
    def limits_operations(self) -> bool:
        """Whether each operation has a time-out of its own."""
        return self.timeout != TIMEOUTS[0]


@dataclass(frozen=True)
class Budget:
    """The target's share of the item's allowance.

    Attributes:
        fit: Allowed failures per 1e9 h.
        rationale: Where the figure comes from.
    """

    fit: float
    rationale: str


@dataclass(frozen=True)
class CampaignHead:
    """The first table, [campaign]; attributes as of `resil.campaign.campaign.Campaign`."""

    name: str
    seed: int
    confidence: float
    inferences: int
    between: str


@dataclass(frozen=True)
class Rules:
    """All that is said but what runs on which target; attributes as of `resil.campaign.campaign.Campaign`."""

    head: CampaignHead
    faults: FaultSettings
    sampling: SamplingSettings
    execution: ExecutionSettings
    technology: TechnologySettings
    budget: Budget | None
    hazardous: tuple[str, ...]
    liberty: Path | None
    safety: SafetySettings | None


class Tables:
    """The tables of a file; those that nobody knows are noted.

    Args:
        problems: Of the file.
        tables: Its content.
        declared: The tables that it may have, by name.
    """

    def __init__(
        self, problems: Problems, tables: Mapping[str, Any], declared: Mapping[str, KeyTable]
    ) -> None:
        self.problems = problems
        self._tables = tables
        self._declared = declared
        self.meant = _note_unknown_tables(problems, tables, tuple(declared))

    def __contains__(self, name: str) -> bool:
        return name in self._tables

    def section(self, name: str, *, required: bool = False) -> Section:
        """Return a table, empty if there is none; UnreadError, and noted, if it is none."""
        values = self._tables.get(name, {})
        if required and name not in self._tables:
            if name in self.meant:
                self.problems.misnamed.add(name)
            else:
                self.problems.add((name,), f"expected a table [{name}], found none; add it")
            raise UnreadError
        if not isinstance(values, dict):
            message = f"expected {name} to be a table, found {values!r}; write [{name}]"
            self.problems.add((name,), message)
            raise UnreadError
        return Section(self.problems, (name,), values, self._declared[name])

    def sections(self, name: str, expected: str) -> list[Section]:
        """Return the tables of a list that has to be there; CampaignError if it is none."""
        values = self._tables.get(name)
        if values is None and name in self.meant:
            raise UnreadError
        if not isinstance(values, list) or not values or not all(isinstance(v, dict) for v in values):
            found = (
                "nothing"
                if values is None
                else "a single table"
                if isinstance(values, dict)
                else "another value"
            )
            message = f"{name}: expected {expected}, found {found}; write [[{name}]]"
            raise self.problems.error((name,), message)
        declared = self._declared[name]
        return [Section(self.problems, (name, place), value, declared) for place, value in enumerate(values)]


def read_rules(tables: Tables, first: str, *, own_work: bool) -> Rules:
    """Check the tables; what is wrong is noted, and the rules must not be used then.

    Args:
        tables: Of the file.
        first: Name of its first table.
        own_work: Memory images of the user's own are run, which say what the host does.
    """
    problems, section = tables.problems, tables.section
    attempt = problems.attempt
    head = attempt(lambda: _head(section(first, required=True)))
    faults = attempt(lambda: read_faults(section("faults", required=True)))
    sampling = attempt(lambda: read_sampling(section("sampling")))
    if problems.sound("faults") and problems.sound("sampling"):
        attempt(lambda: check_plan(section("faults"), faults, sampling, "safety" in tables))
    if problems.sound(first) and problems.sound("faults") and problems.sound("sampling"):
        attempt(lambda: _check_inferences(section(first), head, faults, sampling, own_work))
    none: tuple[Budget | None, tuple[str, ...]] = (None, HAZARDOUS_DEFAULT)
    budget, hazardous = (attempt(lambda: _budget(section("budget"))) or none) if "budget" in tables else none
    safety = None
    if "safety" in tables and problems.sound("budget"):
        item_fit = budget.fit if budget else None
        safety = attempt(lambda: read_safety(section("safety"), hazardous, item_fit))
    sound = (head if problems.sound(first) else None, faults if problems.sound("faults") else None)
    execution = attempt(lambda: _execution(section("execution"), section("engine"), *sound, sampling))
    if execution and problems.sound("execution") and execution.ends_at_detection:
        attempt(lambda: _check_until(section("execution"), head, sampling, safety))
    technology = attempt(lambda: read_technology(section("technology", required=True)))
    if faults and technology and problems.sound("faults") and problems.sound("technology"):
        attempt(lambda: _check_by(section("technology"), faults, technology))
    liberty = attempt(lambda: _liberty(section("area")))
    return Rules(head, faults, sampling, execution, technology, budget, hazardous, liberty, safety)


def _head(section: Section) -> CampaignHead:
    head = CampaignHead(
        section.text("name"),
        section.integer("seed"),
        section.number("confidence"),
        section.integer("inferences"),
        section.choice("between"),
    )
    section.finish()
    return head


def _check_inferences(
    section: Section, head: CampaignHead, faults: FaultSettings, sampling: SamplingSettings, own: bool
) -> None:
    """Raise CampaignError unless a second inference, if there is one, fits what is injected, and how."""
    if section.has("between") and (own or head.inferences == 1):
        found = "a table [workload], whose images say what the host does" if own else "inferences = 1"
        raise section.fail(
            "between", "the key with several inferences and a table [network]", found, "remove it"
        )
    if head.inferences == 1:
        return
    if own and head.inferences > 2:
        found = f"{head.inferences} and a table [workload]"
        raise section.fail("inferences", "1 or 2 but for a network with variables", found, "change the value")
    if faults.permanent:
        found = f'model = "{faults.model}"; such a fault is in every inference'
        raise section.fail("inferences", "1 but for upsets", found, "remove the key")
    if faults.logic:
        raise section.fail("inferences", "1 for logic", f"{head.inferences}", "remove the key")
    if sampling.plan == "predicted":
        found = 'plan = "predicted", which goes by single inferences'
        raise section.fail("inferences", "1 with that plan", found, "remove the key or change the plan")


def _note_unknown_tables(problems: Problems, tables: Mapping[str, Any], known: tuple[str, ...]) -> set[str]:
    """Note the tables that nobody knows; return the names that they are near to."""
    meant = set()
    for name in tables:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant |= set(near)
            remedy = f"did you mean [{near[0]}]?" if near else "remove it"
            problems.add((name,), f"{name}: expected one of the tables {', '.join(known)}; {remedy}")
    return meant


def _execution(
    section: Section,
    options: Section,
    head: CampaignHead | None,
    faults: FaultSettings | None,
    sampling: SamplingSettings | None,
) -> ExecutionSettings:
    workers = section.integer("workers") if section.has("workers") else None
    timeout_factor = section.number("timeout_factor")
    timeout = section.choice("timeout")
    if timeout != TIMEOUTS[0] and sampling is not None and sampling.plan == "predicted":
        found = f'"{timeout}"; its model has learnt from inferences with one time-out'
        expected = f'"{TIMEOUTS[0]}" with plan = "predicted"'
        section.wrong("timeout", expected, found, "remove the key or change the plan")
    until = section.choice("until")
    recall = section.flag("recall", default=False)
    farm = read_farm(section)
    if farm is not None and workers is not None:
        remedy = "remove it: [execution.dask] says how many workers there are"
        section.wrong("workers", "the key without dask only", "both", remedy)
    engine = chosen_engine(section, _needed(head, faults, timeout, until, farm)).name
    section.finish()
    own = read_options(options, engine)
    return ExecutionSettings(engine, workers, timeout_factor, timeout, until, farm, own, recall)


def _needed(
    head: CampaignHead | None,
    faults: FaultSettings | None,
    timeout: str,
    until: str,
    farm: FarmSettings | None,
) -> dict[Ability, str]:
    """Return what a campaign asks of its engine, and by what; nothing for a part that could not be read."""
    asked: dict[Ability, str] = {}
    if faults:
        place = Ability.MEMORY_OUTSIDE if faults.external else Ability.STORAGE
        places = [Ability.LOGIC] if faults.logic else []
        if faults.kinds != (LOGIC,):
            places.append(place)
        asked |= dict.fromkeys(places, f"[faults] kinds = {json.dumps(faults.kinds)}")
        if faults.clusters != (1.0,):
            asked[Ability.CLUSTERS] = "[faults] clusters"
        if faults.permanent:
            asked[Ability.STUCK_AT] = f'[faults] model = "{faults.model}"'
    if head and head.inferences > 1:
        asked[Ability.TWO_INFERENCES] = f"inferences = {head.inferences}"
    if timeout != TIMEOUTS[0]:
        asked[Ability.OPERATION_TIMEOUT] = f'timeout = "{timeout}"'
    if until != UNTIL[0]:
        asked[Ability.UNTIL_DETECTION] = f'until = "{until}"'
    if farm is not None:
        asked[Ability.FARM] = "dask"
    return asked


def _check_by(section: Section, faults: FaultSettings, technology: TechnologySettings) -> None:
    """Raise CampaignError if faults are to come by cells that are none of cells."""
    if technology.logic_by != BY[0] and (not faults.logic or faults.model == BRIDGE):
        raise section.fail(
            "logic_by",
            f'"{BY[0]}" but for faults of cells',
            f'"{technology.logic_by}" with model = "{faults.model}" of {", ".join(faults.kinds)}',
            "remove the key: bridges have the weights of their list",
        )


def _check_until(
    section: Section,
    head: CampaignHead | None,
    sampling: SamplingSettings | None,
    safety: SafetySettings | None,
) -> None:
    """Raise CampaignError if what would have come after detection is asked for."""
    wrong = {
        f"inferences = {head.inferences if head else 1}, of which the later would not be": head is not None
        and head.inferences > 1,
        'plan = "predicted", whose model has learnt from whole runs': sampling is not None
        and sampling.plan == "predicted",
        "a fault-tolerant time or a claim of coverage, detection_time or sensitivity in [safety], which ask "
        "what detected faults would have done": safety is not None and safety.asks_of_detected,
    }
    for found, is_wrong in wrong.items():
        if is_wrong:
            raise section.fail("until", f'"{UNTIL[0]}"', f'"{UNTIL[1]}" with {found}', "remove the key")


def _budget(section: Section) -> tuple[Budget | None, tuple[str, ...]]:
    fit = section.number("fit", remedy=_BUDGET_REMEDY)
    rationale = section.text("rationale", remedy=_BUDGET_REMEDY)
    hazardous = section.choices("hazardous")
    section.finish()
    return Budget(fit, rationale), hazardous


def _liberty(section: Section) -> Path | None:
    liberty = section.path("liberty", "a Liberty file") if section.has("liberty") else None
    section.finish()
    return liberty
