# SPDX-License-Identifier: Apache-2.0
"""How well statistical mode predicts networks that were left out, against injection into the RTL.

    python -m benchmarks.statistics.extrapolation campaigns --out RUNS [--sizes 32 64]
                                                             [--networks ...] [--injections N]
    python -m benchmarks.statistics.extrapolation learn --runs RUNS --model FILE
    python -m benchmarks.statistics.extrapolation outside --runs RUN_DIR... --model FILE
    python -m benchmarks.statistics.extrapolation show [--model FILE]
    python -m benchmarks.statistics.extrapolation correction --runs RUNS [--repeats N]

`campaigns` injects into flip-flops and SRAM of each network on each size; what is in the folder already is
finished or left alone, so it can be interrupted. `learn` makes a sensitivity model of it, each network being
predicted once from the others. `outside` adds how wrong the model was of networks that it was not learnt
from; its intervals know it from then on. `show` judges these predictions: all it needs is in the model file,
that which ships with resil for one. `correction` draws small samples from the injections and corrects
predictions with them, also after the predictions have been spoilt.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from resil.campaign.campaign import load_campaign
from resil.networks import zoo
from resil.progress import Progress
from resil.run.campaign import run_campaign
from resil.sensitivity.coverage import FIT, held
from resil.sensitivity.intervals import TOTAL
from resil.sensitivity.learn import build, judged_outside, learn
from resil.sensitivity.model import (
    SHIPPED,
    JudgedFigure,
    SensitivityModel,
    load_model,
    save_model,
)
from resil.sensitivity.observations import ObservedRun, read_run
from resil.sensitivity.predict import outcome_index
from resil.stats.prediction import PredictedStratum, prediction_powered
from resil.stats.rates import HAZARDOUS

SIZES = (32, 64, 128, 256)
PLACES = outcome_index(HAZARDOUS)
SAMPLE = 300
# Injections into each kind of storage, as a part of those into flip-flops: few upsets of memory matter.
SHARES = {"ff": 1.0, "sram": 0.5}
CONFIDENCE = 0.95

CAMPAIGN = """\
[campaign]
name = "{name}"
seed = {seed}

[network]
path = {path}
inputs = {inputs}

[target]
name = "ethos-u55-{size}"

[faults]
kinds = ["{kind}"]
injections = {injections}
minimum_per_block = {minimum}

[execution]
engine = "verilator"
workers = {workers}

[technology]
name = "finfet-16nm"
"""


def campaigns(options: argparse.Namespace) -> None:
    """Inject into every network on every size."""
    options.out.mkdir(parents=True, exist_ok=True)
    for size in options.sizes:
        for network in options.networks:
            path, inputs = _network(network, options.inputs)
            for kind, share in SHARES.items():
                name = f"{Path(network).stem}-{size}-{kind}"
                file = options.out / f"{name}.toml"
                text = CAMPAIGN.format(
                    name=name,
                    path=json.dumps(path),
                    size=size,
                    kind=kind,
                    seed=options.seed,
                    inputs=inputs,
                    injections=round(options.injections * share),
                    minimum=options.injections // 9 if kind == "ff" else 0,
                    workers=options.workers,
                )
                file.write_text(text)
                done = run_campaign(load_campaign(file), options.out / name, resume=True, progress=Progress())
                print(name, done.summary.total.rates.model_dump_json(), flush=True)


def _network(name: str, inputs: int) -> tuple[str, str]:
    """Return path and inputs of a network: of the zoo, or a file with its inputs beside it."""
    if not name.endswith(".tflite"):
        return f"zoo:{name}", str(list(range(inputs)))
    file = Path(name).resolve()
    return str(file), f'{{ from = "{file.with_suffix(".npy")}", draw = {inputs}, seed = 1 }}'


def carried(judged: Sequence[JudgedFigure], own: JudgedFigure) -> float:
    """Return what the average of the other networks says: on the same target, or on all if there are none."""
    alike = [
        other
        for other in judged
        if (other.block, other.quantity) == (own.block, own.quantity) and other.network != own.network
    ]
    same = [other for other in alike if other.accelerator == own.accelerator] or alike
    return float(np.mean([other.observed for other in same]))


def row_of(judged: Sequence[JudgedFigure], own: JudgedFigure) -> str:
    """Return observed and predicted figure and both errors, as cells of a table."""
    average = carried(judged, own)
    return (
        f"| {own.accelerator} | {own.observed:.3g} | {own.predicted:.3g} "
        f"| {own.predicted / own.observed - 1.0:+.1%} | {average / own.observed - 1.0:+.1%} "
        f"| {'yes' if own.surprise > (1.0 - CONFIDENCE) / 2.0 else 'no'} |"
    )


def show(options: argparse.Namespace) -> None:
    """Print what leaving networks out says."""
    model: SensitivityModel = load_model(options.model)
    validated = {run.network_sha256 for run in model.source.validated}
    runs = [*model.source.runs, *model.source.validated]
    names = {run.network_sha256: Path(run.network.removeprefix("zoo:")).name for run in runs}
    for title, outside in (("left out once", False), ("took no part", True)):
        judged = [own for own in model.judged if (own.network in validated) == outside]
        if judged:
            print(f"\n{title}: FIT of the printed total\n")
            _show_totals([own for own in judged if own.block == TOTAL and own.quantity == FIT], names)
            _show_coverage(judged)


def _show_totals(totals: Sequence[JudgedFigure], names: Mapping[str, str]) -> None:
    print(
        "| network | target | observed | predicted | error | average carried over, error | in the interval |"
    )
    print("|---|---|---|---|---|---|---|")
    for own in totals:
        print(f"| {names[own.network]} {row_of(totals, own)}")
    errors = [abs(own.predicted / own.observed - 1.0) for own in totals]
    average = [abs(carried(totals, own) / own.observed - 1.0) for own in totals]
    print(
        f"\nmedian relative error: {median(errors):.1%}, with averages carried over {median(average):.1%}\n"
    )


def _show_coverage(judged: Sequence[JudgedFigure]) -> None:
    print(f"| figure | intervals at {CONFIDENCE:.0%} that hold | of |\n|---|---|---|")
    for name, (inside, of) in held(judged, CONFIDENCE).items():
        print(f"| {name} | {inside} | {of} |")
    for block in dict.fromkeys(own.block for own in judged):
        own = [one for one in judged if one.block == block]
        inside = sum(one.surprise > (1.0 - CONFIDENCE) / 2.0 for one in own)
        print(f"| all figures of {block} | {inside} | {len(own)} |")


def correction(options: argparse.Namespace) -> None:
    """Print what predictions are worth to small samples, and what spoilt ones cost."""
    runs = [read_run(path.parent) for path in sorted(options.runs.glob("*-ff/summary.json"))]
    strengths = load_model(options.model).strengths
    print("| run | predictions | rate | plain coverage | corrected coverage | narrower | greatest possible |")
    print("|---|---|---|---|---|---|---|")
    for run in runs:
        model = build([other for other in runs if other.network != run.network], strengths)
        predictions, events, chances, _ = pool(run, model)
        generator = np.random.default_rng(options.seed)
        spoilt = {
            "as they are": predictions,
            "shuffled": generator.permutation(predictions),
            "inverted": predictions.max() - predictions,
        }
        for name, own in spoilt.items():
            print(
                f"| {run.folder.name} | {name} {_repeated(own, events, chances, generator, options.repeats)}"
            )


def pool(run: ObservedRun, model: SensitivityModel) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return prediction, outcome, chance of being drawn and block of each injection of a run."""
    bits: dict[str, int] = defaultdict(int)
    struck: dict[str, int] = defaultdict(int)
    for cell, count in run.bits.items():
        bits[cell.block] += count if cell.kind == "ff" else 0
    for (cell, _), counts in run.counts.items():
        struck[cell.block] += sum(counts)
    predictions, events, chances, blocks = [], [], [], []
    for (cell, operation), counts in run.counts.items():
        risk = float(model.outcomes(cell, run.kind_of(operation))[PLACES].sum())
        hits, number = sum(counts[place] for place in PLACES), sum(counts)
        predictions += [risk] * number
        events += [1.0] * hits + [0.0] * (number - hits)
        chances += [bits[cell.block] / struck[cell.block]] * number
        blocks += [cell.block] * number
    weight = np.array(chances)
    return np.array(predictions), np.array(events), weight / weight.sum(), np.array(blocks)


