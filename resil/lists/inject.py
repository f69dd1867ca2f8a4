# SPDX-License-Identifier: Apache-2.0
"""A fault list, injected as it is; and outcomes of another tool, counted in the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from resil.campaign.campaign import Campaign
from resil.campaign.text import resolved_text
from resil.errors import ConsistencyError, ResilError
from resil.files import write_text
from resil.lists.on_design import PlacedList, on_design
from resil.lists.rows import SET, TIMED, read_list, write_rows
from resil.lists.statuses import status_of
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.record.listed import (
    DETECTED,
    FUNCTIONALLY_UNTESTABLE,
    IMPORTED,
    NOT_ATTEMPTED,
    OBSERVED,
    SIMULATED,
    STATUSES,
    UNTESTABLE,
    ListedBlock,
    ListedCoverage,
    ListedResults,
)
from resil.reports.table import Column, Table
from resil.rtl_harness.faults import Fault, Injection
from resil.run.campaign import compared_goldens, golden_runs, require_all_mapped
from resil.stats.intervals import clopper_pearson

ROWS, CAMPAIGN = "faults.csv", "campaign.toml"
TOTAL = "total"
Columns: TypeAlias = dict[str, list[str | int | float]]


def run_list(
    campaign: Campaign, file: Path, out: Path, *, random: bool = False, progress: Progress | None = None
) -> ListedResults:
    """Inject the faults of a list, each once, and write what came of them to a folder.

    Args:
        campaign: Design, workload and engine; its plan and its number of injections are not used.
        file: The list.
        out: Folder of `listed.json`, `faults.csv` and `campaign.toml`; must not hold results.
        random: The list is a random sample: then the coverage has limits.
        progress: Where stages go; None for lines on stderr.

    Raises:
        ResilError: The list is wrong, names what the design does not have, or the folder holds something.
        HarnessError: The design cannot be run.
    """
    require_empty(out)
    progress = progress or Progress()
    listed = read_list(file)
    bench = prepare(campaign, progress, simulates=1)
    require_all_mapped(bench)
    placed = on_design(bench, listed)
    placed.require_injectable(campaign.faults.model)
    if random:
        placed.require_equal_weights()
    found: dict[int, Injection | None] = {}
    engines = [bench.engine(position) for position in range(len(bench.inputs))]
    for engine in engines:
        engine.__enter__()
    try:
        progress.stage("building the simulator and running without a fault")
        with progress.working("running without a fault"):
            goldens = golden_runs(bench, engines)
            compared_goldens(campaign, bench, goldens, progress)
        placed.require_in_time([run.cycles for run in goldens])
        progress.stage(f"injecting {len(listed.rows):,} faults of {file.name}")
        for position, engine in enumerate(engines):
            faults: dict[Fault, list[int]] = {}
            for number, own in enumerate(placed.faults):
                if own.position != position:
                    continue
                if own.fault is None or own.status:
                    found[number] = None
                    continue
                faults.setdefault(own.fault, []).append(number)
            with progress.working("injecting"):
                for injection in engine.run([*faults]):
                    found |= dict.fromkeys(faults[injection.fault], injection)
    finally:
        for engine in engines:
            engine.__exit__(None, None, None)
    for number, row in enumerate(listed.rows):
        if number not in found:
            raise ConsistencyError(
                f"{row.site}, {row.type}, {row.time}: expected an answer of the engine, found none; "
                "please report it"
            )
    injections = [found[number] for number in range(len(listed.rows))]
    statuses = [
        own.status if injection is None else status_of(injection.outcome, injection.untestable or "")
        for own, injection in zip(placed.faults, injections, strict=True)
    ]
    by = (SIMULATED, campaign.execution.engine)
    return _written(campaign, placed, statuses, out, by, random, _outcomes(placed, injections))


def import_results(
    campaign: Campaign, file: Path, out: Path, *, random: bool = False, progress: Progress | None = None
) -> ListedResults:
    """Count outcomes that another tool found, and write them to a folder, marked as imported.

    Arguments and errors as `run_list`; nothing is simulated. What does not exist in hardware is untestable,
    whatever the list says of it.
    """
    require_empty(out)
    listed = read_list(file, with_status=True)
    bench = prepare(campaign, progress or Progress())
    placed = on_design(bench, listed)
    placed.require_fitting(campaign.faults.model)
    if random:
        placed.require_equal_weights()
    if bench.cycles:
        placed.require_in_time(bench.cycles)
    # Another tool may follow what has no site here.
    statuses = [UNTESTABLE if own.status == UNTESTABLE else own.row.status for own in placed.faults]
    return _written(campaign, placed, statuses, out, (IMPORTED, ""), random)


def require_empty(out: Path) -> None:
    """Refuse a folder that holds something: results of lists and of runs are never mixed."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ResilError(f"{out}: expected no such folder, or an empty one; give another --out", "--out")


