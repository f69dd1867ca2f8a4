"""`resil run`: a campaign from its file to its verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from resil import provenance
from resil.bench import Bench
from resil.campaign import Campaign
from resil.campaign_text import campaign_text
from resil.engines import ReplayingEngine
from resil.errors import ConsistencyError, ExitCode, Interrupted, StoreError
from resil.estimate import summarise, technology_of
from resil.execute import Executor
from resil.files import json_text, write_text
from resil.plan import IntArray, Plan, make_plan
from resil.prepare import prepare
from resil.progress import Progress
from resil.render import render_run, summary_text
from resil.report import load_protection
from resil.site_list import write_parquet
from resil.store import CAMPAIGN, DERIVED, PROVENANCE, SITES, SUMMARY, RunFolder, open_run
from rtl_harness.engines.base import GoldenRun
from rtl_harness.errors import HarnessError, UnmappedSiteError

_CODES = {
    "met": ExitCode.MET,
    "none": ExitCode.MET,
    "missed": ExitCode.MISSED,
    "inconclusive": ExitCode.INCONCLUSIVE,
}


@dataclass(frozen=True)
class RunResult:
    """What a finished run says.

    Attributes:
        summary: Content of `summary.json`.
        text: The same for a person.
    """

    summary: Mapping[str, Any]
    text: str


def run_campaign(
    campaign: Campaign, out: Path, *, resume: bool = False, progress: Progress | None = None
) -> RunResult:
    """Carry out what is missing of a campaign in the run folder `out`, and judge it.

    A finished run is only judged again.

    Raises:
        StoreError: the folder cannot be used, or holds an unfinished run and `resume` is not set.
        Interrupted: Ctrl-C while injecting; what was simulated is kept.
        HarnessError, NetworkError: the target or the network cannot be used.
        ConsistencyError: results contradict each other.
    """
    progress = progress or Progress()
    technology_of(campaign)
    bench = prepare(campaign, progress)
    if bench.unmapped:
        raise UnmappedSiteError(
            f"{bench.target_name}: expected every storage bit to become a fault site, found "
            f"{len(bench.unmapped)} that did not: {'; '.join(bench.unmapped[:10])}; rewrite them "
            "in a form that elaboration knows"
        )
    with open_run(out, bench.identity, json_text(provenance.begin(campaign, bench))) as folder:
        if folder.unfinished and not resume:
            raise StoreError(
                f"{out}: expected a new or a finished run, found an unfinished one of this campaign; "
                "add --resume to finish it, or choose another --out"
            )
        return _Run(campaign, bench, folder, progress).finish()


def verdict_code(summary: Mapping[str, Any]) -> ExitCode:
    """Return the exit code for the verdict of `summary`."""
    return _CODES[summary["verdict"]["result"]]


def golden_runs(bench: Bench, engines: list[ReplayingEngine]) -> list[GoldenRun]:
    """Simulate each input without a fault.

    Raises:
        HarnessError: the design reports an error by itself.
    """
    runs = [engine.golden() for engine in engines]
    for label, run in zip(bench.inputs, runs, strict=True):
        if run.end.error or run.end.protection or not run.end.finished:
            raise HarnessError(
                f"{bench.target_name} on {bench.network.name}, input {label}: expected an inference "
                f"without an error, found status {run.end.status:#010x} after {run.end.end_cycle:,} cycles; "
                "the network may need an operation that the target lacks: see what resil infer says"
            )
    return runs


class _Run:
    def __init__(self, campaign: Campaign, bench: Bench, folder: RunFolder, progress: Progress) -> None:
        self._campaign = campaign
        self._bench = bench
        self._folder = folder
        self._progress = progress
        self._workers = campaign.execution.workers or len(os.sched_getaffinity(0))

    def finish(self) -> RunResult:
        """Inject what is missing, estimate, judge, report."""
        began = time.monotonic()
        area = self._bench.area()
        with ExitStack() as stack:
            self._progress.stage("building the simulator and running without a fault")
            positions = range(len(self._bench.inputs))
            engines = [stack.enter_context(self._bench.engine(position)) for position in positions]
            goldens = golden_runs(self._bench, engines)
            plan = make_plan(self._campaign, self._bench.sites, tuple(run.end.end_cycle for run in goldens))
            write_text(self._folder.path / CAMPAIGN, campaign_text(self._campaign))
            write_parquet(self._bench.sites, self._folder.path / SITES)
            rows = self._rows(plan)
            missing = plan.missing(rows)
            if missing.size:
                rows = self._inject(plan, engines, missing)
        facts = self._provenance(time.monotonic() - began if missing.size else 0.0)
        summary = summarise(self._campaign, self._bench, area, goldens, plan, plan.chosen(rows), facts)
        protection = self._write(summary)
        return RunResult(summary, summary_text(summary, protection))

    def _rows(self, plan: Plan) -> pa.Table:
        stored = self._folder.load(plan.check)
        for message in stored.rejected:
            self._progress.stage(message)
        return stored.rows

    def _inject(self, plan: Plan, engines: list[ReplayingEngine], missing: IntArray) -> pa.Table:
        for name in DERIVED:
            (self._folder.path / name).unlink(missing_ok=True)
        done = plan.size - missing.size
        self._progress.stage(f"{missing.size:,} injections with the {self._campaign.execution.engine} engine")
        self._progress.begin(plan.size, done)
        executor = Executor(
            plan, self._bench.sites, engines, self._bench.inputs, self._folder, self._workers, self._progress
        )
        try:
            executor.run(missing)
        except KeyboardInterrupt:
            kept = plan.size - plan.missing(self._rows(plan)).size
            raise Interrupted(
                f"{kept:,} of {plan.size:,} injections are kept in {self._folder.path}; "
                f"go on with: resil run {self._campaign.file} --out {self._folder.path} --resume"
            ) from None
        rows = self._rows(plan)
        if (left := plan.missing(rows)).size:
            raise ConsistencyError(f"{self._folder.path}: {left.size} injections are missing after all ran")
        return rows

    def _provenance(self, seconds: float) -> dict[str, Any]:
        facts = self._folder.provenance()
        if seconds or facts["finished"] is None:
            facts["seconds"] = round(facts["seconds"] + seconds, 1)
            facts["finished"] = provenance.now()
            facts["workers"] = self._workers
            write_text(self._folder.path / PROVENANCE, json_text(facts))
        return facts

    def _write(self, summary: dict[str, Any]) -> dict[str, Any] | None:
        text = json_text(summary)
        path = self._folder.path / SUMMARY
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            for name in DERIVED:
                (self._folder.path / name).unlink(missing_ok=True)
        protection = load_protection(self._folder.path)
        render_run(self._folder.path, summary, protection)
        write_text(path, text)
        return protection
