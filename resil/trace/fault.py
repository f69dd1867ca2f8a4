# SPDX-License-Identifier: Apache-2.0
"""How one fault spread, from a run or without one."""

from __future__ import annotations

from pathlib import Path

from resil.bench.bench import Bench
from resil.bench.site_list import site_named
from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.overrides import command_line
from resil.errors import ConsistencyError, ResilError
from resil.folder.finished import shortcoming
from resil.folder.recorded_injection import RecordedInjection, find_injection
from resil.folder.row_maker import outcome_columns
from resil.folder.store import CAMPAIGN
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.record.trace import Trace
from resil.rtl_harness.engine.contract import CampaignEngine
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.trace.tracer import Tracer
from resil.rtl_harness.engine.trace.waves import FST_PACKAGE, written_kinds
from resil.rtl_harness.faults import Fault, Injection
from resil.run.recorded_bench import recorded_bench
from resil.trace.document import Traced, trace_document
from resil.trace.tensors import TensorReader

ENGINE = VerilatorEngine.name


class FaultTracer:
    """Traces faults of one input of a bench.

    Args:
        bench: The bench, with the fast engine.
        engine: Of the input.

    Raises:
        ResilError: It runs in stretches, or strikes memory outside the design: neither can be traced.
    """

    def __init__(self, bench: Bench, engine: CampaignEngine) -> None:
        if not isinstance(engine, VerilatorEngine):
            raise ResilError(
                f"{bench.target_name} running {bench.network.name}: expected one run of the design with "
                "faults in its own storage, found stretches of one, or faults in memory outside or in logic; "
                "such faults cannot be traced",
                "faults.kinds" if bench.network.stretches == 1 else "network",
            )
        self._bench = bench
        self._engine = engine
        self._tracer = Tracer(engine)
        self._tensors = TensorReader(engine)

    def trace(
        self, fault: Fault, about: Traced, *, waves: Path | None = None, notes: tuple[str, ...] = ()
    ) -> Trace:
        """Return how a fault spread.

        Raises:
            ConsistencyError: Something else came of it than is stored.
            HarnessError: It is a stuck bit, or one of two inferences.
            SimulationError: The design stops itself, or the trace contradicts itself.
        """
        found = self._tracer.trace(fault, memory=self._tensors.memory, waves=waves)
        outcome = _columns(found.injection)
        if about.stored is not None and dict(about.stored) != outcome:
            differs = [name for name, value in outcome.items() if about.stored[name] != value]
            raise ConsistencyError(
                f"injection {about.number}: expected what is stored, "
                f"{ ({name: about.stored[name] for name in differs}) }, found "
                f"{ ({name: outcome[name] for name in differs}) } where both runs were compared; the "
                "run cannot be trusted: try resil replay, and report it"
            )
        tensors, remarks = self._tensors.compared(found)
        return trace_document(
            found, self._bench.sites, self._engine.golden(), about, outcome, tensors, (*notes, *remarks)
        )


def trace_injection(run_dir: Path, number: int, *, waves: Path | None = None) -> Trace:
    """Return how injection `number` of a run spread.

    Args:
        run_dir: Run folder, finished or not.
        number: Number of the injection.
        waves: Where to write a waveform of what differed, a .vcd or .fst file; None for nowhere.

    Raises:
        ConsistencyError: Something else came of it than is stored.
        HarnessError: It is a stuck bit, or one of two inferences.
        ResilError: It cannot be traced, or the waveform cannot be written.
        StoreError: The folder is none of a run, has no such injection, or was made with something else than
            what is here now.
    """
    check_waves(waves)
    recorded = find_injection(run_dir, number)
    campaign = load_campaign(run_dir / CAMPAIGN)
    progress = Progress()
    bench = recorded_bench(run_dir, campaign, other_engine(campaign), progress)
    wrong = shortcoming(run_dir)
    notes = (f"the results of this run are not to be used: {wrong}",) if wrong else ()
    progress.stage(f"tracing injection {number}: {bench.sites[recorded.fault.site].name}")
    position = bench.inputs.index(recorded.input)
    with progress.working("simulating"), bench.engine(position) as engine:
        tracer = FaultTracer(bench, engine)
        return tracer.trace(recorded.fault, about_recorded(bench, recorded), waves=waves, notes=notes)


def trace_fault(
    file: Path,
    name: str,
    cycle: int,
    *,
    bits: int = 1,
    label: int | None = None,
    waves: Path | None = None,
) -> Trace:
    """Return how a fault spreads that is in no run.

    Args:
        file: Campaign file.
        name: The bit to invert, as `resil sites` names it.
        cycle: When.
        bits: How many bits of its word, upwards.
        label: Label of the input; None for the first.
        waves: As `trace_injection`.

    Raises:
        HarnessError: The cycle or the bits are beyond the end, or the campaign's faults cannot be traced.
        ResilError: There is no such site or input, or it cannot be traced.
    """
    check_waves(waves)
    campaign = load_campaign(file)
    if other := other_engine(campaign):
        campaign = load_campaign(file, command_line(engine=other))
    progress = Progress()
    bench = prepare(campaign, progress)
    label = bench.inputs[0] if label is None else label
    if label not in bench.inputs:
        raise ResilError(
            f"--input: expected one of {', '.join(map(str, bench.inputs))}, found {label}", "--input"
        )
    if cycle < 0:
        raise ResilError(f"--cycle: expected a cycle from 0 on, found {cycle}", "--cycle")
    fault = Fault(site_named(bench.sites, name), cycle, bits)
    progress.stage(f"tracing {name}, cycle {cycle}")
    with progress.working("simulating"), bench.engine(bench.inputs.index(label)) as engine:
        return FaultTracer(bench, engine).trace(
            fault, Traced(bench.target_name, bench.network.name, label), waves=waves
        )


def about_recorded(bench: Bench, recorded: RecordedInjection) -> Traced:
    """Return what a trace of a recorded injection is about."""
    name = bench.network.name
    return Traced(bench.target_name, name, recorded.input, recorded.number, recorded.came_of_it)


def check_waves(waves: Path | None) -> None:
    """Refuse, before anything is built, a waveform that could not be written."""
    if waves is None:
        return
    kinds = written_kinds()
    if waves.suffix == ".fst" and waves.suffix not in kinds:
        raise ResilError(
            f"{waves}: expected the package {FST_PACKAGE}, which writes .fst, found none; "
            "pip install 'resil[waves]', or choose a .vcd file",
            "--waves",
        )
    if waves.suffix not in kinds or waves.is_dir() or not waves.absolute().parent.is_dir():
        raise ResilError(
            f"{waves}: expected a .vcd or .fst file in a folder that exists, found otherwise; choose another "
            "name",
            "--waves",
        )


def other_engine(campaign: Campaign) -> str | None:
    """Return the engine that traces; None if the campaign has it."""
    return None if campaign.execution.engine == ENGINE else ENGINE


def _columns(injection: Injection) -> dict[str, int | str]:
    return {name: column[0] for name, column in outcome_columns([injection]).items()}
