"""The command line: arguments in, exit code out; data to stdout, progress and messages to stderr."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from resil import __version__
from resil.errors import ConsistencyError, ExitCode, Interrupted
from resil.progress import Progress
from resil.user_errors import USER_ERRORS

app = typer.Typer(
    name="resil",
    help="Soft-error resilience of neural-network accelerators, by fault injection into their RTL.",
    epilog="Exit codes: 0 target met or none asked, 1 missed, 2 usage or input error, 3 inconclusive, "
    "4 internal error or failed audit, 130 interrupted.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

CampaignFile = Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="Campaign file.")]
RunDir = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Run folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout instead of text.")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises for an error of the user or of resil."""
    try:
        with _termination_as_interrupt():
            app(args=None if arguments is None else list(arguments), prog_name="resil")
    except SystemExit as end:
        code = int(end.code or 0)
        if code == ExitCode.INTERRUPTED:
            _complain("interrupted")
        return code
    except Interrupted as interrupt:
        _complain(f"interrupted; {interrupt.advice}" if interrupt.advice else "interrupted")
        return int(ExitCode.INTERRUPTED)
    except USER_ERRORS as error:
        _complain(f"error: {error}")
        return int(ExitCode.USAGE)
    except ConsistencyError as error:
        _complain(f"failed audit: {error} (details in {_keep_traceback()})")
        return int(ExitCode.INTERNAL)
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        _complain(f"internal error: {cause} (details in {_keep_traceback()}; please report it)")
        return int(ExitCode.INTERNAL)
    return int(ExitCode.MET)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        print(f"resil {__version__}")
        raise typer.Exit


@app.command()
def run(
    campaign: CampaignFile,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; default runs/NAME.")] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="Engine in place of the campaign's.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Simulator processes.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Finish a run that was interrupted.")] = False,
    json_: Json = False,
) -> None:
    """Carry a campaign out: inject, estimate, judge, report."""
    from resil.campaign.campaign import load_campaign, with_options
    from resil.commands.run import run_campaign, verdict_code

    settings = with_options(load_campaign(campaign), engine=engine, workers=workers)
    folder = out or Path("runs") / settings.slug
    results = run_campaign(settings, folder, resume=resume)
    _show(results.summary, json_, lambda: results.show(folder))
    raise typer.Exit(verdict_code(results.summary))


@app.command()
def estimate(
    campaign: CampaignFile,
    model: Annotated[
        Path | None, typer.Option("--model", help="Sensitivity model; default the one that comes with resil.")
    ] = None,
    correct: Annotated[
        Path | None,
        typer.Option("--correct", metavar="RUN_DIR", help="Correct the FIT by the injections of this run."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder; default runs/NAME-estimate.")] = None,
    json_: Json = False,
) -> None:
    """Predict a campaign from what other networks' campaigns have taught, without simulating the RTL."""
    from resil.campaign.campaign import load_campaign
    from resil.commands.estimate import estimate_campaign
    from resil.commands.run import verdict_code

    settings = load_campaign(campaign)
    folder = out or Path("runs") / f"{settings.slug}-estimate"
    results = estimate_campaign(settings, folder, model_file=model, run_dir=correct)
    _show(results.summary, json_, lambda: results.show(folder))
    raise typer.Exit(verdict_code(results.summary))


@app.command()
def learn(
    run_dirs: Annotated[list[Path], typer.Argument(metavar="RUN_DIR...", help="Finished runs.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Write the model to this file.")],
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help="A target that the model shall know too, without runs on it."),
    ] = None,
    json_: Json = False,
) -> None:
    """Learn a sensitivity model from finished runs of at least two networks."""
    from resil.sensitivity.learn import learn as learn_runs
    from resil.sensitivity.learn import survey, survey_text
    from resil.sensitivity.model import save_model

    model = learn_runs(run_dirs, target or (), Progress().stage)
    save_model(model, output)
    found = survey(model)
    _show(found, json_, lambda: print(survey_text(found, _width())))


