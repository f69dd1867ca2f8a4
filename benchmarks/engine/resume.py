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
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from resil.testing.stored_rows import rows

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits.toml"
DAMAGES = ("cut short", "altered", "copied", "removed")
# Part of the kills that come before the first injection.
EARLY = 0.2
# Seconds of injecting between two kills, at least: what is simulated is kept every few seconds.
LEAST = 8.0


@dataclass
class Found:
    """What the benchmark prints.

    Attributes:
        injections: Asked for.
        undisturbed_seconds: Of the run that was left alone.
        kills: SIGKILLs that hit the other one.
        before_injecting: Those that came before the first injection.
        damages: Part files that were damaged, by what was done to them.
        set_aside: Part files that resumed runs rejected.
        stored: Rows in the part files in the end.
        equal: Both folders hold the same injections with the same outcomes.
    """

    injections: int
    undisturbed_seconds: float = 0.0
    kills: int = 0
    before_injecting: int = 0
    damages: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DAMAGES, 0))
    set_aside: int = 0
    stored: int = 0
    equal: bool = False


def start(command: list[str]) -> subprocess.Popen[str]:
    """Start a command whose messages can be read."""
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], text: str) -> bool:
    """Read messages until one holds `text`; False if the process ended before."""
    assert process.stderr is not None
    return any(text in line for line in process.stderr)


def damage(folder: Path, chance: random.Random) -> str | None:
    """Damage one part file; return what was done, None if there is no file."""
    parts = sorted(folder.glob("part-*.parquet"))
    if not parts:
        return None
    part, kind = chance.choice(parts), chance.choice(DAMAGES)
    data = part.read_bytes()
    match kind:
        case "cut short":
            part.write_bytes(data[: chance.randrange(len(data))])
        case "altered":
            at = chance.randrange(4, len(data))
            part.write_bytes(data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :])
        case "copied":
            shutil.copy(part, folder / f"part-{900_000 + chance.randrange(99_999)}.parquet")
        case "removed":
            part.unlink()
    return kind


def disturbed(
    command: list[str], folder: Path, kills: int, pauses: tuple[float, float], chance: random.Random
) -> Found:
    """Run a command with that many kills, then to its end.

    Args:
        command: A `resil run`.
        folder: Its run folder.
        kills: At most so many; fewer if the run ends before.
        pauses: Seconds within which the kills come that hit the preparation, and mean seconds of injecting
            before the others.
        chance: Decides when, and what is damaged.
    """
    found = Found(0)
    while found.kills < kills:
        process = start([*command, "--resume"])
        if chance.random() < EARLY:
            time.sleep(chance.uniform(0.0, pauses[0]))
            early = True
        else:
            early = not wait_for(process, "injections with the")
            time.sleep(chance.uniform(0.0, 2 * pauses[1]))
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found.kills += 1
        found.before_injecting += early
        if chance.random() < 0.5 and (kind := damage(folder / "injections", chance)):
            found.damages[kind] += 1
    last = start([*command, "--resume"])
    _, messages = last.communicate()
    if last.returncode not in (0, 1, 3):
        raise SystemExit(f"the last run ended with exit code {last.returncode}:\n{messages}")
    found.set_aside = len(list((folder / "injections").glob("*.rejected")))
    return found


def measure(options: argparse.Namespace, folder: Path) -> Found:
    """Run the campaign twice and compare."""
    text = options.campaign.read_text(encoding="utf-8")
    campaign = options.campaign.parent / f".{options.campaign.stem}-resume.toml"
    campaign.write_text(re.sub(r"(?m)^injections = \d+", f"injections = {options.injections}", text), "utf-8")
    command = [sys.executable, "-m", "resil", "run", str(campaign), "--workers", str(options.workers)]
    command += ["--engine", options.engine]
    try:
        times = [time.monotonic()]
        calm = start([*command, "--out", str(folder / "calm")])
        wait_for(calm, "injections with the")
        times.append(time.monotonic())
        calm.communicate()
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
