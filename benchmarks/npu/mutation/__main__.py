# SPDX-License-Identifier: Apache-2.0
"""Mutants of the NPU's RTL: how many of those that behave differently do the tests find?

    python -m benchmarks.npu.mutation [--npu ethos-u55-32] [--mutants 300] [--seed 1] [--jobs 2]
                                      [--results FILE] [--minutes 25] [--json]

Mutants change one operator, constant, condition, choice or reset value each, drawn at random from every
block. Each runs the stimuli of the NPU's tests, judged as the tests do it, but for the assertions: by the
functional model and by the rules of the fuzzer. What these do not find is judged by the tests of the host's
side, compared with the original by proof, judged by the tests of its block, and runs more stimuli of the
first kind. A mutant is

    killed      a test finds it
    missed      only stimuli that no test runs find it
    open        something differed that README.md leaves open: cycles, or the memory after an error
    unseen      nothing differed in any run, nor is there a proof
    harmless    no test finds it, and `reviewed.toml` says why nothing specified depends on it
    proven      the module does the same for any inputs

With `--results` verdicts are kept in a file: a run that is ended, or has had its `--minutes`, goes on there
when it is called again, as long as the RTL is the same. Exit code 1 if less than 95 % of the mutants that are
neither proven nor harmless were killed, or some were not judged.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path

from benchmarks.npu.mutation.blocks import BlockJudge
from benchmarks.npu.mutation.draw import block_of, draw
from benchmarks.npu.mutation.equivalence import EQUAL, equivalence
from benchmarks.npu.mutation.host import HostJudge
from benchmarks.npu.mutation.reviewed import Review, read_reviews, review_of
from benchmarks.npu.mutation.store import OUTCOMES, Result, Store
from resil.rtl_harness.design.target import Target, load_target
from testkit.npu.mutation.judge import Judge, Judged, further_stimuli, test_stimuli
from testkit.npu.mutation.schemata import mutated_target
from testkit.npu.mutation.sites import Mutation

BENCH = "bench"
WANTED = 0.95
HARMLESS = ("harmless", "proven")


class Court:
    """All that judges the mutants of one build, numbered from 1."""

    def __init__(self, target: Target, drawn: Sequence[Mutation], operations: int, damaged: int) -> None:
        self._drawn = drawn
        self._macs = target.parameters["Macs"]
        self._sources = [source for source in target.sources if source.parent.name != BENCH]
        self._reviews = read_reviews()
        with tempfile.TemporaryDirectory(prefix="resil-mutants-") as folder:
            mutated = mutated_target(target, [[m] for m in drawn], Path(folder))
            self._judge = Judge(mutated, target.name)
            self._host = HostJudge(mutated)
        self._blocks = BlockJudge(drawn, self._macs)
        self._tests = self._judge.expect(test_stimuli(target.name))
        self._further = self._judge.expect(further_stimuli(target.name, operations, damaged))

    def try_mutant(self, number: int) -> Result:
        """Return what becomes of a mutant."""
        mutation = self._drawn[number - 1]
        outcome, by, formal = self._verdict(number, mutation)
        return Result(
            block_of(mutation.file), mutation.file.name, mutation.line, mutation.kind, mutation.context,
            mutation.change, outcome, by, formal,
        )  # fmt: skip

    def _verdict(self, number: int, mutation: Mutation) -> tuple[str, str, str]:
        found, differs = self._run(number, self._tests)
        found = found or self._host.judge(number)
        if found:
            return "killed", found, ""
        reviewed = bool(review_of(mutation, self._reviews))
        formal = "" if reviewed else equivalence(mutation, self._sources, self._macs)
        if formal == EQUAL:
            return "proven", "", formal
        found = self._blocks.judge(number)
        if found:
            return "killed", found, formal
        if not reviewed:
            found, further = self._run(number, self._further)
            differs |= further
        if found:
            return "missed", found, formal
        return ("open" if differs else "unseen"), "", formal

    def _run(self, number: int, stimuli: Sequence[Judged]) -> tuple[str, bool]:
        verdict = self._judge.judge(number, stimuli)
        return f"{verdict.suite}: {verdict.rule}" if verdict.rule else "", verdict.differs


_courts: list[Court] = []  # of this process and those that it forks


def _try(number: int) -> tuple[int, Result]:
    return number, _courts[-1].try_mutant(number)


def run(
    target: Target, drawn: Sequence[Mutation], operations: int, damaged: int, store: Store, jobs: int,
    minutes: float,
) -> list[Result]:  # fmt: skip
    """Judge the mutants that the store does not have, in one build; return all results that there are."""
    end = time.monotonic() + 60 * minutes
    todo = [number for number, mutation in enumerate(drawn, 1) if store.get(mutation) is None]
    if todo:
        _courts.append(Court(target, drawn, operations, damaged))
        with get_context("fork").Pool(jobs) as pool:
            for done, (number, result) in enumerate(pool.imap_unordered(_try, todo), 1):
                store.put(drawn[number - 1], result)
                where = f"{result.file}:{result.line}: {result.change[:60]!r}"
                print(f"mutation: {done} of {len(todo)}: {result.outcome}: {where}", file=sys.stderr)
                if time.monotonic() > end:
                    break
        _courts.pop()
    reviews = read_reviews()
    found = [(mutation, result) for mutation in drawn if (result := store.get(mutation)) is not None]
    return [with_review(mutation, result, reviews) for mutation, result in found]


def with_review(mutation: Mutation, result: Result, reviews: Sequence[Review]) -> Result:
    """Return the result, "harmless" if no test tells the mutant from the original and a review says why."""
    reason = review_of(mutation, reviews) if result.outcome in ("open", "unseen") else ""
    return replace(result, outcome="harmless", by=reason) if reason else result


def score(results: Sequence[Result]) -> float:
    """Return the share of mutants that the tests find among those that are not known to do no harm."""
    counts = Counter(result.outcome for result in results)
    return counts["killed"] / max(1, len(results) - sum(counts[name] for name in HARMLESS))


def print_results(results: Sequence[Result]) -> None:
    """Print the table by block and by kind, and the mutants that were not found."""
    for what in ("block", "kind"):
        print(f"\n{what:10}{'mutants':>9}" + "".join(f"{name:>12}" for name in OUTCOMES) + f"{'found':>9}")
        names = sorted({getattr(result, what) for result in results})
        for name in [*names, "all"]:
            group = [result for result in results if name in (getattr(result, what), "all")]
            counts = Counter(result.outcome for result in group)
            print(
                f"{name:10}{len(group):9}"
                + "".join(f"{counts[c]:12}" for c in OUTCOMES)
                + f"{score(group):9.1%}"
            )
    for outcome in ("missed", "open", "unseen", "harmless"):
        print(f"\n{outcome}:")
        for result in results:
            if result.outcome == outcome:
                place = f"{result.file}:{result.line}"
                print(f"  {place:24} {result.kind:9} {result.change[:70]!r:74} {result.formal:8}{result.by}")


def main() -> int:
    """Draw, build, judge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--npu", default="ethos-u55-32")
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", nargs="+", help="of these blocks alone")
    parser.add_argument("--operations", type=int, default=8, help="seeds of further operations, 21 to a seed")
    parser.add_argument("--damaged", type=int, default=250, help="further damaged streams")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--results", type=Path, help="file of verdicts, made or gone on with")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no mutant after so many")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    target = load_target(options.npu)
    files = [file for file in target.sources if file.parent.name != BENCH]
    if options.blocks:
        files = [file for file in files if block_of(file) in options.blocks]
    drawn = draw(files, options.mutants, options.seed)
    parts = (options.npu, options.operations, options.damaged)
    results = run(
        target, drawn, options.operations, options.damaged, Store(options.results, target.sources, parts),
        options.jobs, options.minutes,
    )  # fmt: skip
    if options.json:
        json.dump([asdict(result) for result in results], sys.stdout, indent=1)
        print()
    else:
        print(f"{options.npu}, seed {options.seed}, {len(results)} of {len(drawn)} judged")
        print_results(results)
    return 0 if len(results) == len(drawn) and score(results) >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