@app.command()
def protect(
    run_dir: RunDir,
    budget_fit: Annotated[
        float | None, typer.Option("--budget-fit", help="Budget in FIT in place of the campaign's.")
    ] = None,
    spfm_target: Annotated[
        float | None,
        typer.Option("--spfm-target", help="Also require this single-point fault metric, 0.99 for 99 %."),
    ] = None,
    options: Annotated[
        Path | None, typer.Option("--options", help="TOML file of protection options of your own.")
    ] = None,
    json_: Json = False,
) -> None:
    """Choose the protection of least area that keeps a finished run within its budget."""
    from resil.commands.protect import protect_run, protection_code

    results = protect_run(run_dir, budget_fit=budget_fit, spfm_target=spfm_target, options=options)
    plan = results.protection or {}
    _show(plan, json_, lambda: results.show(run_dir))
    raise typer.Exit(protection_code(plan))


@app.command()
def report(run_dir: RunDir, json_: Json = False) -> None:
    """Write the reports of a finished run again."""
    from resil.commands.report import report_run

    written, results = report_run(run_dir)
    _show({"written": [str(path) for path in written]}, json_, lambda: results.show(run_dir))


@app.command()
def sites(
    campaign: CampaignFile,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every bit to this CSV file.")] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", help="Write every bit to this Parquet file.")
    ] = None,
    json_: Json = False,
) -> None:
    """List fault sites and area per block."""
    from resil.bench.site_list import survey, survey_text, write_csv, write_parquet
    from resil.campaign.campaign import load_campaign
    from resil.prepare import prepare

    bench = prepare(load_campaign(campaign), Progress())
    if csv is not None:
        write_csv(bench.sites, csv)
    if parquet is not None:
        write_parquet(bench.sites, parquet)
    found = survey(bench)
    _show(found.as_dict(), json_, lambda: print(survey_text(found, _width())))


@app.command()
def infer(
    model: Annotated[str, typer.Argument(metavar="MODEL.tflite", help='Network; or "zoo:NAME".')],
    npu: Annotated[str, typer.Option("--npu", help="NPU configuration.")] = "ethos-u55-32",
    inputs: Annotated[
        Path | None,
        typer.Option("--input", help="Inputs, .npy of int8 (N, H, W, C); zoo: default held-out images."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Write the outputs to this .npy file.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Take only the first inputs.")] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Zoo: the whole held-out split, not only the images that ship.")
    ] = False,
    engine: Annotated[str, typer.Option("--engine", help="rtl or functional.")] = "rtl",
    json_: Json = False,
) -> None:
    """Run a network on the NPU and print the cycles of each operation."""
    from resil.commands.infer import infer_network, infer_text

    result = infer_network(
        model, npu, inputs=inputs, output=output, limit=limit, whole_split=all_, engine=engine
    )
    _show(result, json_, lambda: print(infer_text(result, _width())))


@app.command()
def replay(
    run_dir: RunDir,
    injection: Annotated[int, typer.Argument(metavar="INJECTION_ID", help="Number of the injection.")],
    engine: Annotated[str | None, typer.Option("--engine", help="Engine in place of the campaign's.")] = None,
    waves: Annotated[
        Path | None, typer.Option("--waves", help="Write the waveform to this .fst or .vcd file.")
    ] = None,
    json_: Json = False,
) -> None:
    """Simulate one injection again, alone, and compare with what is recorded."""
    from resil.commands.replay import replay_injection, replay_text

    result = replay_injection(run_dir, injection, engine=engine, waves=waves)
    _show(result, json_, lambda: print(replay_text(result)))
    raise typer.Exit(ExitCode.MET if result["equal"] else ExitCode.INTERNAL)


@app.command()
def doctor(json_: Json = False) -> None:
    """Say what is installed, what is missing, and what to do about it."""
    from resil.commands.doctor import as_json, examine, healthy, text

    findings = examine()
    _show(as_json(findings), json_, lambda: print(text(findings)))
    raise typer.Exit(ExitCode.MET if healthy(findings) else ExitCode.USAGE)


def _show(value: Mapping[str, Any], as_json: bool, show: Callable[[], None]) -> None:
    if as_json:
        print(json.dumps(dict(value), indent=1, ensure_ascii=False))
    else:
        show()


def _width() -> int | None:
    """Characters of a line of the terminal; None where stdout is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _complain(message: str) -> None:
    print(f"resil: {message}", file=sys.stderr)


def _keep_traceback() -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    with tempfile.NamedTemporaryFile(
        "w", prefix=f"resil-error-{stamp}-", suffix=".txt", delete=False
    ) as file:
        file.write(f"resil {__version__}\n{' '.join(sys.argv)}\n\n{traceback.format_exc()}")
    return Path(file.name)


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, so that what was simulated is kept."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread: signals are somebody else's
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
