# SPDX-License-Identifier: Apache-2.0
"""Memories with a code: what strikes them is corrected or told, and nothing else has changed."""

from __future__ import annotations

import pickle
import re
import shutil

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup
from resil.rtl_harness.redundancy.code_proof import prove_codes
from resil.rtl_harness.redundancy.proof import check_alarms
from testkit.errors import about
from testkit.once import made_once
from tests.rtl_harness.redundancy.designs import awkward, awkward_work, core_work, target_of
from tests.rtl_harness.redundancy.test_build import built, engines, struck
from tests.rtl_harness.redundancy.test_proof import change

# A macro with two parts of a word that are written by themselves, and an output latch.
CORE = """
module core (input logic clk, input logic rst, input logic [4:0] step, output logic [31:0] data);
  logic [31:0] mem_q [32];
  logic [31:0] latch_q;
  logic [7:0] sum_q;
  always_ff @(posedge clk or posedge rst)
    if (rst) sum_q <= 8'h35;
    else sum_q <= sum_q + 8'(step) + latch_q[9:2];
  always_ff @(posedge clk) begin
    if (step[0]) latch_q <= mem_q[{2'd0, step[4:2]}];
    if (!step[1]) mem_q[{2'd0, step[3:1]}][7:0] <= sum_q;
    if (!step[2]) mem_q[{2'd0, step[3:1]}][31:8] <= {sum_q, ~sum_q, sum_q};
  end
  assign data = latch_q;
endmodule
"""
MEMORY = "gen_dut.u_core.mem_q"
HISTORY = "u_dut.u_history.past_q"


@pytest.fixture(params=[Mechanism.SECDED, Mechanism.MEMORY_PARITY])
def mechanism(request):
    return request.param


def core(folder):
    return target_of(folder, CORE, macros=("gen_dut.u_core.latch_q",))


@pytest.fixture
def coded(tmp_path, tmp_path_factory):
    """Gives the design, what was built of it and the protected target, in a folder of the test's own."""

    def copy(mechanism, ways=1):
        def make(folder):
            build, _ = built(core(folder), [ProtectionGroup("core", mechanism, ways=ways)], folder / "out")
            (folder / "build").write_bytes(pickle.dumps(build))

        made = made_once(tmp_path_factory, f"coded-{mechanism}-{ways}", make)
        shutil.copytree(made / "out", tmp_path / "out")
        build = pickle.loads((made / "build").read_bytes())
        return core(tmp_path), build, load_target(tmp_path / "out" / "target.toml")

    return copy


def test_bits_that_are_written_together_are_one_write_for_a_simulator(mechanism, coded, tmp_path):
    """One for each bit takes a design with many such memories several times as long in simulation."""
    coded(mechanism)
    texts = [file.read_text() for file in (tmp_path / "out" / "rtl").glob("*.sv")]
    (text,) = [text for text in texts if "mem_q [" in text]
    writes = re.findall(r"mem_q\[.*\]\[(\d+):(\d+)\] <=", text)
    # Both parts of a word, and each with its check bits, of which neighbours may be written apart.
    checks = sum(int(high) >= 32 for high, _ in writes)
    assert sorted(pair for pair in writes if int(pair[0]) < 32) == [("31", "8"), ("7", "0")]
    assert checks <= (11 if mechanism is Mechanism.SECDED else 2)


def test_code_words_are_what_is_written_by_itself_and_go_through_the_latch(mechanism, coded):
    target, build, protected = coded(mechanism)
    (memory,) = build.memories
    assert memory.parts == (8, 24)
    assert memory.storage == (MEMORY, "gen_dut.u_core.latch_q")
    elaboration = elaborate(protected)
    width = 32 + (5 + 6 if mechanism is Mechanism.SECDED else 1 + 1)
    found = {e.path: (e.kind, e.width) for e in elaboration.sites.elements if e.kind != "ff"}
    assert found == {MEMORY: ("sram", width), "gen_dut.u_core.latch_q": ("macro", width)}
    engine = engines(target, protected, core_work())
    for path in found:
        for seen, detected, minor in struck(engine, elaboration, path, range(1, 30, 3)):
            shown = seen not in (Seen.LATENT, Seen.MASKED)
            if mechanism is Mechanism.SECDED:
                assert not shown
                assert detected is None
            else:
                assert minor is None
                assert detected == "alert_major" or not shown


