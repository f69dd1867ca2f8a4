# SPDX-License-Identifier: Apache-2.0
"""Builds the weight decoder with Verilator and runs streams through it."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import resil.rtl_harness.npu
from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.tools import (
    compiler_version,
    find_verilator,
    make_verilated,
    verilate,
)

RTL = Path(next(iter(resil.rtl_harness.npu.__path__))) / "rtl" / "wd"
SOURCES = sorted(RTL.glob("*.sv"), key=lambda file: (file.stem != "wd_pkg", file.name))
BENCH = Path(__file__).with_name("bench.cpp")


@dataclass(frozen=True)
class Job:
    """A stream to decode.

    Attributes:
        stream: Its bytes, a multiple of 16.
        vectors: How many to take before the next job begins.
        stalls: Percent of cycles without a beat, and without a vector taken.
        stop: Stop the decoder first.
    """

    stream: bytes
    vectors: int
    seed: int = 0
    stalls: tuple[int, int] = (0, 0)
    stop: bool = False


@dataclass(frozen=True)
class Result:
    """What came out; the fields are those of the bench's record."""

    vectors: int
    error_at: int
    cycles: int
    latency: int
    beats: int
    faults: int
    weights: np.ndarray


def build(vec_weights: int, rate: int) -> Path:
    """Return the simulator of a decoder with these parameters."""

    def fill(folder: Path) -> None:
        verilate(
            [
                *("--cc", "--exe", "--top-module", "wd", "--Mdir", str(folder)),
                *(f"-GVecWeights={vec_weights}", f"-GRate={rate}", "-CFLAGS", f"-DVEC_WEIGHTS={vec_weights}"),
                *map(str, [*SOURCES, BENCH]),
            ],
            folder,
        )
        make_verilated("Vwd.mk", folder, {"OPT_FAST": "-O1", "OPT_GLOBAL": "-O1"})

    key = content_key(
        vec_weights, rate, *SOURCES, BENCH, Path(__file__), find_verilator().version, compiler_version()
    )
    return cached_folder("wd_bench", key, fill) / "Vwd"


def run(simulator: Path, jobs: Sequence[Job], folder: Path, vec_weights: int) -> list[Result]:
    """Run the jobs one after another on one decoder, which is never reset between them."""
    with (folder / "jobs").open("wb") as file:
        for job in jobs:
            file.write(
                struct.pack("<6I", len(job.stream), job.vectors, job.seed, *job.stalls, job.stop) + job.stream
            )
    subprocess.run([simulator, folder / "jobs", folder / "results"], check=True, timeout=120)
    data = (folder / "results").read_bytes()
    results = []
    position = 0
    for _ in jobs:
        fields = struct.unpack_from("<6I", data, position)
        count = fields[0] * vec_weights
        results.append(Result(*fields, np.frombuffer(data, "<i2", count, position + 24)))
        position += 24 + 2 * count
    assert position == len(data)
    return results
