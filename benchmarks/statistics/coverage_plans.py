# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of each sampling plan cover the truth, and how wide they are.

Run as `python -m benchmarks.statistics.coverage_plans [--runs 2000] [--synthetic]` from the root of the
project. The truth is that of `benchmarks.statistics.exhaustive` (every fault of six regions of the NPU was
injected) or of synthetic populations. Every plan is played with seeds 0, 1, ...; the plainer intervals are
reckoned from the same injections.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import betaln, ndtri

from benchmarks.statistics.exhaustive import FILE, OUTCOMES, Region, load
from resil.stats.designs import SamplingDesign
from resil.stats.intervals import clopper_pearson, clopper_pearson_limits, wilson
from resil.stats.plans import ADAPTIVE_FROM, Batch, Kind, SamplingPlan, next_step
from resil.stats.strata import Strata
from resil.stats.weighted import weighted_sum
from testkit.populations import synthetic, without_replacement

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Limits = tuple[float, float]

SIZES = (20, 50, 100, 300, 1000)
KINDS: tuple[Kind, ...] = ("uniform", "stratified", "adaptive")
PARTS = 9
HAZARDOUS = ("sdc_critical", "hang")
CONFIDENCE = 0.95
EVERY_STRATUM = 200


@dataclass(frozen=True, eq=False)
class Case:
    """A population with the exact number of faults of each outcome in each stratum, shape (outcomes, strata).

    The first outcome is the one that the adaptive plan goes by.
    """

    strata: Strata
    outcomes: tuple[str, ...]
    bad: IntArray

    def truth(self, members: IntArray | None = None) -> FloatArray:
        """Return `sum w p` of each outcome, over all strata or some."""
        each = self.strata.weights * self.bad / self.strata.sizes
        return (each if members is None else each[:, members]).sum(axis=1)


@dataclass
class Tally:
    """Coverage and width of one interval over many samples."""

    inside: int = 0
    runs: int = 0
    width: float = 0.0

    def add(self, limits: Limits, truth: float, scale: float) -> None:
        """Count one interval."""
        slack = 1e-9 * scale
        self.inside += limits[0] - slack <= truth <= limits[1] + slack
        self.runs += 1
        self.width += (limits[1] - limits[0]) / scale

    @property
    def coverage(self) -> float:
        """Share of intervals that covered."""
        return self.inside / self.runs


@dataclass
class Result:
    """Tallies of one plan at one size on one case.

    Attributes:
        methods: Of each method, for the total of the first outcome.
        outcomes: Of the plan's own interval for the total of each outcome.
        blocks: Of the plan's own interval for the first outcome in each block.
        used: Injections, mean.
    """

    methods: dict[str, Tally] = field(default_factory=dict)
    outcomes: dict[str, Tally] = field(default_factory=dict)
    blocks: dict[str, Tally] = field(default_factory=dict)
    used: float = 0.0


def real(regions: tuple[Region, ...]) -> Case:
    """Return the regions as one population: block, register, and a ninth of the operation's cycles."""
    labels, sizes, bad = [], [], []
    for region in regions:
        first = 0
        for register, bits in zip(region.registers, region.bits, strict=True):
            rows = region.outcomes[first : first + bits]
            for part, piece in enumerate(np.array_split(rows, PARTS, axis=1)):
                labels.append((region.block, "ff", register, f"part {part}"))
                sizes.append(piece.size)
                counts = np.bincount(piece.ravel(), minlength=len(OUTCOMES))
                bad.append([sum(counts[OUTCOMES.index(o)] for o in HAZARDOUS), *counts])
            first += bits
    weights = np.array(sizes) / sum(sizes)
    return Case(Strata.of(labels, weights, sizes), ("hazardous", *OUTCOMES), np.array(bad).T)


def measure(case: Case, plan: SamplingPlan, runs: int) -> Result:
    """Play a plan `runs` times."""
    result = Result()
    blocks, owner = case.strata.owners(1)
    scale = float(case.strata.weights.sum())
    truth = case.truth()
    block_truth = [float(case.truth(np.flatnonzero(owner == b))[0]) for b in range(len(blocks))]
    for seed in range(runs):
        design, confidence, counts, injections, used = _play(case, plan, seed)
        result.used += used / runs
        groups = _groups(case.strata, design)
        alternatives = plan.kind if seed < EVERY_STRATUM or plan.kind == "uniform" else ""
        for name, found in _methods(case.strata, groups, counts[0], injections, alternatives).items():
            result.methods.setdefault(name, Tally()).add(found, float(truth[0]), scale)
        for row, outcome in enumerate(case.outcomes):
            limits = _total(case.strata, groups, counts[row], injections, confidence)
            result.outcomes.setdefault(outcome, Tally()).add(limits, float(truth[row]), scale)
        by_block = _groups(case.strata, design, by_block=True)
        for b, (name,) in enumerate(blocks):
            own = owner == b
            limits = _total(case.strata, np.where(own, by_block, -1), counts[0], injections, confidence)
            weight = float(case.strata.weights[own].sum())
            result.blocks.setdefault(name, Tally()).add(limits, block_truth[b], weight)
    return result


