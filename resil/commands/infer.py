# SPDX-License-Identifier: Apache-2.0
"""`resil infer`: a network on the NPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from resil.commands.arguments import AcceptGolden, Json, Quiet, Verbose
from resil.commands.choices import Npu
from resil.output import show, width


def infer(
    model: Annotated[str, typer.Argument(metavar="MODEL.tflite", help='Network; or "zoo:NAME".')],
    npu: Npu = "ethos-u55-32",
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
    engine: Annotated[
        Literal["rtl", "functional"],
        typer.Option("--engine", help="On the RTL, with its cycles, or on the functional model."),
    ] = "rtl",
    accept_golden: AcceptGolden = False,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run a network on the NPU and print the cycles of each operation."""
    from resil.work.infer import infer_network, infer_text

    result = infer_network(
        model,
        npu,
        inputs=inputs or (),
        output=output,
        limit=limit,
        whole_split=all_,
        engine=engine,
        accept_golden=accept_golden,
    )
    show(result.plain(), json_, lambda: print(infer_text(result, width())))
