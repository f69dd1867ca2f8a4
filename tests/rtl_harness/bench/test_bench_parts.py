# SPDX-License-Identifier: Apache-2.0
"""The bench parts, under verification components of others; and faults seeded into them, which those see."""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.cocotb_runner import built, failures

HERE = Path(__file__).parent
for _package in ("axi", "ahb", "obi", "wishbone"):
    pytest.importorskip(
        f"cocotbext.{_package}", reason="verification components of others, in the extra test"
    )

# Two packets: 1 to 6 in two words, then 9 8 7 6.
SOURCE = "0000_0000_2f_04030201\n0000_0000_33_00000605\n0000_0000_3f_06070809\n"


def found(folder, repository, mutant=None):
    folder.mkdir(exist_ok=True)
    sources = sorted((repository / "rtl_harness" / "bench").glob("*.sv"))
    if mutant is not None:
        name, old, new = mutant
        text = next(file for file in sources if file.stem == name).read_text()
        assert text.count(old) == 1
        (folder / f"{name}.sv").write_text(text.replace(old, new))
        sources = [folder / file.name if file.stem == name else file for file in sources]
    (folder / "source.hex").write_text(SOURCE.replace("_", ""))
    build = built([*sources, HERE / "parts.sv"], "parts", folder)
    return failures(build, "parts", "parts_tests", [HERE], plusargs=[f"+source={folder / 'source.hex'}"])


def test_parts_do_what_their_protocols_say(repository, tmp_path):
    assert found(tmp_path / "own", repository) == {}


MUTANTS = {
    "resil_axi_join": ("w_beat_q == w_len;", "mem_wlast_o;", "a_port_that_never_ends_its_burst"),
    "resil_tilelink_mem": ("d_denied_o && is_data;", "1'b0;", "tilelink_ul"),
    "resil_wishbone_mem": (
        "answered && cyc_i && !given_up_q && !failed;",
        "answered && cyc_i && !failed;",
        "wishbone",
    ),
    "resil_ahb_mem": ("(settled && (!bad || second_q));", "settled;", "ahb_lite"),
    "resil_word_mem": ("if (we_i && hit_o) begin", "if (we_i) begin", "sram_and_console"),
    "resil_axis_sink": ("overflow_q || !hit;", "1'b0;", "streams"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_seeded_fault_is_seen(name, repository, tmp_path):
    old, new, test = MUTANTS[name]
    assert test in found(tmp_path / "mutant", repository, (name, old, new))
