# SPDX-License-Identifier: Apache-2.0
"""A fault list, injected as it is; and outcomes of another tool, counted in the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from resil.bench.bench import Bench
from resil.bench.site_list import block_name, site_named
from resil.campaign.campaign import Campaign
from resil.campaign.fault_settings import BRIDGE, LOGIC, OPEN
from resil.campaign.text import resolved_text
from resil.errors import ConsistencyError, ResilError
from resil.faults.plan import model_of
from resil.files import write_text
from resil.lists.rows import UPSET, ListedFault, read_list, write_rows
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.record.listed import (
    DETECTED,
    IMPORTED,
    LATENT,
    OBSERVED,
    SAFE,
    SIMULATED,
    STATUSES,
    UNTESTABLE,
    ListedBlock,
    ListedCoverage,
    ListedResults,
)
from resil.reports.table import Column, Table
from resil.rtl_harness.faults import Fault, Injection, Reported, Seen
from resil.run.campaign import compared_goldens, golden_runs, require_all_mapped
from resil.stats.intervals import clopper_pearson

ROWS, CAMPAIGN = "faults.csv", "campaign.toml"
TOTAL = "total"
_SHOWN = 8
_STATUS_OF = {
    Seen.MASKED: SAFE,
    Seen.LATENT: LATENT,
    Seen.SDC_TOLERABLE: OBSERVED,
    Seen.SDC_CRITICAL: OBSERVED,
    Seen.HANG: OBSERVED,
    Seen.DUE: DETECTED,
}


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
    rows = read_list(file)
    bench = prepare(campaign, progress, simulates=True)
    require_all_mapped(bench)
    sites = _sites(bench, rows, file)
    _require_holdable(bench, rows, sites, file)
    _require_model(campaign, bench, rows, sites, file)
    found: dict[int, Injection | None] = {}
    engines = [bench.engine(position) for position in range(len(bench.inputs))]
    for engine in engines:
        engine.__enter__()
    try:
        progress.stage("building the simulator and running without a fault")
        with progress.working("running without a fault"):
            goldens = golden_runs(bench, engines)
            compared_goldens(campaign, bench, goldens, progress)
        _require_in_time(bench, rows, [run.cycles for run in goldens], file)
        progress.stage(f"injecting {len(rows):,} faults of {file.name}")
        for position, engine in enumerate(engines):
            faults: dict[Fault, list[int]] = {}
            for number, (row, site) in enumerate(zip(rows, sites, strict=True)):
                if _position(bench, row) != position:
                    continue
                if bench.sites.hardware(site) is not None:
                    found[number] = None
                    continue
                faults.setdefault(Fault(site, row.time, held=row.held), []).append(number)
            with progress.working("injecting"):
                for injection in engine.run([*faults]):
                    found |= dict.fromkeys(faults[injection.fault], injection)
    finally:
        for engine in engines:
            engine.__exit__(None, None, None)
    for number, row in enumerate(rows):
        if number not in found:
            raise ConsistencyError(
                f"{row.site}, {row.type}, {row.time}: expected an answer of the engine, found none; "
                "please report it"
            )
    injections = [found[number] for number in range(len(rows))]
    statuses = [_status(injection) for injection in injections]
    columns = _columns(bench, rows, sites, statuses, SIMULATED) | _outcomes(injections)
    return _written(campaign, bench, file, out, columns, (SIMULATED, campaign.execution.engine), random)


def import_results(
    campaign: Campaign, file: Path, out: Path, *, random: bool = False, progress: Progress | None = None
) -> ListedResults:
    """Count outcomes that another tool found, and write them to a folder, marked as imported.

    Arguments and errors as `run_list`; nothing is simulated.
    """
    require_empty(out)
    rows = read_list(file, with_status=True)
    bench = prepare(campaign, progress or Progress())
    sites = _sites(bench, rows, file)
    columns = _columns(bench, rows, sites, [row.status for row in rows], IMPORTED)
    return _written(campaign, bench, file, out, columns, (IMPORTED, ""), random)


def require_empty(out: Path) -> None:
    """Refuse a folder that holds something: results of lists and of runs are never mixed."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ResilError(f"{out}: expected no such folder, or an empty one; give another --out", "--out")


def _sites(bench: Bench, rows: Sequence[ListedFault], file: Path) -> list[int]:
    """Return the number of the site of each row; what the design does not have is an error, all at once."""
    found: dict[str, int] = {}
    wrong: list[str] = []
    for name in dict.fromkeys(row.site for row in rows):
        try:
            found[name] = site_named(bench.sites, name)
        except ResilError as error:
            wrong.append(str(error).removeprefix("--site: "))
    labels = {row.input for row in rows} - {-1, *bench.inputs}
    wrong += [f"input: expected one of {', '.join(map(str, bench.inputs))}, found {own}" for own in labels]
    if wrong:
        more = f"\nand {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise ResilError(f"{file}: " + "\n".join(wrong[:_SHOWN]) + more, "LIST")
    return [found[row.site] for row in rows]