def exact(events: int, members: int, n: int) -> dict[str, tuple[float, float]]:
    """Return coverage and mean width of limits for one region, summed over all possible samples.

    Args:
        events: Faults of the region with the outcome.
        members: Faults of the region.
        n: Injections, drawn without replacement.
    """
    x = np.arange(n + 1)
    chance = np.exp(_choose(events, x) + _choose(members - events, n - x) - _choose(members, n))
    truth, p = events / members, x / n
    half = -float(ndtri(0.025)) * np.sqrt(p * (1 - p) / n)
    found = {"ours": clopper_pearson_limits(x, n, CONFIDENCE), "normal": (p - half, p + half)}
    return {
        name: (float(chance[(lo <= truth) & (truth <= hi)].sum()), float((chance * (hi - lo)).sum()))
        for name, (lo, hi) in found.items()
    }


def _choose(n: int, k: npt.ArrayLike) -> FloatArray:
    """Return the logarithm of the binomial coefficient; minus infinity where there is no such choice."""
    chosen = np.asarray(k, dtype=np.float64)
    possible = np.clip(chosen, 0, n)
    logs = -betaln(n - possible + 1, possible + 1) - np.log(n + 1)
    return np.where(chosen == possible, logs, -np.inf)


def print_exact(regions: tuple[Region, ...]) -> None:
    """Print the exact coverage for hazardous outcomes of each region."""
    print(
        "| region | rate | "
        + " | ".join(f"n = {n}" for n in SIZES)
        + " |\n"
        + "|---" * (len(SIZES) + 2)
        + "|"
    )
    for region in regions:
        events = int(np.isin(region.outcomes, [OUTCOMES.index(o) for o in HAZARDOUS]).sum())
        cells = []
        for n in SIZES:
            found = exact(events, region.outcomes.size, n)
            cells.append(f"{100 * found['ours'][0]:.1f} %, normal {100 * found['normal'][0]:.1f} %")
        print(f"| {region.block} | {events / region.outcomes.size:.3g} | " + " | ".join(cells) + " |")
    print()


def _play(case: Case, plan: SamplingPlan, seed: int) -> tuple[SamplingDesign, float, IntArray, IntArray, int]:
    """Return design, confidence, counts (outcomes, strata), injections that count, number of all."""
    rng = np.random.default_rng([3, seed])
    left, room = case.bad.copy(), case.strata.sizes.copy()
    done: list[Batch] = []
    seen: list[IntArray] = []
    while (step := next_step(case.strata, plan, seed, done)).stage != "done":
        events = _draw(rng, left, room, step.injections)
        left, room = left - events, room - step.injections
        seen.append(events)
        done.append(Batch.of(step.injections, events[0]))
    assert step.design is not None
    n = np.sum([b.injections for b in done[step.counts_from :]], axis=0)
    used = sum(int(b.injections.sum()) for b in done)
    return step.design, step.confidence, np.sum(seen[step.counts_from :], axis=0), n, used


def _draw(rng: np.random.Generator, left: IntArray, room: IntArray, n: IntArray) -> IntArray:
    """Draw without replacement; outcomes after the first are exclusive and make up the whole."""
    events = np.zeros_like(left)
    if len(left) == 1:
        events[0] = without_replacement(rng, left[0], room - left[0], n)
        return events
    others, wanted = room.copy(), n.copy()
    for row in range(1, len(left)):
        others = others - left[row]
        events[row] = without_replacement(rng, left[row], others, wanted)
        wanted = wanted - events[row]
    events[0] = sum(events[1 + OUTCOMES.index(o)] for o in HAZARDOUS)
    return events


def _groups(strata: Strata, design: SamplingDesign, by_block: bool = False) -> IntArray:
    if design.jitter:
        return design.owner
    return strata.owners(1)[1] if by_block else design.owner


def _total(
    strata: Strata, groups: IntArray, counts: IntArray, injections: IntArray, confidence: float
) -> Limits:
    used = groups >= 0
    _, place = np.unique(groups[used], return_inverse=True)
    x, n, w = (np.bincount(place, values[used]) for values in (counts, injections, strata.weights))
    return _limits(x.tobytes(), n.tobytes(), w.tobytes(), confidence)


@lru_cache(maxsize=200_000)
def _limits(x: bytes, n: bytes, w: bytes, confidence: float) -> Limits:
    found = weighted_sum(*(np.frombuffer(values) for values in (x, n, w)), confidence)
    return found.lo, found.hi


