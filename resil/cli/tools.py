# SPDX-License-Identifier: Apache-2.0
"""Commands that need no campaign: infer, clip, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.cli.app import Json, Quiet, Verbose, app
from resil.cli.output import show, width
from resil.errors import ExitCode


@app.command()
def infer(
    model: Annotated[str, typer.Argument(metavar="MODEL.tflite", help='Network; or "zoo:NAME".')],
    npu: Annotated[str, typer.Option("--npu", help="NPU configuration.")] = "ethos-u55-32",
    inputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--input",
            help="Inputs, .npy of real values or int8 (N, H, W, C); several inputs: once for each, or one "
            ".npz by name; zoo: default held-out images.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Write the outputs to this .npy file; several: .npz, by name."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Take only the first inputs.")] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Zoo: the whole held-out split, not only the images that ship.")
    ] = False,
    engine: Annotated[str, typer.Option("--engine", help="rtl or functional.")] = "rtl",
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run a network on the NPU and print the cycles of each operation."""
    from resil.commands.infer import infer_network, infer_text

    result = infer_network(
        model, npu, inputs=inputs or (), output=output, limit=limit, whole_split=all_, engine=engine
    )
    show(result, json_, lambda: print(infer_text(result, width())))


@app.command()
def clip(
    model: Annotated[str, typer.Argument(metavar="MODEL.tflite", help='Network; or "zoo:NAME".')],
    out: Annotated[Path, typer.Option("--out", help="Write the clipped network to this .tflite file.")],
    calibration: Annotated[
        list[Path] | None,
        typer.Option(
            "--calibration",
            help="Inputs whose ranges become the clamps, as for infer --input; zoo: default training split.",
        ),
    ] = None,
    judge: Annotated[
        list[Path] | None,
        typer.Option(
            "--judge",
            help="Other inputs, to measure what clipping changes; zoo: default the held-out split.",
        ),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Class of each judging input, .npy (N,).")
    ] = None,
    npu: Annotated[str, typer.Option("--npu", help="NPU configuration.")] = "ethos-u55-32",
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Clamp each activation of a network to its range on calibration inputs, at no area."""
    from resil.commands.clip import clip_network, clip_text

    result = clip_network(model, npu, out, calibration=calibration or (), judge=judge or (), labels=labels)
    show(result, json_, lambda: print(clip_text(result, width())))


@app.command()
def doctor(json_: Json = False, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Say what is installed, what is missing, and what to do about it."""
    from resil.commands.doctor import as_json, examine, healthy, text

    findings = examine()
    show(as_json(findings), json_, lambda: print(text(findings)))
    raise typer.Exit(ExitCode.MET if healthy(findings) else ExitCode.USAGE)