def _columns(placed: PlacedList, statuses: Sequence[str], origin: str) -> Columns:
    bench, rows = placed.bench, placed.listed.rows
    return {
        "site": [row.site for row in rows],
        "type": [row.type for row in rows],
        "time": [row.time if row.type in TIMED else "" for row in rows],
        "input": [bench.inputs[own.position] for own in placed.faults],
        "bits": [row.bits for row in rows],
        "weight": ["" if row.weight is None else row.weight for row in rows],
        "block": [own.block for own in placed.faults],
        "status": [*statuses],
        "reason": [
            own.reason if status == own.status else ""
            for own, status in zip(placed.faults, statuses, strict=True)
        ],
        "origin": [origin] * len(rows),
    }


def _outcomes(placed: PlacedList, injections: Sequence[Injection | None]) -> Columns:
    both = zip(placed.faults, injections, strict=True)
    return {
        "reason": [
            own.reason if found is None else found.untestable.value if found.untestable else ""
            for own, found in both
        ],
        "outcome": ["" if own is None else own.outcome.value for own in injections],
        "alarm": ["" if own is None or own.detected is None else own.detected.alarm for own in injections],
        "alarm_cycle": [
            "" if own is None or own.detected is None else own.detected.cycle for own in injections
        ],
        "end_cycle": ["" if own is None else own.end_cycle for own in injections],
    }


def _written(
    campaign: Campaign,
    placed: PlacedList,
    statuses: Sequence[str],
    out: Path,
    by: tuple[str, str],
    random: bool,
    more: Columns | None = None,
) -> ListedResults:
    file = placed.listed.file
    columns = _columns(placed, statuses, by[0]) | (more or {})
    results = ListedResults(
        schema=3,
        campaign=campaign.name,
        target=placed.bench.target_name,
        origin=by[0],
        engine=by[1],
        source=file.name,
        digest=sha256(file.read_bytes()).hexdigest(),
        random=random,
        weighted=placed.listed.weighted,
        blocks=_blocks(columns),
        coverage=_coverage(placed, statuses, random),
        remarks=(*_remarks(placed, statuses), *(_imported_remarks(placed) if by[0] == IMPORTED else ())),
    )
    out.mkdir(parents=True, exist_ok=True)
    write_rows(out / ROWS, columns)
    write_text(out / CAMPAIGN, resolved_text(campaign))
    write_text(out / ListedResults.FILE, results.text())
    return results


def _blocks(columns: Columns) -> tuple[ListedBlock, ...]:
    pairs = [*zip(columns["block"], columns["status"], strict=True)]
    counts = {str(block): Counter(s for own, s in pairs if own == block) for block, _ in pairs}
    counts[TOTAL] = Counter(status for _, status in pairs)
    return tuple(
        ListedBlock(block=block, faults=own.total(), statuses={status: own[status] for status in STATUSES})
        for block, own in counts.items()
    )


