"""Mutants of the NPU's RTL: how many of those that behave differently do the tests find?

    python -m benchmarks.npu.mutation [--npu ethos-u55-32] [--mutants 300] [--seed 1] [--json]

Mutants change one operator, constant, condition, choice or reset value each, drawn at random from every
block. Each runs the stimuli of the NPU's tests, judged as the tests do it, but for the assertions: by the
functional model and by the rules of the fuzzer. What these do not find runs more stimuli of the kind, and its
module is compared with the original by proof. A mutant that breaks no rule there either is one of:

    proven      the module does the same for any inputs
    unseen      nothing differed in any run, nor is there a proof: equal, or not reached by these runs
    open        something differed that README.md leaves open: cycles, or the memory after an error

Exit code 1 if less than 95 % of the mutants that break a rule or differ were found by the tests' stimuli.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.npu.mutation.equivalence import EQUAL, equivalence
from benchmarks.npu.mutation.judge import Judge, further_stimuli, test_stimuli
from benchmarks.npu.mutation.schemata import mutated_target
from benchmarks.npu.mutation.sites import Mutation, mutations
from rtl_harness.target import Target, load_target

BENCH = "bench"
FEWEST = 20
WANTED = 0.95
CLASSES = ("killed", "missed", "open", "unseen", "proven")


@dataclass(frozen=True)
class Result:
    """What became of a mutant.

    Attributes:
        block: Of its file.
        file: Its file, below the RTL's folder.
        line: Line of the change.
        kind: "operator", "constant", "condition", "choice" or "reset".
        text: What stands there in the mutant.
        outcome: One of `CLASSES`; "missed": only the further stimuli found it.
        by: The rule that found it, and the suite.
        formal: What the proof says of the module alone: "equal", "differs" or "open"; "" if not asked.
    """

    block: str
    file: str
    line: int
    kind: str
    text: str
    outcome: str
    by: str
    formal: str


def block_of(file: Path) -> str:
    """Return the block of a source file: its folder, "npu" for what lies above the blocks."""
    return "npu" if file.parent.name == "rtl" else file.parent.name


def draw(files: Sequence[Path], count: int, rng: random.Random) -> list[Mutation]:
    """Return about `count` mutations: some of each block, more of those that have more to mutate."""
    blocks: dict[str, list[Mutation]] = defaultdict(list)
    for file in files:
        blocks[block_of(file)] += mutations(file)
    total = sum(map(len, blocks.values()))
    drawn: list[Mutation] = []
    for found in blocks.values():
        share = max(FEWEST, round(count * len(found) / total))
        drawn += rng.sample(found, min(share, len(found)))
    return drawn


def run(target: Target, drawn: Sequence[Mutation], operations: int, damaged: int) -> list[Result]:
    """Judge all mutants of one build."""
    with tempfile.TemporaryDirectory(prefix="resil-mutants-") as folder:
        judge = Judge(mutated_target(target, [[m] for m in drawn], Path(folder)), target.name)
    tests = judge.expect(test_stimuli(target.name))
    first = [judge.judge(number, tests) for number in range(1, len(drawn) + 1)]
    print(f"mutation: {sum(bool(v.rule) for v in first)} of {len(drawn)} found", file=sys.stderr)
    further = judge.expect(further_stimuli(target.name, operations, damaged))
    sources = [source for source in target.sources if source.parent.name != BENCH]
    results = []
    for number, (mutation, verdict) in enumerate(zip(drawn, first, strict=True), 1):
        outcome, formal = "killed", ""
        if not verdict.rule:
            formal = equivalence(mutation, sources, target.parameters["Macs"])
            outcome = "proven"
            if formal != EQUAL:
                second = judge.judge(number, further)
                outcome = "open" if verdict.differs or second.differs else "unseen"
                if second.rule:
                    outcome, verdict = "missed", second
            print(f"mutation: {number} of {len(drawn)}: {outcome}", file=sys.stderr)
        by = f"{verdict.suite}: {verdict.rule}" if verdict.rule else ""
        results.append(
            Result(
                block_of(mutation.file), mutation.file.name, mutation.line, mutation.kind, mutation.text,
                outcome, by, formal,
            )
        )  # fmt: skip
    return results


def score(results: Sequence[Result]) -> float:
    """Return the share of mutants that the tests find among those that are not equal to the original."""
    counts = Counter(result.outcome for result in results)
    return counts["killed"] / max(1, sum(counts[name] for name in ("killed", "missed", "open")))


def print_results(results: Sequence[Result]) -> None:
    """Print the table by block and by kind, and the mutants that were not found."""
    for what in ("block", "kind"):
        print(f"\n{what:10}{'mutants':>9}" + "".join(f"{name:>12}" for name in CLASSES) + f"{'found':>9}")
        names = sorted({getattr(result, what) for result in results})
        for name in [*names, "all"]:
            group = [result for result in results if name in (getattr(result, what), "all")]
            counts = Counter(result.outcome for result in group)
            print(
                f"{name:10}{len(group):9}"
                + "".join(f"{counts[c]:12}" for c in CLASSES)
                + f"{score(group):9.1%}"
            )
    for outcome in ("missed", "open", "unseen"):
        print(f"\n{outcome}:")
        for result in results:
            if result.outcome == outcome:
                place = f"{result.file}:{result.line}"
                print(
                    f"  {place:24} {result.kind:9} {result.text[:50]!r:54} {result.formal:8}{result.by[:60]}"
                )


def main() -> int:
    """Draw, build, judge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--npu", default="ethos-u55-32")
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", nargs="+", help="of these blocks alone")
    parser.add_argument(
        "--operations", type=int, default=30, help="seeds of further operations, 21 to a seed"
    )
    parser.add_argument("--damaged", type=int, default=600, help="further damaged streams")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    target = load_target(options.npu)
    files = [file for file in target.sources if file.parent.name != BENCH]
    if options.blocks:
        files = [file for file in files if block_of(file) in options.blocks]
    drawn = draw(files, options.mutants, random.Random(options.seed))
    results = run(target, drawn, options.operations, options.damaged)
    if options.json:
        json.dump([asdict(result) for result in results], sys.stdout, indent=1)
        print()
    else:
        print(f"{options.npu}, seed {options.seed}")
        print_results(results)
    return 0 if score(results) >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
