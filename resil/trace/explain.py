# SPDX-License-Identifier: Apache-2.0
"""Injections of a class, traced and grouped by the shortest causal path of each."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median

import numpy as np

from resil.campaign.campaign import load_campaign
from resil.errors import ResilError
from resil.files import write_text
from resil.folder.finished import Finished, finished_run
from resil.folder.provenance import now
from resil.folder.recorded_injection import find_injection
from resil.folder.store import CAMPAIGN, locked
from resil.progress import Progress
from resil.record.explanation import Explanation, FaultGroup, StruckRegister
from resil.record.interval import RecordedInterval
from resil.record.trace import Trace, TracePath
from resil.results.run import FinishedRun
from resil.results.traced import TRACES, story_file
from resil.run.recorded_bench import recorded_bench
from resil.stats.rates import OUTCOMES
from resil.trace.fault import FaultTracer, about_recorded, other_engine
from resil.trace.text import trace_text

LIMIT, SECONDS = 60, 600.0
"""What is traced unless more is asked for."""
EXAMPLES = 6
"""Groups whose example is kept as a whole trace."""
_CYCLE = re.compile(r"^before cycle \d+ ")
_NOTHING = "nothing differed where one would see it"
_INDEX = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True, order=True)
class GroupKey:
    """What faults of a group have in common; fields as those of `FaultGroup`."""

    block: str
    register_class: str
    route: tuple[str, ...]
    to: str
    problem: str


def explain_run(
    run_dir: Path,
    outcomes: Sequence[str] = (),
    *,
    limit: int = LIMIT,
    seconds: float = SECONDS,
    seed: int = 1,
) -> Explanation:
    """Trace injections of a class, group them, and keep the answer in the folder.

    Which of the class are traced is drawn at random, so that groups are found as often as they come.

    Args:
        run_dir: A finished run.
        outcomes: The class; nothing for the outcomes that the campaign calls hazardous.
        limit: How many are traced at the most.
        seconds: After which no more is begun.
        seed: Of the draw.

    Raises:
        ConsistencyError: Something else came of one than is stored.
        ResilError: There is no such outcome, the run has no injection of the class, or cannot be traced.
        StoreError: The run cannot be used, or was made with something else than what is here now.
    """
    finished, run = finished_run(run_dir), FinishedRun(run_dir)
    asked = tuple(outcomes) or run.summary.campaign.hazardous
    if unknown := sorted(set(asked) - set(OUTCOMES)):
        raise ResilError(
            f"--outcome: expected some of {', '.join(OUTCOMES)}, found {', '.join(unknown)}", "--outcome"
        )
    rows = run.counted()
    numbers = rows.loc[rows["outcome"].isin(asked), "injection"].to_numpy()
    if not len(numbers):
        raise ResilError(
            f"{run_dir}: expected injections that came out {' or '.join(asked)}, found none among "
            f"{len(rows):,}: there is nothing to explain; ask for another --outcome, or inject more",
            "--outcome",
        )
    order = np.random.default_rng(seed).permutation(numbers)[:limit].tolist()
    traces, notes = _traced(run_dir, order, seconds)
    stopped = "all" if len(traces) == len(numbers) else "limit" if len(traces) == limit else "time"
    groups = _groups(run, traces, numbers.tolist())
    found = Explanation(
        schema=Explanation.SCHEMA,
        content=_content(finished),
        outcomes=asked,
        injections=len(numbers),
        traced=len(traces),
        stopped=stopped,
        limit=limit,
        seconds=seconds,
        seed=seed,
        confidence=run.confidence,
        fit=_interval(run, numbers.tolist()),
        groups=groups,
        traces=tuple(traces[group.example] for group in groups[:EXAMPLES]),
        notes=notes,
        made=now(),
    )
    with locked(run_dir):
        (run_dir / TRACES).mkdir(exist_ok=True)
        for trace in found.traces:
            assert trace.injection is not None
            write_text(run_dir / story_file(trace.injection), f"{trace_text(trace)}\n")
        write_text(run_dir / Explanation.FILE, found.text())
    return found


def group_key(trace: Trace, outcome: str) -> GroupKey:
    """Return what a fault has in common with others: what was struck, blocks on its way, its end."""
    path = telling_path(trace, outcome)
    if path is None:
        problem = next((one.problem for one in trace.paths if one.to == _goal(trace, outcome)), _NOTHING)
        return GroupKey(trace.block, trace.register_class, (trace.block,), "", _CYCLE.sub("", problem))
    route = tuple(dict.fromkeys(step.block for step in path.steps))
    return GroupKey(trace.block, trace.register_class, route, path.to, "")


def telling_path(trace: Trace, outcome: str) -> TracePath | None:
    """Return the path to what decides of an outcome: the first alarm, or what was seen."""
    return trace.path_to(_goal(trace, outcome))


def _goal(trace: Trace, outcome: str) -> str:
    wanted = {"hang": "done", "latent": "state", "due": f"alarm {trace.outcome['alarm']}"}
    return wanted.get(outcome, "output")


def _traced(run_dir: Path, order: Sequence[int], seconds: float) -> tuple[dict[int, Trace], tuple[str, ...]]:
    """Return the traces of injections, as many as there is time for, and what limits them."""
    campaign, progress = load_campaign(run_dir / CAMPAIGN), Progress()
    bench = recorded_bench(run_dir, campaign, other_engine(campaign), progress)
    tracers: dict[int, FaultTracer] = {}
    traces: dict[int, Trace] = {}
    progress.stage(f"tracing {len(order):,} injections")
    progress.begin(len(order), 0)
    began = time.monotonic()
    with ExitStack() as engines:
        for number in order:
            if traces and time.monotonic() - began > seconds:
                break
            recorded = find_injection(run_dir, number)
            if recorded.input not in tracers:
                engine = engines.enter_context(bench.engine(bench.inputs.index(recorded.input)))
                tracers[recorded.input] = FaultTracer(bench, engine)
            about = about_recorded(bench, recorded)
            traces[number] = tracers[recorded.input].trace(recorded.fault, about)
            progress.advance()
    progress.finish()
    return traces, tuple(dict.fromkeys(note for trace in traces.values() for note in trace.notes))


def _groups(
    run: FinishedRun, traces: Mapping[int, Trace], everything: Sequence[int]
) -> tuple[FaultGroup, ...]:
    rows = run.counted()
    outcomes = dict(zip(rows["injection"].tolist(), rows["outcome"].tolist(), strict=True))
    members: defaultdict[GroupKey, list[int]] = defaultdict(list)
    for number, trace in traces.items():
        members[group_key(trace, outcomes[number])].append(number)
    weights = dict(zip(rows["injection"].tolist(), rows["weight"].tolist(), strict=True))
    traced = sum(weights[number] for number in traces)
    left_out = [number for number in everything if number not in traces]
    whole = _interval(run, everything).estimate or 0.0

    def group(key: GroupKey, numbers: list[int]) -> FaultGroup:
        share = sum(weights[number] for number in numbers) / traced if traced else 0.0
        exact = _interval(run, numbers)
        highest = exact.hi if not left_out else _interval(run, [*numbers, *left_out]).hi
        ways = {number: telling_path(traces[number], outcomes[number]) for number in numbers}
        moves = {number: way.moves for number, way in ways.items() if way is not None}
        cycles = [way.cycle - traces[number].cycle for number, way in ways.items() if way is not None]
        example = min(numbers, key=lambda number: (moves.get(number, 0), number))
        return FaultGroup(
            block=key.block,
            register_class=key.register_class,
            route=key.route,
            to=key.to,
            problem=key.problem,
            traced=len(numbers),
            share=share,
            fit=RecordedInterval(share * whole, min(exact.lo, share * whole), max(highest, share * whole)),
            registers=tuple(_registers(traces[number] for number in numbers)),
            fewest_moves=min(moves.values(), default=0),
            median_moves=float(median(moves.values())) if moves else 0.0,
            median_cycles=float(median(cycles)) if cycles else 0.0,
            example=example,
            example_path=_variables(ways[example]),
            injections=tuple(sorted(numbers)),
        )

    found = [group(key, numbers) for key, numbers in sorted(members.items())]
    return tuple(sorted(found, key=lambda one: (-(one.fit.estimate or 0.0), -one.traced)))


def _variables(path: TracePath | None) -> tuple[str, ...]:
    names = (_INDEX.sub("", step.name) for step in (path.steps if path is not None else ()))
    return tuple(name for name, _ in groupby(names))


def _registers(traces: Iterator[Trace]) -> Iterator[StruckRegister]:
    names = Counter(_INDEX.sub("", trace.name) for trace in traces)
    for name, count in sorted(names.items(), key=lambda item: (-item[1], item[0])):
        yield StruckRegister(name=name, traced=count)


def _interval(run: FinishedRun, injections: Collection[int]) -> RecordedInterval:
    found = run.fit_of(injections)
    return RecordedInterval(found.estimate, found.lo, found.hi)


def _content(finished: Finished) -> str:
    results = finished.provenance.results
    assert results is not None
    assert results.content is not None
    return results.content
