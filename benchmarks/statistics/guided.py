# SPDX-License-Identifier: Apache-2.0
"""What sampling that predictions guide gains over a plain sample, and what it costs if they are wrong.

    python -m benchmarks.statistics.guided --runs RUNS [--repeats N] [--margin M]

For each finished run in RUNS (see `python -m benchmarks.statistics.extrapolation campaigns`), predicted from
the runs of other networks, 300 injections are drawn again and again out of those of the run: by the plan
"predicted", and plainly. With a margin, as many are drawn as the plan asks for until the half width of the
interval is that part of the estimate; they are compared with the number that uniform sampling would take to
the width that was reached, if it were known beforehand. Predictions are also spoilt: shuffled over the
faults (all, or a third of them), inverted, and with that block hidden in which most failures are. The rate of
the whole run is taken for the truth.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.statistics.extrapolation import SAMPLE, pool
from benchmarks.statistics.sampling import known_rate
from resil.sensitivity.guided_population import LEVELS
from resil.sensitivity.learn import build
from resil.sensitivity.model import SHIPPED, load_model
from resil.sensitivity.observations import read_run
from resil.stats.guided import risk_levels
from resil.stats.guided_plan import guided_step
from resil.stats.intervals import Interval, clopper_pearson
from resil.stats.plans import Batch, SamplingPlan
from resil.stats.strata import Strata

FloatArray = np.typing.NDArray[np.float64]

PART = 1 / 3
HIDDEN_RISK = 1e-4
COLUMNS = ("run", "predictions", "rate", "covers", "guided in", "bias", "plain covers", "narrower")
AT_MARGIN = (*COLUMNS[:6], "looks", "half width", "injections", "known rate")


@dataclass(frozen=True)
class Played:
    """Campaigns with the plan "predicted", one after the other.

    Attributes:
        truth: The rate.
        totals: Their intervals.
        guided: In which the predictions were followed.
        looks: Of each at its results.
        injections: Of each.
    """

    truth: float
    totals: list[Interval]
    guided: list[bool]
    looks: list[int]
    injections: list[int]

    @property
    def cells(self) -> str:
        """Rate, coverage, share that was guided, and bias, as cells of a table."""
        covers = np.mean([total.lo <= self.truth <= total.hi for total in self.totals])
        bias = np.mean([total.estimate for total in self.totals]) / self.truth - 1.0
        return f"| {self.truth:.2%} | {covers:.1%} | {np.mean(self.guided):.1%} | {bias:+.1%} |"

    def against_plain(self, generator: np.random.Generator) -> str:
        """Return how often plain samples of this size cover, and how much narrower these are."""
        plain = [clopper_pearson(int(generator.binomial(n, self.truth)), n) for n in self.injections]
        covers = np.mean([own.lo <= self.truth <= own.hi for own in plain])
        gain = np.mean([own.width for own in plain]) / np.mean([own.width for own in self.totals])
        return f" {covers:.1%} | {gain:.2f} |"

    def at_margin(self) -> str:
        """Return looks, half width reached and injections, and those of uniform sampling to this width."""
        half = float(np.mean([total.width / 2 / total.estimate for total in self.totals]))
        made = float(np.mean(self.injections))
        known = known_rate(self.truth, half)
        return f" {np.mean(self.looks):.1f} | {half:.1%} | {made:,.0f} | {known:,} ({known / made:.2f}x) |"


def played(
    asked: SamplingPlan,
    risks: FloatArray,
    events: FloatArray,
    chances: FloatArray,
    generator: np.random.Generator,
    repeats: int,
) -> Played:
    """Play campaigns.

    Args:
        asked: The plan.
        risks: Predicted for each injection of the run.
        events: 1 where it was hazardous.
        chances: Of being drawn plainly; they sum to 1.
        generator: Of random numbers.
        repeats: How many campaigns.
    """
    _, level = np.unique(risk_levels(chances, risks, LEVELS["ff"]), return_inverse=True)
    weight, risk, rate = (np.bincount(level, chances * values) for values in (1.0, risks, events))
    strata = Strata.of([("", "ff", str(g)) for g in range(len(weight))], weight, [10**12] * len(weight))
    found = Played(float(chances @ events), [], [], [], [])
    for seed in range(repeats):
        done: list[Batch] = []
        while (step := guided_step(strata, risk / weight, asked, seed, done)).stage != "done":
            hits = generator.binomial(step.injections, np.minimum(rate / weight, 1.0))
            done.append(Batch.of(step.injections, hits))
        assert step.total is not None
        assert step.design is not None
        found.totals.append(step.total)
        found.guided.append(step.design.groups > 1)
        found.looks.append(len(done) - 1)
        found.injections.append(int(sum(batch.injections.sum() for batch in done)))
    return found


def main() -> None:
    """Print a line for each run and way of spoiling."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=SHIPPED, help="whose strengths are taken")
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--margin", type=float, help=f"stop at this margin in place of {SAMPLE} injections")
    options = parser.parse_args()
    runs = [read_run(path.parent) for path in sorted(options.runs.glob("*-ff/summary.json"))]
    strengths = load_model(options.model).strengths
    asked = SamplingPlan("guided", SAMPLE)
    if options.margin is not None:
        asked = SamplingPlan("guided", 10**6, margin=options.margin, relative=True)
    columns = COLUMNS if options.margin is None else AT_MARGIN
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
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
            found = played(asked, own, events, chances, generator, options.repeats)
            rest = found.against_plain(generator) if options.margin is None else found.at_margin()
            print(f"| {run.folder.name} | {name} {found.cells}{rest}", flush=True)


if __name__ == "__main__":
    main()
