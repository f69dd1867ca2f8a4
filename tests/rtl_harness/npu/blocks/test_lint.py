# SPDX-License-Identifier: Apache-2.0
"""The NPU's RTL passes Verilator and slang without a warning in every size, and infers no latch."""

from __future__ import annotations

from itertools import pairwise

import pytest

from resil.rtl_harness.design.elaboration.yosys import run_yosys
from resil.rtl_harness.errors import SimulationError
from resil.rtl_harness.tools import verilate
from testkit.npu.blocks.structs import RTL

SOURCES = [
    *sorted(RTL.glob("*_pkg.sv")),
    *sorted(RTL.glob("*/*_pkg.sv")),
    RTL / "npu.sv",
    *sorted(f for f in RTL.glob("*/*.sv") if not f.name.endswith("_pkg.sv")),
]
SIZES = [32, 64, 128, 256]


@pytest.mark.parametrize(
    ("macs", "option"),
    [
        *((m, "Inferences=1") for m in SIZES),
        *((32, o) for o in ("Inferences=2", "ClockGates=1", "RegionCheck=0", "BufferCode=1", "BusParity=1")),
        *((m, "BufferCode=2") for m in (32, 256)),
    ],
)
def test_verilator_has_nothing_to_say(macs: int, option: str, tmp_path):
    parameters = [f"-GMacs={macs}", f"-G{option}"]
    arguments = ["--lint-only", "-Wall", "--top-module", "bench_top", *parameters]
    verilate([*arguments, str(RTL / "lint.vlt"), *map(str, SOURCES)], tmp_path)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (("BufferCode=3",), r"BufferCode is 3: expected 0 \(none\), 1 \(parity\) or 2 \(SECDED\)"),
        (("BusParity=1", "BusFaults=1"), "BusParity with BusFaults: .* set one of them"),
    ],
)
def test_parameters_that_are_not_built_are_refused(parameters: tuple[str, ...], expected: str, tmp_path):
    arguments = ["--lint-only", "--top-module", "bench_top", *(f"-G{p}" for p in parameters)]
    with pytest.raises(SimulationError, match=expected):
        verilate([*arguments, str(RTL / "lint.vlt"), *map(str, SOURCES)], tmp_path)


def test_a_waiver_has_its_reason_beside_it():
    lines = (RTL / "lint.vlt").read_text(encoding="ascii").splitlines()
    assert lines[0] == "`verilator_config"
    for before, line in pairwise(lines):
        assert line.startswith(("//", "lint_off ")), line
        assert not line.startswith("lint_off") or (before.startswith("// ") and len(before) > 20), line
    inside = [f.name for f in RTL.rglob("*.sv*") if "lint_off" in f.read_text(encoding="ascii")]
    assert not inside, f"waivers stand in lint.vlt, found some in {inside}"


@pytest.mark.parametrize("macs", [0, 16, 96, 512])
def test_sizes_that_are_not_built_are_refused(macs: int, tmp_path):
    arguments = ["--lint-only", "--top-module", "bench_top", f"-GMacs={macs}"]
    with pytest.raises(SimulationError, match=f"Macs is {macs}: expected 32, 64, 128 or 256"):
        verilate([*arguments, str(RTL / "lint.vlt"), *map(str, SOURCES)], tmp_path)


@pytest.mark.parametrize(
    "macs", [pytest.param(m, marks=[pytest.mark.slow] if m in (64, 256) else []) for m in SIZES]
)
def test_slang_warns_of_nothing_and_yosys_finds_no_latch(macs: int, tmp_path):
    script = [
        f"read_slang --top npu -G Macs={macs} {' '.join(map(str, SOURCES))}",
        *("proc", "check -assert", "select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr"),
        "select -assert-min 500 t:$dff t:$adff t:$adffe t:$aldff",
    ]
    log = run_yosys(script, tmp_path, f"elaboration of the NPU with {macs} MACs")
    assert "0 errors, 0 warnings" in log
