# SPDX-License-Identifier: Apache-2.0
"""The fast engine against restarts on a design of others: equal answers, and how many times as fast."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.engine.__main__ import timed, uniform_faults
from resil.campaign.campaign import load_campaign
from resil.campaign.overrides import parse_override
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.rtl_harness.engine.contract import CampaignEngine
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault, Injection
from testkit.plain_runner import PlainRunner


@dataclass(frozen=True)
class Speed:
    """What came out for one design; times are processor time.

    Attributes:
        source: Storage bits of the source that are fault sites.
        kept: Those that are hardware.
        cycles: Of the run without a fault.
        faults: Of the fast engine, uniform over bits and cycles.
        compared: Of them, those that all restarts took too.
        different: Of these, those whose answers differ, in words.
        fast_us: Of the fast engine a fault, the run without a fault, gates and audit among them; no build is.
        copy_us: A copy of the process of a plain Verilator build, from the fault's cycle to the end.
        restart_us: The same compiled model from the end of reset to the end.
        vs_copy: Speed over the first.
        vs_restart: Over the second.
        ends: How many faults ended how.
        notes: Of the engine.
    """

    source: int
    kept: int
    cycles: int
    faults: int
    compared: int
    different: tuple[str, ...]
    fast_us: float
    copy_us: float
    restart_us: float
    vs_copy: float
    vs_restart: float
    ends: dict[str, int]
    notes: tuple[str, ...]


def compared_speed(
    file: Path, overrides: tuple[str, ...], faults: int, slow: int, judge: str = "plain", seed: int = 1
) -> Speed:
    """Inject `faults` with the fast engine and `slow` of them by restarts.

    Args:
        file: Campaign file.
        overrides: KEY=VALUE each.
        faults: How many there are.
        slow: Those that are simulated from a restart as well.
        judge: Engine whose answers are the truth.
        seed: Of the draws.
    """
    with _engine(file, overrides, "verilator") as engine:
        assert isinstance(engine, VerilatorEngine)
        engine.expect(faults)
        engine.prepare()
    # Once more, with all that is built in the cache.
    with _engine(file, overrides, "verilator") as engine:
        assert isinstance(engine, VerilatorEngine)
        engine.expect(faults)
        golden, first = timed(engine.golden)
        _, setup = timed(engine.prepare)
        setup += first
        sites = engine.elaboration.sites
        kinds = load_campaign(file).faults.kinds
        wanted = uniform_faults(engine, faults, seed, kinds)
        found, seconds = timed(partial(_answers, engine, wanted))
        some = sorted(random.Random(seed).sample(wanted, min(len(wanted), slow)))
        runner = PlainRunner(engine, 0)
        again, restarts = timed(lambda: {fault: runner.inject(fault) for fault in some})
        runner.close()
        ends, notes = dict(engine.ends), tuple(engine.notes)
    with _engine(file, overrides, judge) as other:
        # Its build and run without a fault are made before: they are no restart's.
        other.golden()
        truth, copies = timed(partial(_answers, other, some))
    different = tuple(
        f"{fault}: {found[fault]} here, {own} {by}"
        for by, answers in ((f"by {judge}", truth), ("by a restart", again))
        for fault, own in answers.items()
        if found[fault] != own
    )
    fast = (setup + seconds) / len(wanted)
    return Speed(
        sites.size,
        sites.size - sum(own.bits for own in sites.absent),
        golden.cycles,
        len(wanted),
        len(some),
        different,
        1e6 * fast,
        1e6 * copies / len(some),
        1e6 * restarts / len(some),
        copies / len(some) / fast,
        restarts / len(some) / fast,
        ends,
        notes,
    )


def _engine(file: Path, overrides: tuple[str, ...], name: str) -> CampaignEngine:
    own = [parse_override(text) for text in (*overrides, f"execution.engine={name}")]
    own += [parse_override("engine.verilator.sweep=always")] if name == "verilator" else []
    return prepare(load_campaign(file, own), Progress(io.StringIO())).engine(0)


def _answers(engine: CampaignEngine, faults: list[Fault]) -> dict[Fault, Injection]:
    return {injection.fault: injection for injection in engine.run(faults)}
