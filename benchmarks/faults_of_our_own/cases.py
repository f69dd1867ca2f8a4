# SPDX-License-Identifier: Apache-2.0
"""The faults: each is made, and what resil makes of it is looked at."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from resil.layout import PARTS, link_parts
from testkit.disturbed import DAMAGES, damage
from testkit.processes import WORKER, Processes, processes
from testkit.runs import (
    ENDED,
    Case,
    campaign,
    go,
    line_with,
    read,
    said,
    same,
    start,
)

ROOT = Path(__file__).parents[2]
# Commands that carry a campaign out, the second on a bench without a simulator; and their workers.
WORKERS = {"resil": WORKER, "testkit.fake": (sys.executable, "-m", "testkit.fake_worker")}
VICTIMS = ("worker 0", "worker 1", "coordinator", "scheduler")


def scheduler(there: Processes, audit: float = 0.005) -> str:
    """Return the table of a campaign that runs on these processes; `audit` as its key."""
    return f'[execution.dask]\nscheduler = "{there.address}"\naudit = {audit}'


def kills(
    folder: Path,
    calm: Path,
    injections: int,
    wanted: int,
    pause: float,
    minutes: float,
    seed: int,
    module: str,
) -> Case:
    """SIGKILL workers, coordinator and scheduler at random moments, until there were that many kills.

    Between two kills all of them together have `pause` seconds of processor time on average, so that as much
    is done meanwhile on a busy machine as on a quiet one. After so many minutes there are no more kills,
    however few there were; the campaign is left to its end. A campaign that has come to its end meanwhile is
    compared, and another is begun.
    """
    chance, hit, ended = random.Random(seed), Counter[str](), 0
    equal, last = True, time.monotonic() + 60 * minutes
    with processes(Processes(folder / "farm", WORKERS[module], forked=True)) as there:
        file = campaign(folder, injections, scheduler(there))
        while hit.total() < wanted and time.monotonic() < last:
            out = folder / f"killed-{ended}"
            run = start(file, out, module)
            while (code := run.poll()) is None or code not in ENDED:
                if code is not None:
                    run = start(file, out, module)
                left = chance.expovariate(1.0 / pause)
                while left > 0.0 and run.poll() is None:
                    there.tend()
                    before = there.processor_seconds(run)
                    time.sleep(0.1)
                    left -= max(0.0, there.processor_seconds(run) - before)
                victim = chance.choice(VICTIMS)
                if hit.total() < wanted and time.monotonic() < last and run.poll() is None:
                    if victim == "coordinator":
                        run.send_signal(signal.SIGKILL)
                        run.wait()
                        hit[victim] += 1
                    else:
                        hit[victim] += there.kill(victim)
                    there.tend()
            ended += 1
            equal &= same(calm, out)
    told = ", ".join(f"{victim} {hit[victim]}" for victim in VICTIMS)
    return Case("SIGKILL at a random moment", hit.total(), f"{told}; {ended} campaigns ended", equal, equal)


def full_disk(folder: Path, calm: Path, injections: int) -> Case:
    """Let the disk of the run folder be full before all is written, and then free it."""
    disk = folder / "disk"
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=True)
    try:
        with processes(Processes(folder / "farm")) as there:
            file = campaign(folder, injections, scheduler(there))
            out = folder / "on-disk"
            out.symlink_to(disk)
            code, refused = go(file, out), line_with(out, "error")
            subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
            again = go(file, out)
        equal = again in ENDED and same(calm, out)
    finally:
        subprocess.run(["umount", str(disk)], check=False)
    text = f'exit {code}, "{_short(refused, out)}"; then --resume'
    return Case("disk full", 1, text, equal, equal and code == 2)


def damaged_parts(folder: Path, calm: Path, injections: int, each: int, seed: int) -> Iterator[Case]:
    """Damage part files of a run that has ended; it is refused by who reads it, and made good by a run."""
    chance, made, refused, equal = random.Random(seed), Counter[str](), Counter[str](), Counter[str]()
    with processes(Processes(folder / "farm")) as there:
        file = campaign(folder, injections, scheduler(there))
        out = folder / "parts"
        go(file, out)
        while min(made[kind] for kind in DAMAGES) < each:
            kind = damage(out / "injections", chance)
            assert kind is not None
            made[kind] += 1
            # A bit that says nothing, as in a name of the writer, may be another.
            refused[kind] += read(out) == 2 or same(calm, out)
            equal[kind] += go(file, out) in ENDED and same(calm, out)
    for kind in DAMAGES:
        good = refused[kind] == equal[kind] == made[kind]
        text = f"report refuses {refused[kind]} of {made[kind]}; a run makes good {equal[kind]}"
        yield Case(f"part file {kind}", made[kind], text, equal[kind] == made[kind], good)


def other_package(folder: Path, calm: Path, injections: int, *, version: bool) -> Case:
    """Let one of three workers have a package of another version, or of the same with another source."""
    package = folder / "package"
    package.mkdir(parents=True)
    for name in (*PARTS, "resil"):
        shutil.copytree(ROOT / name, package / name, ignore=shutil.ignore_patterns("__pycache__"))
    link_parts(package)
    changed = package / "resil" / "version.py"
    text = changed.read_text(encoding="utf-8")
    new = text.replace('version("resil")', '"9.9.9"') if version else f"{text}\n# one more line\n"
    assert new != text
    changed.write_text(new, encoding="utf-8")
    other = {**os.environ, "PYTHONPATH": str(package)}
    out = folder / "other"
    with processes(Processes(folder / "farm")) as there:
        odd = Processes(folder / "odd", WORKER, 1, other, there.port, folder)
        odd.folder.mkdir()
        odd.running["scheduler"] = there.running["scheduler"]
        odd.tend()
        code = go(campaign(folder, injections, scheduler(there)), out)
        odd.kill("worker 0")
    refused = line_with(out, "is refused")
    equal = code in ENDED and same(calm, out)
    what = "another version" if version else "the same version, another source"
    return Case(f"worker with {what}", 1, f'"{_short(refused, out)}"', equal, equal and bool(refused))


def wrong_rows(folder: Path, calm: Path, injections: int, share: float, audit: float) -> Case:
    """Let one of two workers say something wrong of a part of the faults; of one in all if that is 0.

    Such a single row goes unnoticed unless `audit` has all rows simulated twice.
    """
    out = folder / "wrong"
    with processes(Processes(folder / "farm", workers=1)) as there:
        environment = {**os.environ, "WRONG_SHARE": str(share)}
        preload = [sys.executable, "-m", "distributed.cli.dask_worker"]
        preload += ["--preload", "benchmarks.faults_of_our_own.wrong_rows"]
        bad = Processes(folder / "bad", preload, 1, environment, there.port)
        bad.folder.mkdir()
        bad.running["scheduler"] = there.running["scheduler"]
        bad.tend()
        code = go(campaign(folder, injections, scheduler(there, audit)), out)
        bad.kill("worker 0")
    what = f"worker with {_of(share)} wrong, {100 * audit:g} % audited"
    if code == 4:
        refusing = read(out) == 4
        text = f'exit 4, "{_short(line_with(out, "failed audit"), out)}"'
        return Case(what, 1, text, None, refusing)
    equal = code in ENDED and same(calm, out)
    return Case(what, 1, "not noticed", equal, not share and audit < 1)


def traceback_in(folder: Path) -> bool:
    """Whether any run in a folder has said a traceback."""
    return any("Traceback" in said(log) for log in folder.glob("**/*.log") if "farm" not in log.parts)


def _of(share: float) -> str:
    return f"{100 * share:g} % of its rows" if share else "one row"


def _short(line: str, out: Path) -> str:
    text = line.removeprefix("resil: ").replace(str(out), "RUN").replace(str(ROOT), "")
    return text if len(text) < 180 else text[:177] + "..."
