# SPDX-License-Identifier: Apache-2.0
"""The study file, read strictly: all that is wrong with it is said at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from resil.campaign.campaign import read_target
from resil.campaign.execution_keys import engine_tables
from resil.campaign.fault_settings import (
    STUCK_AT,
    FaultSettings,
    read_faults,
)
from resil.campaign.key_places import Places, key_places
from resil.campaign.network_settings import ZOO_PREFIX, read_network
from resil.campaign.overrides import Override, overridden, said, words
from resil.campaign.problems import Problems
from resil.campaign.rules import Rules, Tables, read_rules
from resil.campaign.sampling_settings import EVENLY, PLANS, SamplingSettings
from resil.campaign.section import Section
from resil.campaign.work_settings import read_own_work
from resil.errors import CampaignError
from resil.networks import zoo
from resil.protection.asked import LIMITS
from resil.protection.targets import WAIVABLE, Targets
from resil.protection.units import Granularity
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.toml_file import read_toml
from resil.study.study import ProtectionWanted, Study, StudyTarget, StudyWork, slug_of
from resil.study.study_keys import FIRST, NAMED_RUNS, NOT_PERMANENT, TABLES

ALL_OF_THE_ZOO = f"{ZOO_PREFIX}*"
_TARGET = "a list of tables, one for each target"

T = TypeVar("T")


def load_study(path: str | Path, overrides: Sequence[Override] = ()) -> Study:
    """Read and check a study file; see `load_campaign` for the arguments.

    Raises:
        CampaignError: the file cannot be read; a key is missing, unknown, of the wrong type or out of range.
    """
    try:
        path = Path(path).expanduser().absolute()
        text, tables = read_toml(path, "study file")
    except (HarnessError, RuntimeError) as error:
        raise CampaignError(str(error), "file") from None
    return parse_study(path, tables, key_places(text), overrides)


def parse_study(
    file: Path,
    tables: Mapping[str, Any],
    places: Places | None = None,
    overrides: Sequence[Override] = (),
) -> Study:
    """Check the tables of a study file; see `load_study`, and `parse_campaign` for the arguments.

    Raises:
        CampaignError: something is wrong; all of it is said.
    """
    tables = overridden(tables, overrides)
    problems = Problems(file, places or {}, said(overrides))
    known = Tables(problems, _with_permanent(problems, tables), TABLES | engine_tables())
    rules = read_rules(known, FIRST, own_work="workload" in tables)
    permanent = problems.attempt(lambda: _permanent(known)) if "permanent" in tables else None
    targets = problems.attempt(lambda: _targets(known)) or ()
    works = problems.attempt(lambda: _works(file, known)) or ()
    if problems.sound("target") and problems.sound("network") and problems.sound("workload"):
        _check_places(problems, targets, works)
    protection = problems.attempt(
        lambda: _protection(known.section("protection"), "protection" in tables, works)
    )
    model = problems.attempt(lambda: _model(known.section("estimate")))
    problems.attempt(lambda: _check_predictions(problems, rules, [*targets, *works]))
    if protection is not None:
        problems.attempt(lambda: _check_protection(problems, rules, protection))
    if problems.sound("faults") and (rules.faults.external or rules.faults.logic):
        expected = "expected storage of the NPU, for a study compares NPUs and their protection, found"
        problems.add(
            ("faults", "kinds"),
            f"[faults] kinds: {expected} {', '.join(rules.faults.kinds)}; make campaigns of it: resil run",
        )
    problems.finish()
    options = words(overrides)
    return Study(file, rules.head.name, rules, targets, works, protection, permanent, model, options)


def _targets(tables: Tables) -> tuple[StudyTarget, ...]:
    found = _apart(_read(tables.problems, tables.sections("target", _TARGET), _target))
    _refuse_repeated(tables.problems, "target", [target.name for target in found])
    return tuple(found)


def _apart(targets: list[StudyTarget]) -> list[StudyTarget]:
    """Return targets; where files have one name, the names of their folders stand before it."""
    slugs = [slug_of(target.name) for target in targets]
    return [
        replace(target, name=f"{target.place.parent.name}-{target.name}")
        if isinstance(target.place, Path) and slugs.count(slug) > 1
        else target
        for target, slug in zip(targets, slugs, strict=True)
    ]


def _target(section: Section) -> StudyTarget:
    estimate = section.flag("estimate")
    place = read_target(section)
    return StudyTarget(place.stem if isinstance(place, Path) else place, place, estimate)


def _works(file: Path, tables: Tables) -> tuple[StudyWork, ...]:
    given = [table for table in ("network", "workload") if table in tables]
    if not given:
        if tables.meant & {"network", "workload"}:
            return ()
        raise CampaignError(
            f"{file}: expected tables [[network]], for targets that run compiled networks, or tables "
            "[[workload]], for any others, found neither; add what runs",
            "network",
        )
    found: list[StudyWork] = []
    if "network" in given:
        sections = tables.sections("network", "a list of tables, one for each network or for all of the zoo")
        found += [work for own in _read(tables.problems, sections, _networks) for work in own]
    if "workload" in given:
        sections = tables.sections("workload", "a list of tables, one for each workload")
        found += _read(tables.problems, sections, _workload)
    _refuse_repeated(tables.problems, given[0], [work.name for work in found], [work.on for work in found])
    return tuple(found)


def _check_places(problems: Problems, targets: Sequence[StudyTarget], works: Sequence[StudyWork]) -> None:
    """Note names of targets that none has, and targets that nothing runs on."""
    known = [target.name for target in targets]
    for work in works:
        if unknown := [name for name in work.on if name not in known]:
            problems.add(
                ("workload", "targets"),
                f"targets of {work.name}: expected names of targets ({', '.join(known)}), found "
                f'"{unknown[0]}"; correct the name',
            )
    for name in known:
        if works and not any(not work.on or name in work.on for work in works):
            problems.add(
                ("target", name),
                f"[[target]] {name}: expected something that runs on it, found nothing; name it in the "
                "targets of a network or workload, or remove it",
            )


def _workload(section: Section) -> StudyWork:
    on = section.texts("targets")
    settings = read_own_work(section, "")
    if not settings.name.strip() and section.sound("name"):
        section.wrong("name", "a name", "nothing", "add the key: folders and tables are named by it")
    return StudyWork(settings.name, settings, on=on)


def _networks(section: Section) -> list[StudyWork]:
    """Return the networks of a table; of an unsound one none."""
    estimate, on = section.flag("estimate"), section.texts("targets")
    name = section.text("name") if section.has("name") else None
    settings = read_network(section)
    if settings.path == ALL_OF_THE_ZOO:
        if name is not None:
            section.wrong("name", "no name for all of the zoo", f'"{name}"', "remove it")
        return [
            StudyWork(known, replace(settings, path=f"{ZOO_PREFIX}{known}"), estimate, on)
            for known in zoo.names()
        ]
    if not settings.path.startswith(ZOO_PREFIX):
        return [StudyWork(name or Path(settings.path).stem, settings, estimate, on)] if settings.path else []
    known = settings.path.removeprefix(ZOO_PREFIX)
    if known not in zoo.names():
        near = get_close_matches(known, zoo.names(), n=1)
        section.wrong(
            "path",
            f'"{ALL_OF_THE_ZOO}", or {ZOO_PREFIX} and one of {", ".join(zoo.names())}',
            f'"{settings.path}"',
            f'did you mean "{ZOO_PREFIX}{near[0]}"?' if near else "correct the name",
        )
    return [StudyWork(name or known, settings, estimate, on)]


def _read(problems: Problems, sections: list[Section], read: Callable[[Section], T]) -> list[T]:
    """Return what `read` makes of each table, but for those that cannot be read."""
    return [found for section in sections if (found := problems.attempt(partial(read, section)))]


def _refuse_repeated(
    problems: Problems, table: str, names: Sequence[str], on: Sequence[Sequence[str]] = ()
) -> None:
    """Note names that stand twice; one may that runs on other targets each time, with other inputs say."""
    slugs = [slug_of(name) for name in names]
    on = on or [()] * len(names)
    for place, (name, slug) in enumerate(zip(names, slugs, strict=True)):
        before = [at for at in range(place) if slugs[at] == slug]
        apart = name in {names[at] for at in before} and _disjoint([on[at] for at in (*before, place)])
        if name and before and not apart:
            other = names[before[0]]
            again = (
                f'"{name}" again' if name == other else f'"{name}", which names the folder of "{other}" too'
            )
            remedy = "remove one"
            if table != "target":
                remedy += ', give one another "name", or each "targets" of its own'
            problems.add((table, name), f"[[{table}]]: expected each once, found {again}; {remedy}")


def _disjoint(on: Sequence[Sequence[str]]) -> bool:
    """Return whether all of these name targets, and none in common."""
    targets = [target for names in on for target in names]
    return all(on) and len(set(targets)) == len(targets)


def _protection(section: Section, there: bool, works: Sequence[StudyWork]) -> ProtectionWanted | None:
    wanted = section.flag("wanted", default=there)
    granularity = section.choice("granularity")
    fit, spfm, share, due, stuck, stuck_spfm = (
        section.number(key.name) if section.has(key.name) else None for key in LIMITS
    )
    options = section.path("options", "a file of protection options") if section.has("options") else None
    verify = _verify_networks(section, works)
    waive = section.texts("waive")
    if unknown := [name for name in waive if name not in WAIVABLE]:
        section.wrong("waive", f"any of {', '.join(WAIVABLE)}", f'"{unknown[0]}"', "correct it")
    section.finish()
    targets = Targets(fit, spfm, share, due, stuck, stuck_spfm, waive)
    return ProtectionWanted(Granularity(granularity), targets, options, verify) if wanted else None


def _verify_networks(section: Section, works: Sequence[StudyWork]) -> tuple[str, ...]:
    """Take what protection is confirmed on: campaign files, or networks of the zoo, none of the study."""
    key, known = "verify_networks", zoo.names()
    found = []
    for name in section.texts(key):
        plain = name.removeprefix(ZOO_PREFIX)
        if name.endswith(".toml"):
            path = section.existing(key, name, "a campaign file, whose network is taken")
            found.append(str(path))
        elif plain not in known:
            expected = f"campaign files, or networks of the zoo ({', '.join(known)})"
            section.wrong(key, expected, f'"{name}"', "correct the name")
        elif any(getattr(work.settings, "path", "") == f"{ZOO_PREFIX}{plain}" for work in works):
            section.wrong(
                key,
                "networks that take no part in the choice",
                f'"{name}"',
                "remove it, or leave it out there",
            )
        else:
            found.append(plain)
    return tuple(found)


def _with_permanent(problems: Problems, tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables with [safety] as that of a campaign whose run of permanent faults is there."""
    safety = tables.get("safety")
    for key in [own for own in NAMED_RUNS if isinstance(safety, dict) and own in safety]:
        remedy = (
            "remove it, and add a table [permanent], by which each cell gets a run of its own"
            if key == "permanent"
            else "remove it, and judge the cell's campaign with it by itself"
        )
        problems.add(
            ("safety", key),
            f"[safety] {key}: expected no such key in a study, found one: it names the run of one network "
            f"on one target; {remedy}",
        )
    if not isinstance(safety, dict) or "permanent" not in tables:
        return tables
    return {**tables, "safety": {**safety, "permanent": "."}}


