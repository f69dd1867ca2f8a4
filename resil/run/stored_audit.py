# SPDX-License-Identifier: Apache-2.0
"""Stored injections, simulated again by the plain engine, which shares nothing with that of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from resil.bench.bench import Bench
from resil.bench.identity import Identity
from resil.campaign.campaign import load_campaign
from resil.errors import ConsistencyError, ResilError, StoreError
from resil.files import write_text
from resil.folder.finished import Finished, finished_run
from resil.folder.outcomes import forget_outcomes
from resil.folder.parts import read_part
from resil.folder.provenance import now, versions
from resil.folder.row_maker import injections_of, outcome_columns
from resil.folder.store import CAMPAIGN, INJECTIONS, RunFolder, locked, recorded_definition
from resil.progress import Progress
from resil.record.stored_audit import Compared, Disagreement, StoredAudit
from resil.rtl_harness.faults import Injection, Outcome
from resil.rtl_harness.host import usable_processors
from resil.run.recorded_bench import recorded_bench
from resil.stats.intervals import clopper_pearson

# Engines that judge, by the simulator that they run.
JUDGES = {"verilator": "plain", "cxxrtl": "cxxrtl"}
# Of an outcome that is rarer in the draw, as many are tried, or all that there are.
EACH_OUTCOME = 20
CONFIDENCE = 0.95


def audit_stored(
    run_dir: Path,
    count: int,
    *,
    independent: bool = True,
    simulator: str = "verilator",
    seed: int = 1,
    workers: int | None = None,
) -> StoredAudit:
    """Simulate stored injections again, compare all that is kept of them, and keep the answer in the folder.

    Injections are drawn at random from all that the run holds, which gives the limit of the share that is
    wrong; of outcomes that are rare in the draw further ones are tried.

    Args:
        run_dir: A finished run.
        count: How many are drawn; all if there are fewer.
        independent: Another engine judges; if not, the run's own does, each fault by itself to its end.
        simulator: Which simulator the other engine runs, of `JUDGES`.
        seed: Of the draw.
        workers: Processes that simulate; None for one a processor.

    Raises:
        StoreError: the run cannot be used, or was made with something else than what is here now.
        ResilError: the run's engine is the judge, or it struck memory outside the design; or the judge's run
            without a fault is not the run's, so that it cannot judge.
        ConsistencyError: an injection comes out otherwise. The run is marked as failed, and refused from then
            on.
    """
    found = finished_run(run_dir)
    campaign = load_campaign(run_dir / CAMPAIGN)
    engine = campaign.execution.engine
    judge = JUDGES[simulator] if independent else engine
    if independent and engine == judge:
        raise ResilError(
            f"{run_dir}: expected a run of another engine, found one of the {judge} engine itself; it is no "
            "judge of its own answers",
            "execution.engine",
        )
    progress = Progress()
    bench = recorded_bench(run_dir, campaign, judge if independent else None, progress)
    if judge == JUDGES["cxxrtl"]:
        _require_same_golden(found, bench)
    identity = Identity(recorded_definition(run_dir))
    rows = _stored(run_dir, identity)
    drawn = _draw(rows, count, seed)
    tried = _with_rare(rows, drawn, seed)
    progress.stage(f"{len(tried):,} of {rows.num_rows:,} injections again, by the {judge} engine")
    progress.begin(len(tried), 0)
    wrong: dict[int, Disagreement] = {}
    again = _simulated(rows.take(tried), bench, independent, workers or usable_processors())
    for number, disagreement in again:
        progress.advance()
        if disagreement is not None:
            wrong[number] = disagreement
    progress.finish()
    audit = _document(found, rows, drawn, tried, wrong, (engine, judge), seed)
    _keep(run_dir, identity, audit)
    return audit


def _require_same_golden(found: Finished, bench: Bench) -> None:
    """Raise ResilError if a judge that runs no initial block begins from another state."""
    golden = found.summary.golden
    for position, label in enumerate(bench.inputs):
        with bench.engine(position) as engine:
            end = engine.golden().end
        there = (golden.output_hash[position], golden.cycles[position])
        if (here := (end.output_hash, end.end_cycle)) != there:
            raise ResilError(
                f"{found.path}, input {label}: expected the run without a fault that the run has (output and "
                f"cycles {there}), found {here} in the judge {engine.name}, which runs no initial block "
                "of the RTL: it cannot judge this design; audit with another simulator"
            )


def audit_text(audit: StoredAudit) -> str:
    """Return what was found as lines for a person."""
    drawn = audit.drawn
    share = f"at most {audit.at_most:.2%} of the run"
    what = f"{share} are wrong"
    if audit.judge == audit.engine:
        what = f"{share} come out otherwise in the same engine without its shortcuts"
    lines = [
        f"{drawn.tried:,} of {drawn.stored:,} injections, drawn at random, were simulated again "
        f"by the engine {audit.judge}: none differs",
        f"{what}, with {audit.confidence:.0%} confidence",
        "of each outcome, rare ones tried more often:",
    ]
    for outcome, own in audit.outcomes.items():
        lines.append(f"  {outcome:14} {own.tried:>7,} of {own.stored:>9,} tried, {own.differ} differ")
    return "\n".join(lines)


def _stored(run_dir: Path, identity: Identity) -> pa.Table:
    parts = sorted((run_dir / INJECTIONS).glob("part-*.parquet"))
    rows = pa.concat_tables(read_part(part, identity.digest) for part in parts)
    return rows.sort_by("injection")


def _draw(rows: pa.Table, count: int, seed: int) -> npt.NDArray[np.int64]:
    if count < 1:
        raise ResilError(f"-n: expected at least 1 injection, found {count}; give another number", "-n")
    choose = np.random.default_rng(seed)
    return np.sort(choose.permutation(rows.num_rows)[:count])


def _with_rare(rows: pa.Table, drawn: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.int64]:
    """Return the draw and as many more of each outcome as make `EACH_OUTCOME` of it, if there are."""
    outcomes = rows["outcome"].to_numpy(zero_copy_only=False)
    order = np.random.default_rng([seed, 1]).permutation(rows.num_rows)
    chosen = set(drawn.tolist())
    for outcome in Outcome:
        lacking = EACH_OUTCOME - int(np.sum(outcomes[drawn] == outcome.value))
        others = [at for at in order[outcomes[order] == outcome.value].tolist() if at not in chosen]
        chosen.update(others[: max(lacking, 0)])
    return np.array(sorted(chosen), dtype=np.int64)


def _simulated(
    rows: pa.Table, bench: Bench, independent: bool, workers: int
) -> Iterator[tuple[int, Disagreement | None]]:
    """Yield each injection's number, and what differs if anything does."""
    for position, label in enumerate(bench.inputs):
        own = rows.filter(pc.field("input") == label)
        if not own.num_rows:
            continue
        stored = dict(zip(injections_of(own), own["injection"].to_pylist(), strict=True))
        numbers = {injection.fault: (number, injection) for injection, number in stored.items()}
        with bench.engine(position) as engine:
            again = engine.run([*numbers], workers) if independent else map(engine.replay, numbers)
            for found in again:
                number, injection = numbers[found.fault]
                yield number, _difference(number, injection, found, bench)


