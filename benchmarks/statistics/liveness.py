# SPDX-License-Identifier: Apache-2.0
"""What the command stream says of the shared buffer, against upsets of it that were injected into the RTL.

    python -m benchmarks.statistics.liveness RUN_DIR... [--margin SHARE]

Takes finished runs of networks with `kinds = ["sram"]`. An upset counts as live if data that are read later
lie in its row, give or take a share of the operation's cycles, since times within it are estimates; none of
the others may have an effect. Rows hold other bits too, so the share of live upsets is compared by bits, with
the cycles that the RTL took and with those that the shipped model predicts.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from resil.rtl_harness.npu.buffer.liveness import Liveness, buffer_liveness
from resil.rtl_harness.npu.buffer.stays import BANK_ROWS
from resil.rtl_harness.npu.work import operation_work
from resil.sensitivity.learn import inferences_of
from resil.sensitivity.model import SHIPPED, load_model
from resil.sensitivity.observations import read_run
from resil.sensitivity.shared_buffer import predict_buffer
from resil.stats.rates import OUTCOMES

SDC = ("sdc_tolerable", "sdc_critical")
QUIET = ("masked", "latent")
MARGIN = 0.1
_LEAST_CYCLES = 100.0
_BANK = re.compile(r"gen_bank\[(\d+)\]")


def windows(liveness: Liveness, cycles: Sequence[float], margin: float) -> list[list[tuple[float, float]]]:
    """Return when each row of the buffer holds data that are read later, a part of the operation around."""
    found: list[list[tuple[float, float]]] = [[] for _ in liveness.last_write]
    for stay in liveness.stays:
        around = max(margin * cycles[stay.operation], _LEAST_CYCLES)
        window = (stay.written[0] - around, max(stay.read[1], stay.used[1]) + around)
        for first, count in stay.rows:
            for row in range(first, first + count):
                found[row].append(window)
    return found


def check(folder: Path, margin: float) -> int:
    """Print the comparison of one run; return how many upsets had an effect where none was foreseen."""
    run = read_run(folder)
    inferences = inferences_of(run)
    model, compiled = load_model(SHIPPED), inferences[0].compiled
    predicted = [model.cycles.predict(own) for own in operation_work(compiled)]
    measured = buffer_liveness(compiled, run.cycles[:-1], run.cycles[-1])
    foreseen = buffer_liveness(compiled, predicted, model.cycles.tail)
    rows = windows(measured, run.cycles, margin)
    live = {True: [0, 0], False: [0, 0]}
    for file in sorted((folder / "injections").glob("part-*.parquet")):
        table = pq.read_table(file, columns=["path", "word", "cycle", "outcome"])
        for path, word, cycle, outcome in zip(*(column.to_pylist() for column in table), strict=True):
            bank = _BANK.search(path)
            if bank is None:
                continue
            own = rows[int(bank[1]) * BANK_ROWS + word]
            hit = any(begin <= cycle <= end for begin, end in own)
            live[hit][outcome not in QUIET] += 1
    count = sum(map(sum, live.values()))
    observed = np.sum([counts for counts in run.counts.values()], axis=0)
    cells = [f"{folder.name}", f"{count:,}", f"{live[False][1]} of {sum(live[False]):,}"]
    for name, outcomes in (("SDC", SDC), ("critical", SDC[1:]), ("latent", ("latent",))):
        places = [OUTCOMES.index(outcome) for outcome in outcomes]
        found = [
            predict_buffer(own, inferences, np.random.default_rng(1)).outcomes[places].sum() * count
            for own in (measured, foreseen)
        ]
        cells.append(f"{name}: {observed[places].sum()} | {found[0]:.1f} | {found[1]:.1f}")
    print(f"| {' | '.join(cells)} |", flush=True)
    return live[False][1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check all runs; return 1 if an upset had an effect where none was foreseen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--margin", type=float, default=MARGIN)
    options = parser.parse_args(arguments)
    print("| run | upsets | effects where none is foreseen | injected, by the RTL's cycles, by the model's |")
    print("|---|---|---|---|")
    return int(sum(check(folder, options.margin) for folder in options.runs) > 0)


if __name__ == "__main__":
    sys.exit(main())
