# SPDX-License-Identifier: Apache-2.0
"""A run that is killed again and again, and whose part files are damaged meanwhile."""

from __future__ import annotations

import random
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from testkit.forked import Forked

DAMAGES = ("cut short", "altered", "copied", "removed")
# Part of the kills that come before the first injection.
EARLY = 0.2
# Seconds that a preparation takes at most, from an empty cache too.
PREPARING = 1800.0


@dataclass
class Found:
    """What was done to a run, and what came of it.

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


def damage(folder: Path, chance: random.Random, kind: str | None = None) -> str | None:
    """Damage one part file in one of the ways of `DAMAGES`; return which, None if there is no file."""
    parts = sorted(folder.glob("part-*.parquet"))
    if not parts:
        return None
    part, kind = chance.choice(parts), kind or chance.choice(DAMAGES)
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
    found, log = Found(0), folder.with_suffix(".log")
    while found.kills < kills:
        process = Forked([*command, "--resume"], log)
        if chance.random() < EARLY:
            time.sleep(chance.uniform(0.0, pauses[0]))
            early = True
        else:
            early = not process.says("injections with the", PREPARING)
            time.sleep(chance.uniform(0.0, 2 * pauses[1]))
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        found.kills += 1
        found.before_injecting += early
        if chance.random() < 0.5 and (kind := damage(folder / "injections", chance)):
            found.damages[kind] += 1
    last = Forked([*command, "--resume"], log)
    if last.wait() not in (0, 1, 3):
        raise SystemExit(f"the last run ended with exit code {last.wait()}:\n{last.said()}")
    found.set_aside = len(list((folder / "injections").glob("*.rejected")))
    return found
