# SPDX-License-Identifier: Apache-2.0
"""A worker of a farm whose bench is the fake one: `python -m testkit.fake_worker ADDRESS OPTIONS`.

The environment makes it bad: FAKE_VERSION is the version that it says it has; FAKE_WRONG is the part
of the injections that it answers wrongly.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

import resil.prepare.bench
import resil.version
from resil.rtl_harness.faults import Fault, Injection
from testkit import fake

_run = fake.FakeEngine.run


def _bad_run(self: fake.FakeEngine, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
    wrong = float(os.environ.get("FAKE_WRONG", "0"))
    for injection in _run(self, faults, workers):
        if hash((injection.fault.site, injection.fault.cycle)) % 1000 < 1000 * wrong:
            injection = replace(injection, end_cycle=injection.end_cycle + 1)
        yield injection


def main() -> None:
    from distributed.cli.dask_worker import main as worker

    resil.prepare.bench.prepare = fake.fake_bench
    fake.FakeEngine.run = _bad_run
    if version := os.environ.get("FAKE_VERSION"):
        resil.version.__version__ = version
    worker()


if __name__ == "__main__":
    main()
