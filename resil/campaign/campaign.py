"""The campaign file: what to inject into, how much, and against which budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from resil.campaign.fault_settings import FaultSettings, check_plan, read_faults
from resil.campaign.key_places import Places, key_places
from resil.campaign.network_settings import NetworkSettings, read_network
from resil.campaign.problems import Problems, UnreadError
from resil.campaign.safety import SafetySettings, read_safety
from resil.campaign.sampling_settings import SamplingSettings, read_sampling
from resil.campaign.section import Section
from resil.campaign.technology_settings import TechnologySettings, read_technology
from resil.campaign.workload_settings import WorkloadSettings, read_workload
from resil.errors import CampaignError
from rtl_harness.errors import HarnessError
from rtl_harness.faults import Outcome
from rtl_harness.toml_file import read_toml

ENGINE_NAMES = ("verilator", "cocotb")
BETWEEN = ("rewrite", "reset")
HAZARDOUS_DEFAULT = (Outcome.SDC_CRITICAL.value, Outcome.HANG.value)
_HAZARDOUS_CHOICES = tuple(outcome.value for outcome in Outcome if outcome is not Outcome.MASKED)
_TABLES = (
    *("campaign", "network", "workload", "target", "faults", "sampling", "execution", "technology"),
    *("budget", "safety", "area"),
)
# Closer to 1 neither the limits of rare events nor the share of looks in the error can be computed.
_NO_CONFIDENCE = 0.99999
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
        timeout_factor: A run that takes longer than this times the golden run is a hang.
    """

    engine: str
    workers: int | None
    timeout_factor: float


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
class Campaign:
    """A campaign file, checked.

    Attributes:
        file: Where it was read from; for messages and labels only.
        name: Label for people.
        seed: Seed of the sampling.
        confidence: Of all intervals, 0.95 for 95 %.
        work: What the target runs: a network that is compiled for it, or memory images of the user's own.
        target: Name of a shipped target, or the absolute path of a target file.
        faults: What is injected.
        sampling: How the faults are chosen.
        execution: How.
        technology: Raw upset rates.
        budget: None if no verdict is asked for.
        hazardous: Outcomes that count as failures.
        liberty: Cell library for the area; None for the built-in gate equivalents.
        safety: What the safety verdict is asked about; None if none is.
        inferences: How many a run makes of its input, 1 or 2; faults strike in the first.
        between: What the host does to the NPU before the second: "rewrite" all registers, or "reset" it too.
    """

    file: Path
    name: str
    seed: int
    confidence: float
    work: NetworkSettings | WorkloadSettings
    target: str | Path
    faults: FaultSettings
    sampling: SamplingSettings
    execution: ExecutionSettings
    technology: TechnologySettings
    budget: Budget | None
    hazardous: tuple[str, ...]
    liberty: Path | None
    safety: SafetySettings | None = None
    inferences: int = 1
    between: str = BETWEEN[0]

    @property
    def network(self) -> NetworkSettings:
        """The network; CampaignError if the campaign has none, but a workload."""
        if isinstance(self.work, NetworkSettings):
            return self.work
        raise CampaignError(
            f"{self.file}: expected a table [network], found [workload]; this needs a network that was "
            "compiled for the target"
        )

    @property
    def detection_cycles(self) -> int | None:
        """Cycles from a fault to its alarm within which it counts as detected; None if any alarm does."""
        return None if self.safety is None else self.safety.detection_cycles

    @property
    def slug(self) -> str:
        """The name as that of a folder."""
        return re.sub(r"[^\w-]+", "-", self.name).strip("-") or "campaign"


def load_campaign(path: str | Path) -> Campaign:
    """Read and check a campaign file. Paths in it are relative to its folder.

    Raises:
        CampaignError: the file cannot be read; a key is missing, unknown, of the wrong type or out of range.
    """
    try:
        path = Path(path).expanduser().absolute()
        text, tables = read_toml(path, "campaign file")
    except (HarnessError, RuntimeError) as error:
        raise CampaignError(str(error)) from None
    return parse_campaign(path, tables, key_places(text))


def with_options(campaign: Campaign, *, engine: str | None = None, workers: int | None = None) -> Campaign:
    """Return the campaign with command-line options in place of its own.

    Raises:
        CampaignError: there is no engine of that name.
    """
    if engine is not None and engine not in ENGINE_NAMES:
        raise CampaignError(f"--engine: expected one of {', '.join(ENGINE_NAMES)}, found {engine!r}")
    execution = campaign.execution
    execution = replace(execution, engine=engine or execution.engine, workers=workers or execution.workers)
    return replace(campaign, execution=execution)


