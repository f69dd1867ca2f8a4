# SPDX-License-Identifier: Apache-2.0
"""Write a network of one operation, or count how many are accepted.

`python -m resil.networks.generate CONV_2D --seed 3 --out conv.tflite`;
`python -m resil.networks.generate --survey 10`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from resil.networks import oracle, vela
from resil.networks.compile import compile_network
from resil.networks.errors import NetworkError
from resil.networks.generate import KINDS, generate, random_inputs
from resil.networks.tflite_writer import serialise_network, write_network


def survey(kind: str, seeds: range, accelerator: str) -> tuple[int, int, Counter[str]]:
    """Return how many networks of a kind TensorFlow Lite Micro runs, how many Vela compiles, and why not."""
    ran, compiled, reasons = 0, 0, Counter[str]()
    for seed in seeds:
        graph = generate(kind, seed)
        data = serialise_network(graph)
        try:
            oracle.run_all(data, random_inputs(graph, 1, seed))
            ran += 1
            with tempfile.TemporaryDirectory(prefix="resil-survey-") as folder:
                path = Path(folder) / f"{kind.lower()}_{seed}.tflite"
                write_network(graph, path)
                compile_network(path, accelerator, cache_dir=Path(folder))
            compiled += 1
        except NetworkError as error:
            reasons[str(error)] += 1
    return ran, compiled, reasons


def main(arguments: Sequence[str] | None = None) -> int:
    """Write one network, or print the survey; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m resil.networks.generate", description="Draw networks of one operation."
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; default all")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--out", type=Path, help="write the network of one kind to this .tflite file")
    parser.add_argument("--survey", type=int, metavar="N", help="try N seeds of each kind")
    parser.add_argument("--npu", default="ethos-u55-128", choices=vela.ACCELERATORS)
    options = parser.parse_args(arguments)
    if (options.out is None) == (options.survey is None) or (options.out and len(options.kinds) != 1):
        parser.error("give one KIND and --out FILE, or --survey N")
    try:
        if options.out:
            write_network(generate(options.kinds[0], options.seed), options.out)
            return 0
        seeds = range(options.seed, options.seed + options.survey)
        for kind in options.kinds or KINDS:
            ran, compiled, reasons = survey(kind, seeds, options.npu)
            print(f"{kind:24} ran {ran:3} of {len(seeds)}, on the NPU alone {compiled:3}", flush=True)
            for reason, count in reasons.items():
                print(f"    {count} x {reason}")
    except NetworkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
