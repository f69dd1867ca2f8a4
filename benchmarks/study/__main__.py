# SPDX-License-Identifier: Apache-2.0
"""Writes the study of all four sizes: zoo and ResNet-8, drawn inputs, sets confirmed on hold-out networks.

    python -m benchmarks.study.hold_out --out NETWORKS
    python -m benchmarks.study --out FOLDER --hold-out NETWORKS [--resnet FILE.tflite]
    resil study FOLDER/study.toml --out RUNS

What is asked stands in `examples/ethos-u55.toml`. Here the networks are added that are not in the zoo: MLPerf
Tiny's ResNet-8 with `--resnet`, on photographs, and those that confirm each set. Photographs differ more than
digits do, and most at 256 MACs, where it may take more of them. No package that pip installs brings spoken
words, so MLPerf Tiny's DS-CNN is left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.study import hold_out
from benchmarks.study.photographs import write_photographs

EXAMPLE = Path(__file__).parents[2] / "examples" / "ethos-u55.toml"
FOLLOWS = "# [[network]]                 # a network of your own"
DRAWN = "draw = 64"
RESNET = """\
[[network]]
path = "{path}"
name = "resnet8"
inputs = {{ from = "{images}", draw = {drawn}, seed = 1, pixels = [0.0, 255.0] }}
targets = {targets}

"""
SIZES = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128")
LARGEST = "ethos-u55-256"
JUDGE = """\
# A hold-out network of the study
[campaign]
name = "{name}"
seed = 1

[network]
path = "{path}"
inputs = {{ from = "{inputs}", draw = {drawn}, seed = 1 }}

[target]
name = "ethos-u55-32"

[faults]
kinds = ["ff", "sram"]
injections = 1000

[technology]
name = "finfet-16nm"
"""


def main() -> None:
    """Write `study.toml` and what it names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--hold-out", type=Path, required=True, help="folder of hold-out networks")
    parser.add_argument("--resnet", type=Path, help="pretrainedResnet_quant.tflite of MLPerf Tiny")
    parser.add_argument("--draw", type=int, default=64, help="inputs of each network")
    parser.add_argument(
        "--draw-at-256", type=int, help="photographs for ResNet-8 at 256 MACs; default: as --draw"
    )
    options = parser.parse_args()
    out, text = options.out.resolve(), EXAMPLE.read_text()
    out.mkdir(parents=True, exist_ok=True)
    assert DRAWN in text, f"{EXAMPLE}: expected {DRAWN!r} in it"
    text = text.replace(DRAWN, f"draw = {options.draw}")
    if options.resnet:
        write_photographs(out / "photographs")
        path, images = options.resnet.resolve(), out / "photographs"
        drawn = {SIZES: options.draw, (LARGEST,): options.draw_at_256 or options.draw}
        own = "".join(
            RESNET.format(path=path, images=images, drawn=number, targets=json.dumps(on))
            for on, number in drawn.items()
        )
        assert text.count(FOLLOWS) == 1, f"{EXAMPLE}: expected a line that begins with {FOLLOWS!r}"
        text = text.replace(FOLLOWS, own + FOLLOWS)
    names = []
    for name in hold_out.NETWORKS:
        file = (options.hold_out / name).resolve()
        judge = JUDGE.format(name=name, path=f"{file}.tflite", inputs=f"{file}.npy", drawn=options.draw)
        (out / f"{name}.toml").write_text(judge)
        names.append(f'"{name}.toml"')
    (out / "study.toml").write_text(f"{text.rstrip()}\nverify_networks = [{', '.join(names)}]\n")


if __name__ == "__main__":
    main()