def _permanent(tables: Tables) -> tuple[FaultSettings, SamplingSettings]:
    section = tables.section("permanent")
    plan = section.choice("plan")
    faults = read_faults(section)
    for key in NOT_PERMANENT:
        if section.has(key) and section.sound(key):
            section.wrong(key, "no such key", "one", "remove it: bits are held at 0 or 1, each by itself")
    if "safety" not in tables:
        found = "expected a table [safety], whose rows permanent faults are for, found none"
        tables.problems.add(("permanent",), f"[permanent]: {found}; add it, or remove this one")
    sampling = SamplingSettings(next(name for name in PLANS if name == plan))
    return replace(faults, model=STUCK_AT), sampling


def _model(section: Section) -> Path | None:
    model = section.path("model", "a sensitivity model") if section.has("model") else None
    section.finish()
    return model


def _check_predictions(problems: Problems, rules: Rules, parts: list[StudyTarget | StudyWork]) -> None:
    """Note an estimate that is asked of what no sensitivity model has learnt from."""
    sound = all(map(problems.sound, ("faults", FIRST, "execution")))
    if not any(part.estimate for part in parts) or not sound:
        return
    for table, wrong, found in (
        ("faults", rules.faults.permanent, f'model = "{rules.faults.model}"'),
        (FIRST, rules.head.inferences > 1, f"inferences = {rules.head.inferences}"),
        ("execution", rules.execution.limits_operations, f'timeout = "{rules.execution.timeout}"'),
        ("execution", rules.execution.ends_at_detection, f'until = "{rules.execution.until}"'),
    ):
        if wrong:
            message = (
                f"[{table}]: expected upsets in single inferences where a cell is estimated, each to its "
                f"end, and a time-out of the inference alone, found {found}"
            )
            problems.add((table, ""), f"{message}; remove estimate = true, or change the key")