def _repeated(
    predictions: np.ndarray,
    events: np.ndarray,
    chances: np.ndarray,
    generator: np.random.Generator,
    repeats: int,
) -> str:
    truth, mean = float(chances @ events), float(chances @ predictions)
    covariance = float(chances @ ((events - truth) * (predictions - mean)))
    variance = float(chances @ np.square(predictions - mean))
    explained = max(covariance, 0.0) ** 2 / (variance * truth * (1.0 - truth))
    found = []
    for _ in range(repeats):
        drawn = generator.choice(len(events), SAMPLE, p=chances)
        found.append(prediction_powered([PredictedStratum(1.0, events[drawn], predictions[drawn], mean)]))
    plain = np.mean([one.plain.lo <= truth <= one.plain.hi for one in found])
    covered = np.mean([one.interval.lo <= truth <= one.interval.hi for one in found])
    gain = np.mean([one.plain.width for one in found]) / np.mean([one.interval.width for one in found])
    return f"| {truth:.2%} | {plain:.1%} | {covered:.1%} | {gain:.2f} | {(1.0 - explained) ** -0.5:.2f} |"


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    inject = parts.add_parser("campaigns")
    inject.add_argument("--out", type=Path, required=True)
    inject.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    inject.add_argument(
        "--networks", nargs="+", default=zoo.names(), help="of the zoo, or NAME.tflite beside NAME.npy"
    )
    inject.add_argument("--injections", type=int, default=16000, help="into flip-flops of each pair")
    inject.add_argument("--inputs", type=int, default=4, help="of the held-out split, from the first on")
    inject.add_argument("--workers", type=int, default=1)
    inject.add_argument("--seed", type=int, default=20261201)
    outside = parts.add_parser("outside")
    outside.add_argument("--runs", type=Path, nargs="+", required=True)
    outside.add_argument("--model", type=Path, required=True)
    teach = parts.add_parser("learn")
    teach.add_argument("--runs", type=Path, required=True)
    teach.add_argument("--model", type=Path, required=True)
    teach.add_argument("--targets", nargs="*", default=())
    parts.add_parser("show").add_argument("--model", type=Path, default=SHIPPED)
    small = parts.add_parser("correction")
    small.add_argument("--runs", type=Path, required=True)
    small.add_argument("--model", type=Path, default=SHIPPED, help="whose strengths are taken")
    small.add_argument("--repeats", type=int, default=1000)
    small.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.part == "campaigns":
        campaigns(options)
    elif options.part == "learn":
        folders = [path.parent for path in sorted(options.runs.glob("*/summary.json"))]
        save_model(learn(folders, options.targets, Progress().stage), options.model)
    elif options.part == "outside":
        save_model(judged_outside(load_model(options.model), options.runs), options.model)
    else:
        {"show": show, "correction": correction}[options.part](options)


if __name__ == "__main__":
    main()