def parse_campaign(file: Path, tables: Mapping[str, Any], places: Places | None = None) -> Campaign:
    """Check the tables of a campaign file; see `load_campaign`.

    Args:
        file: For messages, and what paths are relative to.
        tables: Content of the file.
        places: Where its keys stand, if that is known.

    Raises:
        CampaignError: something is wrong; all of it is said.
    """
    problems = Problems(file, places or {})
    meant = _note_unknown_tables(problems, tables)

    def section(name: str, *, required: bool = False) -> Section:
        values = tables.get(name, {})
        if required and name not in tables:
            if name not in meant:
                problems.add((name,), f"expected a table [{name}], found none; add it")
            raise UnreadError
        if not isinstance(values, dict):
            raise problems.error((name,), f"expected {name} to be a table, found {values!r}; write [{name}]")
        return Section(problems, (name,), values)

    attempt = problems.attempt
    head = attempt(lambda: _head(section("campaign", required=True)))
    faults = attempt(lambda: read_faults(section("faults", required=True)))
    sampling = attempt(lambda: read_sampling(section("sampling")))
    if problems.sound("faults") and problems.sound("sampling"):
        attempt(lambda: check_plan(section("faults"), faults, sampling, "safety" in tables))
    if problems.sound("campaign") and problems.sound("faults") and problems.sound("sampling"):
        attempt(lambda: _check_inferences(section("campaign"), head, faults, sampling, "workload" in tables))
    none: tuple[Budget | None, tuple[str, ...]] = (None, HAZARDOUS_DEFAULT)
    budget, hazardous = (attempt(lambda: _budget(section("budget"))) or none) if "budget" in tables else none
    safety = None
    if "safety" in tables and problems.sound("budget"):
        item_fit = budget.fit if budget else None
        safety = attempt(lambda: read_safety(section("safety"), hazardous, item_fit))
    work = attempt(lambda: _work(file, tables, section, "" if "campaign" not in tables else head.name, meant))
    target = attempt(lambda: _target(section("target", required=True)))
    execution = attempt(lambda: _execution(section("execution")))
    technology = attempt(lambda: read_technology(section("technology", required=True)))
    liberty = attempt(lambda: _liberty(section("area")))
    problems.finish()
    return Campaign(
        file=file,
        name=head.name,
        seed=head.seed,
        confidence=head.confidence,
        work=work,
        target=target,
        faults=faults,
        sampling=sampling,
        execution=execution,
        technology=technology,
        budget=budget,
        hazardous=hazardous,
        liberty=liberty,
        safety=safety,
        inferences=head.inferences,
        between=head.between,
    )


@dataclass(frozen=True)
class _Head:
    """The table [campaign]; attributes as of `Campaign`."""

    name: str
    seed: int
    confidence: float
    inferences: int
    between: str


def _head(section: Section) -> _Head:
    head = _Head(
        section.text("name"),
        section.integer("seed", low=0, high=2**63 - 1),
        section.number("confidence", 0.95, low=0.5, high=_NO_CONFIDENCE),
        section.integer("inferences", 1, low=1, high=2),
        section.choice("between", BETWEEN, BETWEEN[0]),
    )
    section.finish()
    return head


def _check_inferences(
    section: Section, head: _Head, faults: FaultSettings, sampling: SamplingSettings, own: bool
) -> None:
    """Raise CampaignError unless a second inference, if there is one, fits what is injected, and how."""
    if section.has("between") and (own or head.inferences == 1):
        found = "a table [workload], whose images say what the host does" if own else "inferences = 1"
        raise section.fail("between", "the key with inferences = 2 and a table [network]", found, "remove it")
    if head.inferences == 1:
        return
    if faults.permanent:
        found = 'model = "stuck_at"; such a fault is in every inference'
        raise section.fail("inferences", "1 but for upsets", found, "remove the key")
    if sampling.plan == "predicted":
        found = 'plan = "predicted", which goes by single inferences'
        raise section.fail("inferences", "1 with that plan", found, "remove the key or change the plan")


def _note_unknown_tables(problems: Problems, tables: Mapping[str, Any]) -> set[str]:
    """Note the tables that nobody knows; return the names that they are near to."""
    meant = set()
    for name in tables:
        if name not in _TABLES:
            near = get_close_matches(name, _TABLES, n=1)
            meant |= set(near)
            remedy = f"did you mean [{near[0]}]?" if near else "remove it"
            problems.add((name,), f"{name}: expected one of the tables {', '.join(_TABLES)}; {remedy}")
    return meant


def _work(
    file: Path, tables: Mapping[str, Any], section: Callable[[str], Section], name: str, meant: set[str]
) -> NetworkSettings | WorkloadSettings:
    given = [table for table in ("network", "workload") if table in tables]
    if len(given) != 1:
        found = "both" if given else "neither"
        if not given and meant & {"network", "workload"}:
            raise UnreadError
        raise CampaignError(
            f"{file}: expected either a table [network], for a target that runs compiled networks, or a "
            f"table [workload], for any other, found {found}; keep or add one"
        )
    if given == ["workload"]:
        return read_workload(section("workload"), name)
    return read_network(section("network"))


def _target(section: Section) -> str | Path:
    if section.has("name") == section.has("file"):
        note, found = (section.wrong, "both") if section.has("name") else (section.missing, "neither")
        note("name", "either a name or a file", found, "name a shipped target or give a target file")
        section.finish(optional=("name", "file"))
        return ""
    target = section.text("name") if section.has("name") else section.path("file", "a target file")
    section.finish(optional=("name", "file"))
    return target


def _execution(section: Section) -> ExecutionSettings:
    engine = section.choice("engine", ENGINE_NAMES, ENGINE_NAMES[0])
    workers = section.integer("workers", low=1, high=1024) if section.has("workers") else None
    timeout_factor = section.number("timeout_factor", 2.0, low=1.0, high=1000.0)
    section.finish()
    return ExecutionSettings(engine, workers, timeout_factor)


def _budget(section: Section) -> tuple[Budget | None, tuple[str, ...]]:
    fit = section.number("fit", low=0.0, high=float("inf"), remedy=_BUDGET_REMEDY)
    rationale = section.text("rationale", remedy=_BUDGET_REMEDY)
    hazardous = section.choices("hazardous", _HAZARDOUS_CHOICES, HAZARDOUS_DEFAULT)
    section.finish()
    return Budget(fit, rationale), hazardous


def _liberty(section: Section) -> Path | None:
    liberty = section.path("liberty", "a Liberty file") if section.has("liberty") else None
    section.finish()
    return liberty
