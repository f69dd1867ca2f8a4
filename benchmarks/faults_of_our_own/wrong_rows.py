# SPDX-License-Identifier: Apache-2.0
"""Loaded by a worker (`dask worker --preload`): its simulator says something wrong of some faults.

WRONG_SHARE in the environment is the part of the faults; 0 stands for one fault in all. What the engine
audits itself is right: the fault is in what it hands on, as of a machine that computes wrongly.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault, Injection

_right = VerilatorEngine.run
_done: list[Fault] = []


def _wrong(self: VerilatorEngine, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
    share = float(os.environ["WRONG_SHARE"])
    for injection in _right(self, faults, workers):
        lie = random.random() < share if share else not _done
        if lie:
            _done.append(injection.fault)
        yield replace(injection, end_cycle=injection.end_cycle + 1) if lie else injection


def dask_setup(_worker: object) -> None:
    """Put the wrong simulator in the place of the right one."""
    VerilatorEngine.run = _wrong  # type: ignore[method-assign]