def _require_holdable(bench: Bench, rows: Sequence[ListedFault], sites: Sequence[int], file: Path) -> None:
    for row, site in zip(rows, sites, strict=True):
        if row.held is not None and bench.sites[site].element.path in bench.latches:
            raise ResilError(
                f"{file}: {row.site}: expected a bit that can be held, found a latch; leave it out", "LIST"
            )


def _require_model(
    campaign: Campaign, bench: Bench, rows: Sequence[ListedFault], sites: Sequence[int], file: Path
) -> None:
    """Refuse faults in logic that are not of the campaign's model, which says what a value at a site is."""
    model = campaign.faults.model
    for row, site in zip(rows, sites, strict=True):
        own = model_of(row.type)
        in_logic = bench.sites[site].element.kind == LOGIC
        if own != model and (own in (OPEN, BRIDGE) or (own is not None and in_logic)):
            raise ResilError(
                f'{file}: {row.site}: type: expected faults of the campaign\'s model = "{model}" in logic, '
                f'found {row.type}; write model = "{own}" with kinds = ["{LOGIC}"], or leave it out',
                "LIST",
            )


def _require_in_time(bench: Bench, rows: Sequence[ListedFault], cycles: Sequence[int], file: Path) -> None:
    for row in rows:
        last = cycles[_position(bench, row)]
        if row.time >= last:
            raise ResilError(
                f"{file}: {row.site}: time: expected a cycle of the run without a fault, 0 to {last - 1:,}, "
                f"found {row.time:,}; times are cycles of the clock after reset",
                "LIST",
            )


def _position(bench: Bench, row: ListedFault) -> int:
    return 0 if row.input == -1 else bench.inputs.index(row.input)


def _status(injection: Injection | None) -> str:
    """Return the status of an injection; None stands for a bit that is no hardware."""
    if injection is None:
        return UNTESTABLE
    if injection.reported is Reported.DETECTED:
        return DETECTED
    return _STATUS_OF[injection.seen]


def _columns(
    bench: Bench, rows: Sequence[ListedFault], sites: Sequence[int], statuses: Sequence[str], origin: str
) -> dict[str, list[str | int]]:
    return {
        "site": [row.site for row in rows],
        "type": [row.type for row in rows],
        "time": [row.time if row.type == UPSET else "" for row in rows],
        "input": [bench.inputs[_position(bench, row)] for row in rows],
        "block": [block_name(bench.sites[site].element.block) for site in sites],
        "status": [*statuses],
        "origin": [origin] * len(rows),
    }


def _outcomes(injections: Sequence[Injection | None]) -> dict[str, list[str | int]]:
    return {
        "outcome": ["" if own is None else own.outcome.value for own in injections],
        "alarm": ["" if own is None or own.detected is None else own.detected.alarm for own in injections],
        "alarm_cycle": [
            "" if own is None or own.detected is None else own.detected.cycle for own in injections
        ],
        "end_cycle": ["" if own is None else own.end_cycle for own in injections],
    }


def _written(
    campaign: Campaign,
    bench: Bench,
    file: Path,
    out: Path,
    columns: Mapping[str, Sequence[str | int]],
    by: tuple[str, str],
    random: bool,
) -> ListedResults:
    results = ListedResults(
        schema=1,
        campaign=campaign.name,
        target=bench.target_name,
        origin=by[0],
        engine=by[1],
        source=file.name,
        digest=sha256(file.read_bytes()).hexdigest(),
        random=random,
        blocks=_blocks(columns),
        coverage=_coverage(columns["status"]) if random else None,
    )
    out.mkdir(parents=True, exist_ok=True)
    write_rows(out / ROWS, columns)
    write_text(out / CAMPAIGN, resolved_text(campaign))
    write_text(out / ListedResults.FILE, results.text())
    return results


def _blocks(columns: Mapping[str, Sequence[str | int]]) -> tuple[ListedBlock, ...]:
    pairs = [*zip(columns["block"], columns["status"], strict=True)]
    counts = {str(block): Counter(s for own, s in pairs if own == block) for block, _ in pairs}
    counts[TOTAL] = Counter(status for _, status in pairs)
    return tuple(
        ListedBlock(block=block, faults=own.total(), statuses={status: own[status] for status in STATUSES})
        for block, own in counts.items()
    )


def _coverage(statuses: Sequence[str | int]) -> ListedCoverage | None:
    counts = Counter(statuses)
    harmful = counts[DETECTED] + counts[OBSERVED]
    if not harmful:
        return None
    found = clopper_pearson(counts[DETECTED], harmful)
    return ListedCoverage(estimate=counts[DETECTED] / harmful, lo=found.lo, hi=found.hi)


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
    if results.coverage is not None:
        own = results.coverage
        lines.append(
            f"Diagnostic coverage in the population that the list is a random sample of: {own.estimate:.2%} "
            f"({own.lo:.2%} to {own.hi:.2%})."
        )
    else:
        lines.append("Shares are those of this list: no rate and no verdict follow from it.")
    return "\n".join(lines)
