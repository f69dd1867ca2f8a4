"""What sampling that predictions guide gains over a plain sample, and what it costs if they are wrong.

    python -m benchmarks.guided --runs RUNS [--repeats N]

For each finished run in RUNS (see `python -m benchmarks.extrapolation campaigns`), predicted from the runs of
other networks, 300 injections are drawn again and again out of those of the run: by the plan "predicted", and
plainly. Predictions are also spoilt: shuffled over the faults (all, or a third of them), inverted, and with
that block hidden in which most failures are. The rate of the whole run is taken for the truth.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.extrapolation import SAMPLE, pool
from resil.guide import LEVELS
from resil.sensitivity.learn import build
from resil.sensitivity.model import SHIPPED, load_model
from resil.sensitivity.observations import read_run
from stats.guided import risk_levels
from stats.guided_plan import guided_step
from stats.intervals import clopper_pearson
from stats.plans import Batch, Plan
from stats.strata import Strata

FloatArray = np.typing.NDArray[np.float64]

PART = 1 / 3
HIDDEN_RISK = 1e-4
COLUMNS = ("run", "predictions", "rate", "plain covers", "guided covers", "guided in", "bias", "narrower")


def judge(
    risks: FloatArray, events: FloatArray, chances: FloatArray, generator: np.random.Generator, repeats: int
) -> str:
    """Return the cells of a table's row.

    Args:
        risks: Predicted for each injection of the run.
        events: 1 where it was hazardous.
        chances: Of being drawn plainly; they sum to 1.
        generator: Of random numbers.
        repeats: How often to draw.
    """
    truth = float(chances @ events)
    _, level = np.unique(risk_levels(chances, risks, LEVELS["ff"]), return_inverse=True)
    weight, risk, rate = (np.bincount(level, chances * values) for values in (1.0, risks, events))
    strata = Strata.of([("", "ff", str(g)) for g in range(len(weight))], weight, [10**12] * len(weight))
    asked = Plan("guided", SAMPLE)
    plain_covers = covers = guided = 0
    widths, estimates = [], []
    for seed in range(repeats):
        done: list[Batch] = []
        while (step := guided_step(strata, risk / weight, asked, seed, done)).stage != "done":
            hits = generator.binomial(step.injections, np.minimum(rate / weight, 1.0))
            done.append(Batch.of(step.injections, hits))
        assert step.total is not None
        assert step.design is not None
        plain = clopper_pearson(int(generator.binomial(SAMPLE, truth)), SAMPLE)
        covers += step.total.lo <= truth <= step.total.hi
        plain_covers += plain.lo <= truth <= plain.hi
        guided += step.design.groups > 1
        widths.append((plain.width, step.total.width))
        estimates.append(step.total.estimate)
    plain_width, width = np.mean(widths, axis=0)
    shares = (f"{count / repeats:.1%}" for count in (plain_covers, covers, guided))
    bias = float(np.mean(estimates)) / truth - 1.0
    return f"| {truth:.2%} | {' | '.join(shares)} | {bias:+.1%} | {plain_width / width:.2f} |"


def main() -> None:
    """Print a line for each run and way of spoiling."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=SHIPPED, help="whose strengths are taken")
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    runs = [read_run(path.parent) for path in sorted(options.runs.glob("*-ff/summary.json"))]
    strengths = load_model(options.model).strengths
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for run in runs:
        model = build([other for other in runs if other.network != run.network], strengths)
        risks, events, chances, blocks = pool(run, model)
        generator = np.random.default_rng(options.seed)
        shuffled, part = generator.permutation(risks), generator.random(len(risks)) < PART
        by_block = {block: float(chances @ (events * (blocks == block))) for block in np.unique(blocks)}
        worst = max(by_block, key=lambda block: by_block[block])
        spoilt = {
            "as they are": risks,
            "shuffled": shuffled,
            "a third shuffled": np.where(part, shuffled, risks),
            "inverted": risks.max() + HIDDEN_RISK - risks,
            f"{worst} hidden": np.where(blocks == worst, HIDDEN_RISK, risks),
        }
        for name, own in spoilt.items():
            line = judge(own, events, chances, generator, options.repeats)
            print(f"| {run.folder.name} | {name} {line}", flush=True)


if __name__ == "__main__":
    main()
