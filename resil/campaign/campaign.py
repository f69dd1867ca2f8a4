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
from resil.campaign.problems import Problems, UnreadError
from resil.campaign.safety import SafetySettings, read_safety
from resil.campaign.sampling_settings import SamplingSettings, read_sampling
from resil.campaign.section import Section
from resil.campaign.workload_settings import DECISIONS, WorkloadSettings, read_workload
from resil.errors import CampaignError
from rtl_harness.errors import HarnessError
from rtl_harness.faults import Outcome
from rtl_harness.toml_file import read_toml

ENGINE_NAMES = ("verilator", "cocotb")
BETWEEN = ("rewrite", "reset")
HAZARDOUS_DEFAULT = (Outcome.SDC_CRITICAL.value, Outcome.HANG.value)
ZOO_PREFIX = "zoo:"
RECONSTRUCTION = "reconstruction"
_HAZARDOUS_CHOICES = tuple(outcome.value for outcome in Outcome if outcome is not Outcome.MASKED)
_TABLES = (
    *("campaign", "network", "workload", "target", "faults", "sampling", "execution", "technology"),
    *("budget", "safety", "area"),
)
# Of a storage bit, from hardened cells to the SRAM of old nodes; what lies outside has another unit.
_PLAUSIBLE_FIT_PER_BIT = (1e-9, 1e-2)
# Closer to 1 neither the limits of rare events nor the share of looks in the error can be computed.
_NO_CONFIDENCE = 0.99999
_BUDGET_REMEDY = (
    "derive the NPU's share of the item's target and write where it comes from; "
    "without a [budget] table no verdict is given"
)


@dataclass(frozen=True)
class NetworkSettings:
    """What is inferred.

    Attributes:
        path: "zoo:NAME", or the absolute path of a .tflite file.
        inputs: Indices into the zoo network's held-out split, or a .npy file of shape (N, H, W, C), or a .npz
            file of one array for each input.
        decision: "top1": only another index of the largest output is another decision; "exact": any other
            output is; "reconstruction": whether the mean squared difference of input and output, real-valued,
            is above `threshold`. None for a zoo network's own rule, or the largest output.
        threshold: None but for "reconstruction"; for a zoo network then that of its record.
        output: Name or number of the output that the decision is read from; None if there is but one, or for
            "exact", which takes all.
    """

    path: str
    inputs: tuple[int, ...] | Path
    decision: str | None = None
    threshold: float | None = None
    output: str | int | None = None


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
class TechnologySettings:
    """Entry of the technology data, and figures of the user's own in its place.

    Attributes:
        name: Name of the entry.
        flip_flop_fit: FIT of one flip-flop, or None.
        sram_fit_per_mbit: FIT of 10^6 SRAM bits, or None.
        flip_flop_range: Lowest and highest of the first, or None.
        sram_range: Lowest and highest of the second, or None.
        permanent_flip_flop_fit: FIT of permanent faults of one flip-flop, or None.
        permanent_sram_fit_per_mbit: FIT of permanent faults of 10^6 SRAM bits, or None.
    """

    name: str
    flip_flop_fit: float | None = None
    sram_fit_per_mbit: float | None = None
    flip_flop_range: tuple[float, float] | None = None
    sram_range: tuple[float, float] | None = None
    permanent_flip_flop_fit: float | None = None
    permanent_sram_fit_per_mbit: float | None = None


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
    technology = attempt(lambda: _technology(section("technology", required=True)))
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
    return _network(section("network"))


def _network(section: Section) -> NetworkSettings:
    path = section.text("path")
    if not path.startswith(ZOO_PREFIX):
        path = str(section.path("path", 'a .tflite file or "zoo:NAME"'))
    inputs = _inputs(section, zoo=path.startswith(ZOO_PREFIX) or not section.sound("path"))
    decision = section.choice("decision", (*DECISIONS, RECONSTRUCTION)) if section.has("decision") else None
    threshold = None
    if decision == RECONSTRUCTION and section.has("threshold"):
        threshold = section.number("threshold", low=0.0, high=float("inf"))
    output = _stated_output(section) if section.has("output") else None
    section.finish()
    return NetworkSettings(path, inputs, decision, threshold, output)


def _stated_output(section: Section) -> str | int:
    expected = "the name or the number of an output"
    value = section.raw("output", expected)
    if isinstance(value, str) or (type(value) is int and value >= 0):
        return value
    raise section.fail("output", expected, repr(value), "outputs are counted from 0")


def _inputs(section: Section, *, zoo: bool) -> tuple[int, ...] | Path:
    expected = "a list of indices into the held-out split, or a .npy file" if zoo else "a .npy or .npz file"
    value = section.raw("inputs", expected)
    if isinstance(value, str):
        return section.path("inputs", "a .npy or .npz file")
    if not zoo:
        section.wrong("inputs", expected, repr(value), "only zoo networks have a held-out split")
    indices = value if isinstance(value, list) else []
    whole = all(type(index) is int and index >= 0 for index in indices)
    if not indices or not whole or len(set(indices)) != len(indices):
        section.wrong("inputs", expected, repr(value), "give one or more different indices from 0")
    return tuple(indices)


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


def _technology(section: Section) -> TechnologySettings:
    name = section.text("name")
    flip_flop, ff_range = _raw_rate(section, "flip_flop_fit", "flip_flop_range", 1.0)
    sram, sram_range = _raw_rate(section, "sram_fit_per_mbit", "sram_range", 1e6)
    permanent_ff, _ = _raw_rate(section, "permanent_flip_flop_fit", "", 1.0)
    permanent_sram, _ = _raw_rate(section, "permanent_sram_fit_per_mbit", "", 1e6)
    section.finish()
    return TechnologySettings(name, flip_flop, sram, ff_range, sram_range, permanent_ff, permanent_sram)


def _raw_rate(
    section: Section, key: str, ends: str, bits: float
) -> tuple[float | None, tuple[float, float] | None]:
    """Take the raw rate of some bits and its range; a rate that no storage has was given in another unit."""
    low, high = (limit * bits for limit in _PLAUSIBLE_FIT_PER_BIT)
    unit = "FIT of one flip-flop" if bits == 1.0 else "FIT of 10^6 bits"
    expected = f"{unit}, from {low:g} to {high:g}"
    remedy = "convert it: 1 FIT/MB is 0.119 FIT of 10^6 bits, or 1.19e-7 FIT of one bit"

    def checked(name: str, value: float) -> float:
        if not low <= value <= high:
            raise section.fail(name, expected, f"{value:g}", remedy)
        return value

    if not section.has(key):
        if ends and section.has(ends):
            raise section.fail(ends, f"{key} with it", "nothing", f"add {key}, or remove {ends}")
        return None, None
    value = checked(key, section.number(key, low=0.0, high=float("inf")))
    if not ends or not section.has(ends):
        return value, None
    lowest, highest = (checked(ends, end) for end in section.numbers(ends, 2))
    if not lowest <= value <= highest:
        raise section.fail(
            ends, f"a range that holds {key} = {value:g}", f"{lowest:g} to {highest:g}", "correct one"
        )
    return value, (lowest, highest)


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
