# SPDX-License-Identifier: Apache-2.0
"""Damaged inputs of every kind: each is refused with a message or used; nothing hangs or breaks.

Each case calls the command line in a process of its own kind, with a limit on time and memory. A finding is a
case that ends in another way than with an exit code for users: an internal error, a traceback, memory beyond
the limit, no end in time, or a process that dies. What is slow behind the reading (Vela, synthesis,
simulation) is not begun: a case that reaches it counts as read.

    python -m benchmarks.faults_of_our_own.inputs [--cases 100000] [--only KIND ...] [--processes 2]
                                                  [--seed 1] [--seconds 20] [--minutes 30] [--json]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchmarks.faults_of_our_own.input_kinds import KINDS, Desk
from testkit.processes import processor_seconds

# Cases that a process carries out before another takes its place, and memory that it may take more than at
# its start.
BATCH, MEMORY = 2000, 1 << 30
# Seconds in which a process makes its sound inputs, and seconds of the clock in which a case that waits for
# something, or has next to no processor, must have ended, as a multiple of its processor time.
_START, _CLOCK = 300.0, 30.0


@dataclass
class Found:
    """What came of the cases of one kind.

    Attributes:
        kind: Of input.
        cases: That were tried.
        refused: Cases with exit code 2 and a message.
        read: Cases that were read, and whatever came of it.
        slowest: Seconds of processor time of the slowest.
        findings: Cases that ended otherwise, by what was seen.
        examples: Number of the first case of each.
    """

    kind: str
    cases: int = 0
    refused: int = 0
    read: int = 0
    slowest: float = 0.0
    findings: Counter[str] = field(default_factory=Counter)
    examples: dict[str, int] = field(default_factory=dict)

    def note(self, number: int, seconds: float, ended: str) -> None:
        """Take a case: "refused", "read", or what was found."""
        self.cases += 1
        self.slowest = max(self.slowest, seconds)
        if ended in ("refused", "read"):
            self.refused += ended == "refused"
            self.read += ended == "read"
            return
        self.findings[ended] += 1
        self.examples.setdefault(ended, number)


def serve(kind: str, seed: int, first: int, count: int, connection: Connection) -> None:
    """Carry cases out, and tell of each; the number of a case decides what is damaged, and how."""
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        os.chdir(folder)
        desk = Desk(kind, Path(folder))
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        for number in range(first, first + count):
            connection.send((number, None, ""))
            began = time.process_time()
            ended = desk.case(random.Random(f"{seed} {kind} {number}"))
            connection.send((number, time.process_time() - began, ended))
    connection.send(None)
    connection.close()
    os._exit(0)


class Serving:
    """A process that carries out cases of one kind."""

    def __init__(self, kind: str, seed: int, first: int, last: int) -> None:
        self.kind, self.last = kind, last
        self.next, self.began, self.used, self.begun = first, time.monotonic(), 0.0, False
        self.connection, theirs = multiprocessing.Pipe()
        count = min(BATCH, last - first)
        self.process: BaseProcess = multiprocessing.get_context("fork").Process(
            target=serve, args=(kind, seed, first, count, theirs)
        )
        self.process.start()
        theirs.close()

    def over(self, limit: float) -> bool:
        """Whether the present case has used so many seconds of processor time, or far more of the clock."""
        waited = time.monotonic() - self.began
        if not self.begun:
            return waited > _START
        assert self.process.pid is not None
        return processor_seconds(self.process.pid) - self.used > limit or waited > _CLOCK * limit

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def carry_out(kind: str, options: argparse.Namespace, cases: int, until: float) -> Found:
    """Try cases of one kind."""
    found, span = Found(kind), -(-cases // options.processes)
    busy = [Serving(kind, options.seed, first, min(first + span, cases)) for first in range(0, cases, span)]
    while busy:
        ready = set(wait([one.connection for one in busy], timeout=1.0))
        for one in list(busy):
            over = one.connection not in ready and one.over(options.seconds)
            ended = "" if one.connection in ready else "no end in time" if over else None
            if ended is None:
                continue
            again = _hear(one, found) if not ended else True
            if ended:
                found.note(one.next, options.seconds, ended)
                one.next += 1
            if again or time.monotonic() > until:
                one.end()
                busy.remove(one)
                if one.next < one.last and time.monotonic() < until:
                    busy.append(Serving(kind, options.seed, one.next, one.last))
    return found


def _hear(one: Serving, found: Found) -> bool:
    """Take what a process tells; True if another has to take its place."""
    try:
        told = one.connection.recv()
    except (EOFError, OSError):
        one.process.join()
        found.note(one.next, 0.0, f"the process died with exit code {one.process.exitcode}")
        one.next += 1
        return True
    if told is None:
        return True
    number, seconds, ended = told
    assert one.process.pid is not None
    one.began, one.used, one.begun = time.monotonic(), processor_seconds(one.process.pid), True
    if seconds is not None:
        found.note(number, seconds, ended)
        one.next = number + 1
    return False


def results(options: argparse.Namespace) -> Iterator[Found]:
    """Yield what came of each kind; kinds that cost little get more cases."""
    shares = {kind: KINDS[kind] for kind in options.only}
    until = time.monotonic() + 60 * options.minutes
    for place, (kind, share) in enumerate(shares.items()):
        left = (until - time.monotonic()) / (len(shares) - place)
        cases = round(options.cases * share / sum(shares.values()))
        yield carry_out(kind, options, cases, time.monotonic() + left)


def main() -> int:
    """Print a row a kind; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--only", choices=tuple(KINDS), nargs="+", default=tuple(KINDS))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="of processor time of a case")
    parser.add_argument("--minutes", type=float, default=30.0, help="of all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    good = True
    for found in results(options):
        good &= not found.findings
        if options.json:
            print(json.dumps(vars(found)), flush=True)
            continue
        counts = f"{found.cases:,} | {found.refused:,} | {found.read:,} | {found.slowest:.1f}"
        print(f"| {found.kind} | {counts} | {found.findings.total():,} |", flush=True)
        for what, times in found.findings.most_common():
            print(f"  {times} x {what} (first: case {found.examples[what]})", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
