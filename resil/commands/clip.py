# SPDX-License-Identifier: Apache-2.0
"""`resil clip`: a network whose activations keep to their ranges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.commands.choices import Npu
from resil.output import show, width


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
    npu: Npu = "ethos-u55-32",
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Clamp each activation of a network to its range on calibration inputs, at no area."""
    from resil.work.clip import clip_network, clip_text

    result = clip_network(model, npu, out, calibration=calibration or (), judge=judge or (), labels=labels)
    show(result.plain(), json_, lambda: print(clip_text(result, width())))
