# SPDX-License-Identifier: Apache-2.0
"""Whole runs: killed and resumed, or enlarged, against one go; and of the NPU, judged by the plain engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa

from resil.bench.identity import Identity
from resil.errors import ConsistencyError
from resil.folder.parts import read_part
from resil.folder.store import INJECTIONS, recorded_definition
from resil.run.stored_audit import audit_stored
from resil.validation.design import write_design, write_tally

_WAIT = 1200.0
_NPU = """[campaign]
name = "npu"
seed = 3
[network]
path = "zoo:digits"
inputs = [0]
[target]
name = "ethos-u55-32"
[faults]
kinds = ["ff", "sram"]
injections = {injections}
minimum_per_block = 20
[technology]
name = "finfet-16nm"
"""
_ENDED = (0, 1, 3)


def restart_rows(folder: Path, injections: int, first: int) -> tuple[int, int, int]:
    """Return how many rows were compared, how many differ, and how many the killed run had kept.

    Args:
        folder: For the runs; made if it is missing.
        injections: Of the campaign.
        first: Injections of the smaller campaign that is enlarged.

    Raises:
        ConsistencyError: a run failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_design(folder)
    whole, small = write_tally(folder, injections=injections), write_tally(folder, injections=first)
    _run(whole, folder / "whole")
    kept = _killed(whole, folder / "killed")
    _run(whole, folder / "killed")
    _run(small, folder / "enlarged")
    _run(whole, folder / "enlarged")
    expected = _rows(folder / "whole")
    wrong = sum(_differing(expected, _rows(folder / name)) for name in ("killed", "enlarged"))
    return 2 * expected.num_rows, wrong, kept


def npu_audited(folder: Path, injections: int) -> tuple[int, int, str]:
    """Inject into the NPU, and let the plain engine judge half of the injections.

    Args:
        folder: For the run; made if it is missing.
        injections: Of the campaign: the smallest network of the zoo on the smallest NPU.

    Returns:
        Injections that were judged, those that came out otherwise, and both in words.

    Raises:
        ConsistencyError: the run failed, or an injection comes out otherwise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file, out = folder / "npu.toml", folder / "npu"
    file.write_text(_NPU.format(injections=injections), encoding="utf-8")
    _run(file, out)
    found = audit_stored(out, injections // 2)
    tried = sum(own.tried for own in found.outcomes.values())
    text = (
        f"{tried:,} of {injections:,} injections into the NPU with 32 MACs by the engine {found.judge}: none "
        f"differs, at most {found.at_most:.2%} are wrong ({found.confidence:.0%} confidence)"
    )
    return tried, 0, text


def _command(file: Path, out: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "resil", "run", str(file), "--out", str(out)),
        *("--resume", "--quiet", "--workers", "1"),
    ]


def _run(file: Path, out: Path) -> None:
    done = subprocess.run(
        _command(file, out), cwd=file.parent, capture_output=True, text=True, timeout=_WAIT, check=False
    )
    if done.returncode not in _ENDED:
        raise ConsistencyError(f"{out}: resil run ended with {done.returncode}: {done.stderr[-500:]}")


def _killed(file: Path, out: Path) -> int:
    """Kill a run as soon as it has kept a part of its injections; return how many."""
    process = subprocess.Popen(
        _command(file, out),
        cwd=file.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    began = time.monotonic()
    while process.poll() is None and not [*(out / INJECTIONS).glob("part-*.parquet")]:
        if time.monotonic() - began > _WAIT:
            break
        time.sleep(0.002)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return int(_rows(out).num_rows)


def _rows(out: Path) -> pa.Table:
    """Return all stored injections by number, but for what the engine noted on the way."""
    identity = Identity(recorded_definition(out)).digest
    parts = [read_part(part, identity) for part in sorted((out / INJECTIONS).glob("part-*.parquet"))]
    whole = pa.concat_tables([part.replace_schema_metadata(None) for part in parts])
    return whole.drop_columns("corruption").sort_by("injection").combine_chunks()


def _differing(expected: pa.Table, found: pa.Table) -> int:
    """Return how many rows are not the same; all of them if there are not as many."""
    if expected.equals(found):
        return 0
    if expected.num_rows != found.num_rows:
        return max(int(expected.num_rows), int(found.num_rows))
    pairs = zip(expected.to_pylist(), found.to_pylist(), strict=True)
    return sum(one != other for one, other in pairs)