def _difference(number: int, stored: Injection, found: Injection, bench: Bench) -> Disagreement | None:
    before, after = (outcome_columns([injection]) for injection in (stored, found))
    names = [name for name in before if before[name] != after[name]]
    if not names:
        return None
    return Disagreement(
        injection=number,
        site=bench.sites[stored.fault.site].name,
        cycle=stored.fault.cycle,
        stored={name: before[name][0] for name in names},
        found={name: after[name][0] for name in names},
    )


def _document(
    found: Finished,
    rows: pa.Table,
    drawn: npt.NDArray[np.int64],
    tried: npt.NDArray[np.int64],
    wrong: Mapping[int, Disagreement],
    engines: tuple[str, str],
    seed: int,
) -> StoredAudit:
    numbers = rows["injection"].to_numpy()
    outcomes = rows["outcome"].to_numpy(zero_copy_only=False)
    differs = np.isin(numbers, list(wrong))
    sealed = found.provenance.results
    assert sealed is not None
    assert sealed.content is not None

    def compared(stored: npt.NDArray[np.bool_], among: npt.NDArray[np.int64]) -> Compared:
        own = among[stored[among]]
        return Compared(stored=int(stored.sum()), tried=len(own), differ=int(differs[own].sum()))

    everything = compared(np.ones(rows.num_rows, dtype=np.bool_), drawn)
    return StoredAudit(
        schema=StoredAudit.SCHEMA,
        content=sealed.content,
        engine=engines[0],
        judge=engines[1],
        seed=seed,
        drawn=everything,
        confidence=CONFIDENCE,
        at_most=clopper_pearson(everything.differ, everything.tried, CONFIDENCE, "upper").hi,
        outcomes={
            o.value: compared(outcomes == o.value, tried) for o in Outcome if (outcomes == o.value).any()
        },
        disagreements=tuple(wrong[number] for number in sorted(wrong)),
        versions=versions(("resil", "verilator", "ethos-u-vela")),
        made=now(),
    )


def _keep(run_dir: Path, identity: Identity, audit: StoredAudit) -> None:
    """Write the answer into the run folder; mark the run as failed if anything differs, and raise."""
    failure = ""
    if audit.disagreements:
        first = audit.disagreements[0]
        failure = (
            f"{len(audit.disagreements)} injections came out otherwise when the engine {audit.judge} "
            f"simulated them again, as {first.injection} ({first.site}, cycle {first.cycle}): "
            f"stored {dict(first.stored)}, found {dict(first.found)}"
        )
    try:
        with locked(run_dir):
            write_text(run_dir / StoredAudit.FILE, audit.text())
            if failure:
                RunFolder(run_dir, identity).note(failed=failure)
    except StoreError as error:
        Progress().warn(f"the audit is not kept: {error}")
    if failure:
        # It may be kept for campaigns to come, or have been taken from there.
        forget_outcomes()
        raise ConsistencyError(f"{run_dir}: {failure}")
