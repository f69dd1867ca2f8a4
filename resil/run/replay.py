# SPDX-License-Identifier: Apache-2.0
"""One injection again, alone, compared with what is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from resil.bench.engines import check_waves, recording_engine
from resil.bench.engines import replay as simulate_again
from resil.bench.site_list import block_name
from resil.campaign.campaign import load_campaign
from resil.faults.plan import held_value
from resil.folder.finished import shortcoming
from resil.folder.recorded_injection import find_injection
from resil.folder.row_maker import outcome_columns
from resil.folder.store import CAMPAIGN
from resil.progress import Progress
from resil.record.typed import Count, Typed
from resil.run.recorded_bench import recorded_bench

COMPARED = tuple(outcome_columns(()))
Outcome = Mapping[str, int | str]


class ReplayedInjection(Typed):
    """An injection that was simulated again, beside what is recorded of it."""

    injection: Count
    """Its number."""
    site: Count
    """Number of the lowest fault site."""
    name: str
    """Name of the site."""
    block: str
    """Block that it belongs to."""
    cycle: int
    """Cycle in which bits were inverted; one of a stuck bit has no meaning."""
    bits: Count
    """How many bits, upwards from the site."""
    fault: str
    """`upset`, or what a bit was held at."""
    input: int
    """Label of the input that was run."""
    engine: str
    """Engine that simulated it again."""
    recorded: Outcome
    """What the run recorded: the columns of a part file that say what came of an injection."""
    replayed: Outcome
    """The same of this simulation."""
    equal: bool
    """Whether the same came of it again."""
    run_refused: str | None
    """Why other commands refuse the run's results; null if they do not."""
    waves: str | None
    """The waveform that was written; null if there is none."""

    @property
    def held(self) -> int | None:
        """What the bit was held at; None of an upset."""
        return held_value(self.fault)


def replay_injection(
    run_dir: Path, number: int, *, engine: str | None = None, waves: Path | None = None
) -> ReplayedInjection:
    """Simulate injection `number` of a run again.

    Args:
        run_dir: Run folder, finished or not.
        number: Number of the injection.
        engine: Another engine than the run's; outcomes must be the same. None for the run's own, or if there
            shall be a waveform, for one that writes waveforms.
        waves: Where to write the waveform; None for none.

    Raises:
        ResilError: the waveform could not be written.
        StoreError: the folder is none of a run, is damaged, has no such injection, or was made with something
            else than what is here now.
    """
    if waves is not None:
        check_waves(waves, engine)
    recorded = find_injection(run_dir, number)
    wrong = shortcoming(run_dir)
    campaign = load_campaign(run_dir / CAMPAIGN)
    progress = Progress()
    if wrong:
        progress.stage(f"note: the results of this run are not to be used: {wrong}")
    if engine is None and waves is not None:
        engine = recording_engine()
    bench = recorded_bench(run_dir, campaign, engine, progress)
    fault, held = recorded.fault, recorded.fault.held
    site = bench.sites[fault.site]
    when = f"cycle {fault.cycle}" if held is None else f"held at {held} from reset on"
    progress.stage(f"replaying injection {number}: {site.name}, {when}, input {recorded.input}")
    simulating = progress.working("simulating")
    with simulating, bench.engine(bench.inputs.index(recorded.input)) as simulator:
        injection = simulate_again(simulator, fault, waves)
        used = simulator.name
    again = {name: column[0] for name, column in outcome_columns([injection]).items()}
    before = dict(recorded.came_of_it)
    return ReplayedInjection(
        injection=number,
        site=fault.site,
        name=site.name,
        block=block_name(site.element.block),
        cycle=fault.cycle,
        bits=fault.bits,
        fault=recorded.fault_name,
        input=recorded.input,
        engine=used,
        recorded=before,
        replayed=again,
        equal=before == again,
        run_refused=wrong or None,
        waves=None if waves is None else str(waves),
    )


def replay_text(result: ReplayedInjection) -> str:
    """Return the result as lines for a person."""
    when = f"cycle {result.cycle}" if result.held is None else f"held at {result.held} from reset on"
    more = f" and {result.bits - 1} beside it" if result.bits > 1 else ""
    lines = [
        f"injection {result.injection}: {result.name}{more} in block {result.block}, "
        f"{when}, input {result.input}, engine {result.engine}",
        f"{'':16} {'recorded':>18} {'replayed':>18}",
    ]
    for name in COMPARED:
        before, after = result.recorded[name], result.replayed[name]
        mark = "" if before == after else "  <- differs"
        lines.append(f"{name:16} {before!s:>18} {after!s:>18}{mark}")
    if result.waves:
        lines.append(f"waveform: {result.waves}")
    if result.run_refused:
        lines.append(f"REFUSED: the results of this run are not to be used: {result.run_refused}")
    lines.append("equal" if result.equal else "NOT EQUAL: the run cannot be trusted; please report it")
    return "\n".join(lines)