@pytest.mark.parametrize("ways", [2, 3])
def test_parity_in_turn_tells_of_every_cluster_of_so_many_neighbours(ways, coded, tmp_path):
    """The fault: two neighbours under one parity bit went through, and nothing was reported."""
    target, build, protected = coded(Mechanism.MEMORY_PARITY, ways)
    assert build.memories[0].check_bits == 32 * 2 * ways
    assert prove_codes(tmp_path / "out" / "rtl", build.memories) == 2
    engine, elaboration = engines(target, protected, core_work()), elaborate(protected)
    for size in range(1, ways + 1):
        for seen, detected, minor in struck(engine, elaboration, MEMORY, range(1, 30, 3), size=size):
            assert minor is None
            assert detected == "alert_major" or seen in (Seen.LATENT, Seen.MASKED)


def test_two_wrong_bits_of_a_word_are_told_and_never_corrected(coded):
    """Neighbours in one code word; those of two code words are corrected, both."""
    target, _, protected = coded(Mechanism.SECDED)
    engine = engines(target, protected, core_work())
    elaboration = elaborate(protected)
    sites = elaboration.sites
    first = sites.offsets[next(i for i, e in enumerate(sites.elements) if e.path == MEMORY)]
    width = 32 + 5 + 6
    told = corrected = 0
    for bit in range(width - 1):
        faults = [Fault(first + word * width + bit, 9, bits=2) for word in range(8)]
        for injection in engine.run(faults):
            apart = bit in (7, 31, 36)
            assert injection.seen in (Seen.LATENT, Seen.MASKED) or injection.detected
            told += injection.detected is not None
            corrected += injection.corrected is not None
            assert apart or injection.corrected is None
            assert injection.detected is None or not apart
    assert told > 100
    assert corrected


def test_a_memory_that_is_read_at_once(mechanism, tmp_path):
    target = awkward()
    build, protected = built(target, [ProtectionGroup(HISTORY, mechanism)], tmp_path / "out")
    assert build.memories[0].parts == ((36, 36) if mechanism is Mechanism.SECDED else (24, 24, 24))
    engine = engines(target, protected, awkward_work())
    found = struck(engine, elaborate(protected), HISTORY, [40, 150])
    assert {minor or detected for _, detected, minor in found} == {
        "alert_minor" if mechanism is Mechanism.SECDED else "alert_major"
    }


def test_flip_flops_and_a_memory_of_one_block_are_protected_each_by_its_own(tmp_path):
    target = awkward()
    groups = [
        ProtectionGroup("history", Mechanism.TRIPLICATION),
        ProtectionGroup("history", Mechanism.SECDED),
    ]
    build, protected = built(target, groups, tmp_path / "out")
    assert build.registers
    assert len(build.memories) == 1
    engines(target, protected, awkward_work())
    page = (tmp_path / "out" / "README.md").read_text()
    assert "| 36 + 36 | 224 | - |" in page
    assert "every word must be written" in page


@pytest.mark.parametrize(
    ("path", "mechanism", "why"),
    [
        ("u_dut.u_history.wide_q", Mechanism.SECDED, "no memory"),
        (HISTORY, Mechanism.PARITY, "a memory: secded and memory_parity are for it"),
        (f"{HISTORY}[3]", Mechanism.SECDED, "whole words"),
        ("control", Mechanism.SECDED, "a block or an instance with memories"),
    ],
)
def test_what_no_code_can_protect_is_refused_by_name(path, mechanism, why, tmp_path):
    with pytest.raises(HarnessError) as error:
        built(awkward(), [ProtectionGroup(path, mechanism)], tmp_path / "out")
    assert str(error.value).startswith(path)
    assert why in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_memory_in_two_groups_is_refused(tmp_path):
    groups = [ProtectionGroup("history", Mechanism.SECDED), ProtectionGroup(HISTORY, Mechanism.MEMORY_PARITY)]
    with pytest.raises(HarnessError, check=about(HISTORY)):
        built(awkward(), groups, tmp_path / "out")


