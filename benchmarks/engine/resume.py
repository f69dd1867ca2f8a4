# SPDX-License-Identifier: Apache-2.0
"""A campaign that is killed again and again, and whose files are damaged meanwhile, against one left alone.

One run goes through undisturbed. Another of the same campaign is ended by SIGKILL at random moments, from its
preparation to its reports, and goes on with `--resume`; after some kills a part file is cut short, altered,
copied or removed. In the end both folders must hold the same injections with the same outcomes, each once; a
difference ends the benchmark with exit code 1.

    python -m benchmarks.engine.resume [--campaign FILE] [--injections 20000] [--kills 20] [--workers 2]
                                       [--seed 1] [--engine verilator] [--folder DIR] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from testkit.disturbed import PREPARING, Found, disturbed
from testkit.forked import Forked
from testkit.runs import EXAMPLE
from testkit.stored_rows import rows

# Seconds of injecting between two kills, at least: what is simulated is kept every few seconds.
LEAST = 8.0


def measure(options: argparse.Namespace, folder: Path) -> Found:
    """Run the campaign twice and compare."""
    text = options.campaign.read_text(encoding="utf-8")
    campaign = options.campaign.parent / f".{options.campaign.stem}-resume.toml"
    campaign.write_text(re.sub(r"(?m)^injections = \d+", f"injections = {options.injections}", text), "utf-8")
    command = [sys.executable, "-m", "resil", "run", str(campaign), "--workers", str(options.workers)]
    command += ["--engine", options.engine]
    try:
        times = [time.monotonic()]
        calm = Forked([*command, "--out", str(folder / "calm")], folder / "calm.log")
        calm.says("injections with the", PREPARING)
        times.append(time.monotonic())
        calm.wait()
        preparing, seconds = times[1] - times[0], time.monotonic() - times[1]
        command += ["--out", str(folder / "disturbed")]
        pauses = (preparing, max(seconds / max(options.kills, 1), LEAST))
        found = disturbed(command, folder / "disturbed", options.kills, pauses, random.Random(options.seed))
    finally:
        campaign.unlink()
    left, right = rows(folder / "calm"), rows(folder / "disturbed")
    found.injections, found.undisturbed_seconds = options.injections, round(seconds, 1)
    found.stored = right.num_rows
    found.equal = left.equals(right) and right.num_rows == options.injections
    return found


def main() -> int:
    """Print what came out; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--campaign", type=Path, default=EXAMPLE)
    parser.add_argument("--injections", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="verilator")
    parser.add_argument("--folder", type=Path, help="keep the run folders here")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = measure(options, options.folder or Path(temporary))
    if options.json:
        print(json.dumps(asdict(found)))
    else:
        print("\n".join(f"{name}: {value}" for name, value in asdict(found).items()))
    return 0 if found.equal and found.kills == options.kills else 1


if __name__ == "__main__":
    sys.exit(main())