def _methods(
    strata: Strata, groups: IntArray, counts: IntArray, injections: IntArray, kind: str
) -> dict[str, Limits]:
    """Return the limits of the total by every method."""
    total = float(strata.weights.sum())
    x, n, w = (np.bincount(groups, v) for v in (counts, injections, strata.weights))
    found = {"ours": _total(strata, groups, counts, injections, CONFIDENCE), "normal": _normal(x, n, w)}
    if kind == "uniform":
        events, trials = int(x.sum()), int(n.sum())
        plain = {
            "Wilson": (lambda i: (i.lo, i.hi))(wilson(events, trials, CONFIDENCE)),
            "Clopper-Pearson": (lambda i: (i.lo, i.hi))(clopper_pearson(events, trials, CONFIDENCE)),
            "Leveugle": leveugle(events, trials),
            "betting": betting(events, trials),
        }
        found |= {name: (lo * total, hi * total) for name, (lo, hi) in plain.items()}
    elif kind:
        fine = np.arange(len(strata))
        found["every stratum"] = _total(strata, fine, counts, injections, CONFIDENCE)
    return found


def _normal(x: FloatArray, n: FloatArray, w: FloatArray) -> Limits:
    some = n > 0
    p = x[some] / n[some]
    middle = float((w[some] * p).sum())
    half = -float(ndtri(0.025)) * float(np.sqrt((w[some] ** 2 * p * (1 - p) / n[some]).sum()))
    return middle - half, middle + half


def leveugle(events: int, trials: int) -> Limits:
    """Return the estimate with the margin that the planning formula promises, `t sqrt(1/4 / n)`.

    R. Leveugle et al., DATE 2009.
    """
    half = -float(ndtri(0.025)) * 0.5 / trials**0.5
    return events / trials - half, events / trials + half


def betting(events: int, trials: int) -> Limits:
    """Return the anytime-valid limits for a Bernoulli rate: bets on all rates, mixed after Jeffreys.

    They enclose the rates m at which the mixture's wealth, `B(x + 1/2, n - x + 1/2) / B(1/2, 1/2) / (m^x (1 -
    m)^(n - x))`, stays below 1 / 0.05: for 0/1 observations betting with a universal portfolio is just this.
    H. Robbins, Ann. Math. Stat. 41 (1970) 1397-1409; I. Waudby-Smith, A. Ramdas, J. R. Stat. Soc. B 86 (2024)
    1-27.
    """

    def excess(m: float) -> float:
        mixture = betaln(events + 0.5, trials - events + 0.5) - betaln(0.5, 0.5)
        return float(
            mixture - events * np.log(m) - (trials - events) * np.log1p(-m) - np.log(1 / (1 - CONFIDENCE))
        )

    tiny = 1e-12
    middle = min(max(events / trials, tiny), 1 - tiny)
    lo = brentq(excess, tiny, middle) if events and excess(tiny) > 0 else 0.0
    hi = brentq(excess, middle, 1 - tiny) if events < trials and excess(1 - tiny) > 0 else 1.0
    return float(lo), float(hi)


def rows(
    case: Case, runs: int, kinds: tuple[Kind, ...], sizes: tuple[int, ...]
) -> Iterator[tuple[str, int, Result]]:
    """Yield plan, size and result; an adaptive plan that is too small for a pilot is stratified, left out."""
    for kind in kinds:
        for size in sizes:
            if kind != "adaptive" or size >= ADAPTIVE_FROM:
                print(f"  {kind} {size} ...", file=sys.stderr, flush=True)
                yield kind, size, measure(case, SamplingPlan(kind, size), runs)


def _percent(tally: Tally) -> str:
    return f"{100 * tally.coverage:.1f} %, {tally.width / tally.runs:.4f}"


def print_real(runs: int, file: Path, kinds: tuple[Kind, ...], sizes: tuple[int, ...]) -> None:
    """Print the rows for the NPU's regions: every method, then the plan's own interval for every rate."""
    regions = load(file)
    print_exact(regions)
    case = real(regions)
    print(f"true rates: {dict(zip(case.outcomes, case.truth().round(6).tolist(), strict=True))}\n")
    for kind, size, result in rows(case, runs, kinds, sizes):
        methods = " | ".join(f"{name} {_percent(tally)}" for name, tally in result.methods.items())
        each = " | ".join(f"{n} {_percent(t)}" for n, t in (*result.outcomes.items(), *result.blocks.items()))
        print(f"| {kind} | {size} | {methods} |\n| | | {each} |", flush=True)


def print_synthetic(runs: int, kinds: tuple[Kind, ...], sizes: tuple[int, ...]) -> None:
    """Print coverage and width of the plans' own intervals on the synthetic populations."""
    for name, population in synthetic().items():
        print(name, file=sys.stderr)
        case = Case(population.strata, ("hazardous",), population.bad[None])
        found = rows(case, runs, kinds, sizes)
        cells = " | ".join(f"{k} {n}: {_percent(r.methods['ours'])}" for k, n, r in found)
        print(f"| {name} | {population.rate:.3g} | {cells} |", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Print the rows of the tables in docs/results.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--file", type=Path, default=FILE, help="what `exhaustive` has stored")
    parser.add_argument("--plans", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--synthetic", action="store_true", help="synthetic populations in place of the NPU")
    options = parser.parse_args(arguments)
    asked = tuple(options.plans), tuple(options.sizes)
    if options.synthetic:
        print_synthetic(options.runs, *asked)
    else:
        print_real(options.runs, options.file, *asked)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