def test_codes_are_proven(mechanism, coded, tmp_path):
    _, build, protected = coded(mechanism)
    assert prove_codes(tmp_path / "out" / "rtl", build.memories) == 2
    check_alarms(protected, elaborate(protected), build.registers, build.memories)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        # Columns of one bit, which are those of check bits; of an even number; and of any.
        ("resil_code_pkg.sv", "weight = 3", "weight = 1"),
        ("resil_code_pkg.sv", "weight = 3", "weight = 2"),
        ("resil_code_pkg.sv", "$countones(column) == weight &&", "column > 2 &&"),
        # A corrector that leaves a bit, alarms that look at too little, and at one another's.
        ("resil_secded_dec.sv", "data_i ^ wrong", "data_i ^ (wrong & ~Width'(4))"),
        ("resil_secded_dec.sv", "|wrong || check_wrong", "|wrong"),
        ("resil_secded_dec.sv", "syndrome != '0 && !single_error_o", "1'b0"),
        ("resil_secded_dec.sv", "syndrome != '0 && !single_error_o", "syndrome != '0"),
        # A correction that depends on the word, and a code that is none of exclusive ors.
        ("resil_secded_dec.sv", "data_i ^ wrong", "data_i ^ (&data_i ? '0 : wrong)"),
        ("resil_secded_enc.sv", "^(data_i & Row[Width-1:0])", "^(data_i & Row[Width-1:0]) ^ &data_i"),
    ],
)
def test_codes_that_do_something_else(file, old, new, coded, tmp_path):
    _, build, _ = coded(Mechanism.SECDED)
    change(tmp_path / "out" / "rtl" / file, old, new)
    with pytest.raises(HarnessError, check=about("resil_secded_dec")):
        prove_codes(tmp_path / "out" / "rtl", build.memories)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("resil_parity_enc.sv", "data_i & way(i)", "data_i & way(i) & ~Width'(1)"),
        ("resil_parity_dec.sv", "expected != check_i", "|check_i"),
        ("resil_parity_dec.sv", "data_o        = data_i", "data_o        = data_i ^ Width'(check_i)"),
        # The parity bits in another order: the last bit of the word and the first of them lie under one.
        ("resil_parity_enc.sv", "(Width + number) % Ways", "(Width + Ways - 1 - number) % Ways"),
    ],
)
def test_parity_that_does_something_else(file, old, new, coded, tmp_path):
    _, build, _ = coded(Mechanism.MEMORY_PARITY, 2)
    change(tmp_path / "out" / "rtl" / file, old, new)
    with pytest.raises(HarnessError, check=about("resil_parity_dec")):
        prove_codes(tmp_path / "out" / "rtl", build.memories)


@pytest.mark.parametrize("pin", ["single_error_o", "multi_error_o"])
def test_a_decoder_whose_alarm_is_open(pin, coded, tmp_path):
    _, build, protected = coded(Mechanism.SECDED)
    file = tmp_path / "out" / "rtl" / "core_protected.sv"
    text = file.read_text()
    wire = text[text.index(f".{pin}(") :].partition("(")[2].partition(")")[0]
    change(file, f".{pin}({wire})", f".{pin}()")
    with pytest.raises(HarnessError, check=lambda error: error.field.endswith(f".{pin}")):
        check_alarms(protected, elaborate(protected), build.registers, build.memories)


def test_a_code_wired_to_the_wrong_bits_is_found_by_injection(coded, tmp_path):
    """Bits exchanged behind the decoder: what it corrects is another one, and the outputs differ at once."""
    target, _, protected = coded(Mechanism.SECDED)
    file = tmp_path / "out" / "rtl" / "core_protected.sv"
    change(file, ".data_i(latch_q[7:0])", ".data_i({latch_q[6], latch_q[7], latch_q[5:0]})")
    engine = VerilatorEngine(protected, core_work(), elaborate(protected))
    before = VerilatorEngine(target, core_work(), elaborate(target))
    ends = [engine.golden().end for engine in (before, engine)]
    assert ends[0].output != ends[1].output or ends[1].alarms