def _coverage(placed: PlacedList, statuses: Sequence[str], random: bool) -> ListedCoverage | None:
    """Return the coverage of a random sample, or of a list that says what each fault stands for."""
    counts = Counter(statuses)
    harmful = counts[DETECTED] + counts[OBSERVED]
    if not harmful or not (random or placed.listed.weighted):
        return None
    sums = {DETECTED: 0.0, OBSERVED: 0.0}
    for row, status in zip(placed.listed.rows, statuses, strict=True):
        if status in sums:
            sums[status] += 1.0 if row.weight is None else row.weight
    estimate = sums[DETECTED] / sum(sums.values())
    found = clopper_pearson(counts[DETECTED], harmful) if random else None
    return ListedCoverage(
        estimate=estimate, lo=None if found is None else found.lo, hi=None if found is None else found.hi
    )


def _remarks(placed: PlacedList, statuses: Sequence[str]) -> tuple[str, ...]:
    """Return what limits what the results say."""
    remarks = []
    counts = Counter(statuses)
    if left := counts[NOT_ATTEMPTED]:
        remarks.append(
            f"Of {len(statuses):,} faults, {left:,} were not attempted, and may do anything: what is said of "
            "the list, its coverage too, is said of the others."
        )
    if unexcited := counts[FUNCTIONALLY_UNTESTABLE]:
        remarks.append(
            f"Of {len(statuses):,} faults, {unexcited:,} are functionally untestable: by the inputs that "
            "ran, which is no proof for others."
        )
    if placed.listed.unread:
        remarks.append(
            f"There are columns of the list that were not read: {', '.join(placed.listed.unread)}."
        )
    held = placed.bench.in_reset()
    if in_reset := sum(int(own.sum()) for own in held):
        timed = [own for own in placed.faults if own.row.type in TIMED and not own.status]
        times = [(held[own.position], own.row.time) for own in timed]
        # The edge that ends the run comes after those of the recording.
        struck = sum(time < len(cycles) and bool(cycles[time]) for cycles, time in times)
        whole = sum(len(own) for own in held)
        what = "pulses" if any(own.row.type == SET for own in timed) else "upsets"
        remarks.append(
            f"Cycle 0 is the first edge of the recording's window. In {in_reset:,} of {whole:,} cycles a "
            f"fault finds the design in reset: {struck:,} {what} of the list strike there."
        )
    return tuple(remarks)


def _imported_remarks(placed: PlacedList) -> tuple[str, ...]:
    """Return what an import had to change, or could not look at."""
    remarks = []
    changed = sum(own.status == UNTESTABLE != own.row.status for own in placed.faults)
    if changed:
        remarks.append(
            f"Of {len(placed.faults):,} faults, {changed:,} are counted as untestable, whatever the list "
            "says: there is no hardware for their bits."
        )
    if not placed.bench.cycles and any(row.type in TIMED for row in placed.listed.rows):
        remarks.append("Times were not compared with the length of the run, which only a simulation shows.")
    return tuple(remarks)


def results_text(results: ListedResults, width: int | None = None) -> str:
    """Return the results as lines for a person."""
    columns = (Column("block", numeric=False), Column("faults"), *(Column(own) for own in STATUSES))
    rows = [
        (own.block, f"{own.faults:,}", *(f"{own.statuses[status]:,}" for status in STATUSES))
        for own in results.blocks
    ]
    made = (
        "imported: outcomes that another tool says, not checked by resil"
        if results.origin == IMPORTED
        else f"simulated by the engine {results.engine}"
    )
    lines = [f"{results.target}, faults of {results.source}, {made}.", ""]
    lines += [Table("What came of them", columns, tuple(rows)).text(width)]
    lines += [_coverage_text(results), *(f"Remark: {remark}" for remark in results.remarks)]
    return "\n".join(lines)


def _coverage_text(results: ListedResults) -> str:
    own = results.coverage
    if own is None:
        return "Shares are those of this list: no rate and no verdict follow from it."
    if own.lo is None or own.hi is None:
        return (
            f"Diagnostic coverage of what the faults of this list stand for, a ratio of weights: "
            f"{own.estimate:.2%}. It has no limits here: those of a run are in its verdict."
        )
    return (
        f"Diagnostic coverage in the population that the list is a random sample of: {own.estimate:.2%} "
        f"({own.lo:.2%} to {own.hi:.2%})."
    )
