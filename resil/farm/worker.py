# SPDX-License-Identifier: Apache-2.0
"""The worker's side: from a campaign's text and injection numbers to rows."""

from __future__ import annotations

import os
import threading
import time
import tomllib
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from resil.bench.bench import Bench
from resil.campaign.campaign import parse_campaign
from resil.errors import ConsistencyError
from resil.farm.order import Order, Reply, Result, packed
from resil.faults.population import Population
from resil.folder.execute import answers
from resil.folder.row_maker import RowMaker
from resil.layout import source_digest
from resil.prepare import bench as preparing
from resil.progress import Progress
from resil.rtl_harness.engine.contract import Audited, CampaignEngine, GoldenRun
from resil.rtl_harness.errors import SimulationError
from resil.sensitivity.guided_population import campaign_population
from resil.user_errors import USER_ERRORS

# Campaigns whose simulators a worker keeps: the last ones, since a study goes from one to the next.
_KEPT = 2


@dataclass(frozen=True)
class _Ready:
    """A campaign that this process can simulate injections of."""

    bench: Bench
    engines: Sequence[CampaignEngine]
    goldens: Sequence[GoldenRun]
    population: Population
    stack: ExitStack


_ready: OrderedDict[str, _Ready] = OrderedDict()
_lock = threading.Lock()


def simulate(order: Order) -> Reply:
    """Simulate injections; whatever goes wrong is said in the reply.

    What is slow before the first injection (builds, the run without a fault) is done once a process and
    campaign; builds are shared by all processes of a machine, through the cache.
    """
    with _lock:
        began = time.monotonic()
        try:
            ready = _ready_for(order)
        except USER_ERRORS as error:
            return Reply(Result.REFUSED, str(error))
        except OSError as error:
            return Reply(Result.REFUSED, f"{error.filename}: cannot be read or written ({error.strerror})")
        begun = time.monotonic()
        try:
            return _rows(order, ready, begun - began)
        except ConsistencyError as error:
            return Reply(Result.FAILED, str(error))
        except SimulationError as error:
            return Reply(Result.BROKEN, str(error))


def _ready_for(order: Order) -> _Ready:
    digest = order.identity.digest
    if digest in _ready:
        _ready.move_to_end(digest)
        return _ready[digest]
    if order.sources != source_digest():
        raise SimulationError(f"expected the sources {order.sources[:12]}, found {source_digest()[:12]}")
    while len(_ready) >= _KEPT:
        _ready.popitem(last=False)[1].stack.close()
    campaign = parse_campaign(Path(order.file), tomllib.loads(order.campaign))
    with ExitStack() as stack:
        silent = stack.enter_context(open(os.devnull, "w"))
        bench = preparing.prepare(campaign, Progress(silent))
        order.identity.require(bench.identity.definition, "this worker")
        engines = [stack.enter_context(bench.engine(place)) for place in range(len(bench.inputs))]
        for engine in engines:
            engine.expect(order.expected, engines[0])
        goldens = [engine.golden() for engine in engines]
        population = campaign_population(campaign, bench, goldens)
        _ready[digest] = _Ready(bench, engines, goldens, population, stack.pop_all())
    return _ready[digest]


def _rows(order: Order, ready: _Ready, preparing: float) -> Reply:
    began, busy, bench = time.monotonic(), time.process_time(), ready.bench
    plan = ready.population.of_numbers(order.injections)
    engine = ready.engines[order.position]
    before = dict(engine.audits)
    found = list(answers(engine, plan, np.arange(plan.size), Path(order.folder)))
    ends = [golden.operation_ends for golden in ready.goldens]
    maker = RowMaker(plan, bench.sites, bench.inputs, ends, bench.describe)
    rows = maker.table([index for index, _ in found], [injection for _, injection in found])
    none = Audited(0, 0)
    audits = {
        kind: Audited(*(now - then for now, then in zip(found, before.get(kind, none), strict=True)))
        for kind, found in engine.audits.items()
    }
    spent = (time.monotonic() - began, time.process_time() - busy)
    return Reply(Result.ROWS, "", *packed(rows), *spent, preparing, tuple(engine.notes), audits)
