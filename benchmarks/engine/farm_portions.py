# SPDX-License-Identifier: Apache-2.0
"""What portions of a campaign take a worker, by their size: processor time, what its engine audits with it.

A worker's own code makes them here, one after another, of the first injections of the campaign; what is slow
before the first is apart. `benchmarks.engine.farm_simulated` takes what this prints.

    python -m benchmarks.engine.farm_portions CAMPAIGN.toml --sizes 512 2000 100 5000 [--expected 100000]
"""

from __future__ import annotations

import argparse
import resource
from dataclasses import replace
from pathlib import Path

import numpy as np

from resil.campaign.campaign import load_campaign
from resil.campaign.text import campaign_text
from resil.farm.order import Order, Result
from resil.farm.worker import simulate
from resil.layout import source_digest
from resil.prepare.bench import prepare
from resil.progress import Progress


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(own.ru_utime + own.ru_stime for own in used)


def main() -> None:
    """Print a line for each portion."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", required=True)
    parser.add_argument("--expected", type=int, default=100_000, help="injections of the worker in all")
    options = parser.parse_args()
    campaign = load_campaign(options.campaign)
    alone = replace(campaign, execution=replace(campaign.execution, farm=None, workers=None))
    definition = dict(prepare(campaign, Progress()).identity.definition)
    order = Order(
        campaign_text(alone), str(campaign.file), "", definition, source_digest(), 0, b"", options.expected
    )
    made = 0
    for size in options.sizes:
        began = processor_seconds()
        reply = simulate(replace(order, numbers=np.arange(made, made + size).tobytes()))
        if reply.result is not Result.ROWS:
            raise SystemExit(f"{reply.result}: {reply.message}")
        made += size
        tried = sum(audited.tried for audited in reply.audits.values())
        before = processor_seconds() - began - reply.processor
        print(
            f"{size:,} injections: {reply.processor:.1f} s, {tried} audited, {before:.1f} s before",
            flush=True,
        )


if __name__ == "__main__":
    main()
