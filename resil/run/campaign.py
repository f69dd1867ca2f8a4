# SPDX-License-Identifier: Apache-2.0
"""`resil run`: a campaign from its file to its verdict."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from resil.bench.bench import NO_AREA, AreaFacts, Bench
from resil.bench.site_list import write_parquet
from resil.campaign.campaign import Campaign
from resil.campaign.network_settings import NetworkSettings
from resil.campaign.text import resolved_text
from resil.errors import ConsistencyError, ExitCode, Interrupted, StoreError
from resil.farm.cluster import Farm, open_farm
from resil.farm.executor import FarmExecutor
from resil.faults.content import Content
from resil.faults.plan import FaultPlan, IntArray
from resil.faults.population import Population
from resil.faults.sampling import Sample, Sampling, look_text
from resil.files import write_text
from resil.folder.audits import Audits
from resil.folder.earlier_results import Before, require_as_good, require_as_many
from resil.folder.execute import Executor
from resil.folder.finished import seal
from resil.folder.kept_plans import accepted_plan
from resil.folder.outcomes import KnownOutcomes, forget_outcomes, known_outcomes
from resil.folder.provenance import begin, now
from resil.folder.store import (
    CAMPAIGN,
    DERIVED,
    PROVENANCE,
    SITES,
    STRATA,
    SUMMARY,
    RunFolder,
    check_run,
    open_run,
)
from resil.folder.strata_file import write_strata
from resil.folder.underway import forget_underway, note_underway
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.record.golden import DIFFERS, GoldenComparison
from resil.record.provenance import RUN, Provenance
from resil.record.summary import Summary
from resil.results.inferences import inferences_of
from resil.results.named_runs import named_runs
from resil.results.safety_grounds import check_safety, rate_variations
from resil.results.summarise import summarise, technology_of
from resil.results.views import highest_factor
from resil.results.write import Results
from resil.rtl_harness.engine.contract import CampaignEngine, GoldenRun
from resil.rtl_harness.errors import HarnessError, UnmappedSiteError
from resil.rtl_harness.faults import Reported, Rise
from resil.run.input_plan import with_planned_inputs
from resil.run.probe import sanity_of
from resil.run.recheck import golden_digests, require_same_golden, require_same_rows
from resil.sensitivity.foreseen import foresee
from resil.sensitivity.guided_population import campaign_population
from resil.work.golden import require_golden

_CODES = {
    "met": ExitCode.MET,
    "none": ExitCode.MET,
    "missed": ExitCode.MISSED,
    "inconclusive": ExitCode.INCONCLUSIVE,
    "not assessed": ExitCode.INCONCLUSIVE,
}


def run_campaign(
    campaign: Campaign,
    out: str | Path,
    *,
    resume: bool = False,
    progress: Progress | None = None,
    with_area: bool = True,
    campaigns: int = 1,
) -> Results:
    """Carry out what is missing of a campaign in the run folder `out`, and judge it.

    A finished run is only judged again; one that asks for more injections than there are makes the others.

    Args:
        campaign: What is asked, from `load_campaign`.
        out: The run folder; made if it is missing. `docs/reference/files.md` says what it will hold.
        resume: Finish a run that was interrupted; without it such a folder is refused.
        progress: Where stages and warnings go; None for lines on stderr.
        with_area: Find the area of each block, which takes a synthesis; without it that of no block is known.
        campaigns: Of about this size on the target that will use what is built, this one among them: it says
            what pays to be built.

    Returns:
        What the run says: `summary` is the content of `summary.json`.

    Raises:
        StoreError: the folder cannot be used, holds an unfinished run and `resume` is not set, or holds the
            results of more injections than this campaign has.
        Interrupted: Ctrl-C while injecting or in the synthesis for the area; what was simulated is kept.
        HarnessError, NetworkError: the target or the network cannot be used.
        ConsistencyError: results contradict each other.

    Examples:
        >>> from resil import load_campaign, run_campaign
        >>> results = run_campaign(load_campaign("campaign.toml"), "run")
        >>> results.summary.verdict.result, results.summary.total.injections
        ('met', 200)
        >>> total = results.summary.total
        >>> total.fit_lo < total.fit < total.fit_hi  # failures in 1e9 hours
        True
    """
    started, out = now(), Path(out)
    progress = progress or Progress()
    technology_of(campaign)
    campaign = with_planned_inputs(campaign, out, progress, partial(_run_pilot, progress=progress))
    bench = prepare(campaign, progress, simulates=campaigns)
    require_all_mapped(bench)
    check_safety(campaign, bench)
    check_run(out, bench.identity, resume=resume)
    require_as_many(out, campaign.faults.injections)
    with ExitStack() as stack:
        progress.stage("building the simulator and running without a fault")
        began, built = time.monotonic(), progress.built_seconds
        with progress.working("running without a fault"):
            engines = [stack.enter_context(bench.engine(position)) for position in range(len(bench.inputs))]
            # A pilot is small, an input has a part: what makes all injections fast is made once, for all.
            for engine in engines:
                engine.expect(campaigns * campaign.faults.injections, engines[0])
            goldens = golden_runs(bench, engines)
            # What an input costs by itself: neither builds, made once, nor a comparison made of all at once.
            golden_seconds = time.monotonic() - began - (progress.built_seconds - built)
            compared = compared_goldens(campaign, bench, goldens, progress)
        noted = _note(engines, progress, set())
        population = campaign_population(campaign, bench, goldens)
        technology = technology_of(campaign)
        rates = {kind: technology.fit_per_bit(kind) for kind in campaign.faults.kinds}
        corners = rate_variations(technology, campaign.faults.kinds)
        foreseen = foresee(campaign, bench, goldens, population)
        sampling = Sampling(campaign, population, rates, highest_factor(corners), foreseen)
        own = {
            "started": started,
            "golden": golden_digests(goldens),
            "golden_seconds": round(golden_seconds, 3),
        }
        first = begin(campaign, bench).changed(**own)
        folder = stack.enter_context(open_run(out, bench.identity, first))
        require_same_golden(out, folder.provenance(), goldens)
        farm = stack.enter_context(open_farm(campaign.execution.farm, progress, out))
        known = known_outcomes(campaign, bench, golden_digests(goldens))
        run = _CampaignRun(campaign, bench, population, folder, progress, farm, known)
        run.complete_or_fail(engines, sampling)
        _note(engines, progress, noted)
        facts = run.finished()
        area = run.area() if with_area else NO_AREA
        runs = named_runs(campaign, bench)
        inferences = inferences_of(campaign, run.stored(), bench.network.sequence)
        sane = sanity_of(bench, engines, goldens, run.stored(), campaign.seed, progress)
        sample = sampling.sample
        summary = summarise(campaign, bench, area, goldens, sample, facts, sane, compared, runs, inferences)
        return run.write(summary, sample)


def _run_pilot(campaign: Campaign, out: Path, *, progress: Progress) -> None:
    run_campaign(campaign, out, resume=True, progress=progress, with_area=False)


def verdict_code(summary: Summary) -> ExitCode:
    """Return the exit code for the verdict of `summary`: that of the FIT budget or of the safety claims.

    With both, a miss of either is a miss, and only both met are met. A run that measured nothing decides
    nothing, whether or not something was asked.
    """
    if summary.nothing_measured:
        return ExitCode.INCONCLUSIVE
    results = [summary.verdict.result]
    if summary.safety is not None:
        results.append(summary.safety.result)
    codes = [_CODES[result] for result in results]
    return next((c for c in (ExitCode.MISSED, ExitCode.INCONCLUSIVE) if c in codes), ExitCode.MET)


def _note(engines: list[CampaignEngine], progress: Progress, noted: set[str]) -> set[str]:
    """Say what engines have noted, each note once; return what has been said."""
    for note in (note for engine in engines for note in engine.notes):
        if note not in noted:
            progress.warn(f"note: {note}")
            noted.add(note)
    return noted


def golden_runs(bench: Bench, engines: list[CampaignEngine]) -> list[GoldenRun]:
    """Simulate each input without a fault.

    Raises:
        HarnessError: the design says by itself that it has detected something, or its output is not the
            expected one.
    """
    runs = [engine.golden() for engine in engines]
    for position, (label, run) in enumerate(zip(bench.inputs, runs, strict=True)):
        detected = [rise for rise in run.end.alarms if rise.kind is Reported.DETECTED]
        if detected and not bench.network.operations:
            raise HarnessError(_alarmed(bench, label, detected[0]), f"alarms.{detected[0].alarm}")
        if detected or not run.end.finished:
            alarm = f", alarm {detected[0].alarm} from cycle {detected[0].cycle:,} on" if detected else ""
            raise HarnessError(
                f"{bench.target_name} on {bench.network.name}, input {label}: expected an inference without "
                f"an error, found status {run.end.status:#010x} after {run.end.end_cycle:,} cycles"
                f"{_where_it_ended(bench, run)}{alarm}; choose a network that the target can run"
            )
        if bench.expected and run.end.output != bench.expected[position]:
            raise HarnessError(_unexpected(bench, label, run.end.output, bench.expected[position]))
    return runs


def compared_goldens(
    campaign: Campaign, bench: Bench, goldens: Sequence[GoldenRun], progress: Progress
) -> GoldenComparison:
    """Compare the runs without a fault with an independent reference of what runs, and say what came of it.

    Raises:
        HarnessError: an output is not what the reference computes, and the campaign does not accept that.
    """
    compared = bench.compare([run.end.output for run in goldens])
    settings = campaign.work
    accepted = isinstance(settings, NetworkSettings) and settings.accept_golden
    require_golden(compared, f"{bench.target_name} on {bench.network.name}", accepted)
    if compared.state == DIFFERS:
        progress.warn(f"warning: {compared.sentence}")
    else:
        progress.stage(compared.sentence)
    return compared


def _unexpected(bench: Bench, label: int, found: bytes, expected: bytes) -> str:
    differing = [i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b]
    first = differing[0]
    return (
        f"{bench.target_name} on {bench.network.name}, input {label}: expected the output of the campaign's "
        f"file of expected outputs, found {len(differing)} of {len(found)} bytes different, the first "
        f"at byte {first} ({expected[first]:#04x} expected, {found[first]:#04x} found); check "
        "images, the place of the output and its shape"
    )


def _alarmed(bench: Bench, label: int, rise: Rise) -> str:
    return (
        f"{bench.target_name} on {bench.network.name}, input {label}: expected no alarm in a run without a "
        f"fault, found {rise.alarm} up from cycle {rise.cycle:,} on; if it is active low, put the top into a "
        "module that inverts it; if it is no alarm, as data or a busy flag, remove it from [alarms]; if it "
        "is right, correct what drives the design"
    )


def _where_it_ended(bench: Bench, run: GoldenRun) -> str:
    done, operations = len(run.operation_ends), bench.network.operations
    if done >= len(operations):
        return ""
    operation = operations[done]
    return f" in operation {operation.index} of kind {operation.kind} ({operation.name[:60]})"


def require_all_mapped(bench: Bench) -> None:
    """Raise UnmappedSiteError if storage of the target did not become fault sites."""
    if bench.unmapped:
        raise UnmappedSiteError(
            f"{bench.target_name}: expected every storage bit to become a fault site, found "
            f"{len(bench.unmapped)} that did not: {'; '.join(bench.unmapped[:10])}; rewrite them "
            "in a form that elaboration knows"
        )


class _CampaignRun:
    """The part of a campaign that touches the run folder."""

    def __init__(
        self,
        campaign: Campaign,
        bench: Bench,
        population: Population,
        folder: RunFolder,
        progress: Progress,
        farm: Farm | None,
        known: KnownOutcomes | None,
    ) -> None:
        self._campaign = campaign
        self._bench = bench
        self._population = population
        self._folder = folder
        self._progress = progress
        self._workers = campaign.execution.processes
        self._farm = farm
        self._known = known
        self._farmed: FarmExecutor | None = None
        self._injected = False
        self._seconds = 0.0
        self._audits = Audits(folder, [])
        self._content = Content.joined(())
        self._before = Before(folder)

    def complete_or_fail(self, engines: list[CampaignEngine], sampling: Sampling) -> None:
        """As `complete`; results that contradict each other mark the run as failed for good."""
        try:
            self.complete(engines, sampling)
        except ConsistencyError as error:
            self._folder.note(failed=str(error))
            forget_underway(self._folder.path)
            self._drop_results()
            forget_outcomes()
            raise

    def complete(self, engines: list[CampaignEngine], sampling: Sampling) -> None:
        """Inject what the sampling plan wants and is missing, until it is content."""
        if not self._before.finished:
            self._describe()
        found = self.stored()
        self._audits = Audits(self._folder, engines)
        self._audit_kept()
        before = 0
        while (plan := sampling.wanted) is not None:
            missing = plan.missing(found.injections)
            if missing.size:
                unknown = self._recall(engines, plan, missing)
                if unknown.size:
                    self._inject(engines, plan, unknown, before, sampling.stage == "pilot")
                found = self.stored()
                if (left := plan.missing(found.injections)).size:
                    raise ConsistencyError(
                        f"{self._folder.path}: {left.size} injections are missing after all ran"
                    )
            sampling.record(found.among(plan.injection))
            before += plan.size
            if missing.size and self._campaign.sampling.goes_by_results:
                self._progress.stage(look_text(sampling, self._campaign))
        forget_underway(self._folder.path)
        if self._injected and (text := self._audits.text):
            self._progress.stage(text)
        if self._injected and self._known is not None:
            self._known.remember(self._folder.rows())

    def finished(self) -> Provenance:
        """Return the provenance of the finished run; new times are noted only if something was injected."""
        facts = self._folder.provenance().changed(results=None)
        if not self._injected and facts.finished is not None:
            return facts
        seconds = round(facts.seconds + self._seconds, 3)
        return facts.changed(seconds=seconds, finished=now(), workers=self._workers)

    def area(self) -> AreaFacts:
        """Return the area of the blocks, which may take as long as all that came before."""
        try:
            return self._bench.area()
        except KeyboardInterrupt:
            raise Interrupted(f"all injections are kept in {self._go_on()}") from None

    def write(self, summary: Summary, sample: Sample) -> Results:
        """Write results and reports, and seal them; a protection chosen for other results is dropped.

        Raises:
            StoreError: the results that are there rest on more injections, and no tighter margin is kept:
                they stay.
        """
        path = self._folder.path
        try:
            require_as_good(path, summary)
        except StoreError:
            self._before.restore(self._content)
            raise
        self._describe()
        text = summary.text()
        if not (path / SUMMARY).exists() or (path / SUMMARY).read_bytes() != text.encode():
            self._drop_results()
        results = Results(summary, accepted_plan(path, sha256(text.encode()).hexdigest()))
        write_strata(self._population, sample, path / STRATA)
        results.write(path)
        write_text(path / SUMMARY, text)
        sealed = summary.provenance.changed(results=seal(path, RUN, self._content))
        write_text(path / PROVENANCE, sealed.text())
        return results

    def _describe(self) -> None:
        write_text(self._folder.path / CAMPAIGN, resolved_text(self._campaign))
        write_parquet(self._bench.sites, self._folder.path / SITES, self._bench.rtl_registers)

    def stored(self) -> Content:
        """Return the injections that the folder holds."""
        stored = self._folder.load(self._population.check)
        for message in stored.rejected:
            self._progress.warn(message)
        self._content = stored.content
        return stored.content

    def _inject(
        self, engines: list[CampaignEngine], plan: FaultPlan, missing: IntArray, before: int, pilot: bool
    ) -> None:
        self._begin(engines)
        size = before + plan.size
        rates = technology_of(self._campaign)
        note_underway(
            self._folder.path,
            self._campaign,
            plan,
            int(missing.size),
            self._workers,
            {kind: rates.fit_per_bit(kind) for kind in self._campaign.faults.kinds},
            pilot=pilot,
        )
        self._progress.stage(f"{missing.size:,} injections with the {self._campaign.execution.engine} engine")
        self._progress.begin(size, size - missing.size)
        try:
            with self._timed():
                if self._farm is not None:
                    self._farm_out(self._farm, engines, plan, missing)
                else:
                    self._here(engines, plan).run(missing)
        except KeyboardInterrupt:
            forget_underway(self._folder.path)
            kept = size - plan.missing(self.stored().injections).size
            raise Interrupted(f"{kept:,} of {size:,} injections are kept in {self._go_on()}") from None

    def _begin(self, engines: list[CampaignEngine]) -> None:
        """Make the folder ready for injections that join it."""
        if not self._injected:
            self._simulate_some_again(engines)
            self._injected = True
            self._folder.note(finished=None)
            self._describe()

    def _recall(self, engines: list[CampaignEngine], plan: FaultPlan, missing: IntArray) -> IntArray:
        """Keep what earlier campaigns have found of missing rows, audited; return the rows that are left."""
        if self._known is None:
            return missing
        rows = self._known.recall(plan, missing)
        if not rows.num_rows:
            return missing
        self._begin(engines)
        self._progress.stage(f"{rows.num_rows:,} injections are known from earlier campaigns")
        self._folder.note(recalled=self._folder.provenance().recalled + rows.num_rows)
        self._folder.append(rows)
        self._audit_kept()
        return missing[~np.isin(plan.injection[missing], rows["injection"].to_numpy())]

    def _simulate_some_again(self, engines: list[CampaignEngine]) -> None:
        """Refuse to add to injections that the simulator which is here does not confirm."""
        if self._folder.parts_from(0):
            self._progress.stage("some injections that are kept, again")
            with self._progress.working("simulating again"):
                require_same_rows(self._folder, engines, self._bench.inputs, self._campaign.seed)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Count seconds of injecting; builds that injections wait for are none."""
        began, built = time.monotonic(), self._progress.built_seconds
        try:
            yield
        finally:
            self._seconds += time.monotonic() - began - (self._progress.built_seconds - built)

    def _audit_kept(self) -> None:
        """Audit what was kept of a session that was interrupted before its engine had done so."""
        if not self._audits.uncovered:
            return
        self._progress.stage("audit of injections that an earlier session kept")
        with self._progress.working("audit"):
            try:
                self._audits.try_kept(self._bench.inputs, self._workers)
            except KeyboardInterrupt:
                raise Interrupted(f"all injections are kept in {self._go_on()}") from None

    def _here(self, engines: list[CampaignEngine], plan: FaultPlan) -> Executor:
        bench = self._bench
        return Executor(
            plan, bench.sites, engines, bench.inputs, bench.describe, self._folder, self._workers,
            self._progress, self._audits.cover,
        )  # fmt: skip

    def _farm_out(
        self, farm: Farm, engines: list[CampaignEngine], plan: FaultPlan, missing: IntArray
    ) -> None:
        if self._farmed is None:
            self._farmed = FarmExecutor(
                self._campaign, self._bench, self._population, engines, self._folder, farm, self._audits,
                self._progress,
            )  # fmt: skip
        self._farmed.run(plan, missing)
        self._workers = self._farmed.workers

    def _go_on(self) -> str:
        folder = self._folder.path
        command = f"resil run {self._campaign.file} --out {folder} --resume"
        return f"{folder}; go on with: {command} {shlex.join(self._campaign.options)}".rstrip()

    def _drop_results(self) -> None:
        for name in DERIVED:
            (self._folder.path / name).unlink(missing_ok=True)