def _check_protection(problems: Problems, rules: Rules, wanted: ProtectionWanted) -> None:
    """Note what no set is chosen by, or ever confirmed for: it would show only when all cells are there."""
    if not all(map(problems.sound, ("faults", FIRST, "execution", "sampling", "protection"))):
        return
    why = "where protection is chosen"
    for table, key, expected, wrong, found in (
        ("faults", "model", f"upsets {why}", rules.faults.permanent, rules.faults.model),
        (FIRST, "inferences", f"single inferences {why}", rules.head.inferences > 1, rules.head.inferences),
        (
            "execution",
            "until",
            f"injections to their end {why}",
            rules.execution.ends_at_detection,
            rules.execution.until,
        ),
        (
            "sampling",
            "plan",
            f"a plan that spreads injections evenly ({', '.join(EVENLY)}) {why}",
            rules.sampling.plan not in EVENLY,
            rules.sampling.plan,
        ),
    ):
        if wrong:
            remedy = "change the key, or leave protection out: [protection] wanted = false"
            problems.add((table, key), f"[{table}] {key}: expected {expected}, found {found}; {remedy}")
    if wanted.verify_networks and wanted.targets.fit_share is not None:
        problems.add(
            ("protection", "fit_share"),
            "[protection] fit_share: expected budget_fit or spfm_target where a set is to be confirmed, "
            "found a share of the FIT without protection, which is not known of the networks that confirm; "
            "change the key, or leave verify_networks out",
        )
