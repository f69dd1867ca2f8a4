# SPDX-License-Identifier: Apache-2.0
"""Every kind of bus that a memory of the bench answers in place of a recording, all in one design."""

import random
import re

import pytest

from resil.rtl_harness.design.target import PACKAGE
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.faults import Seen
from resil.rtl_harness.replay.feedback import Answered
from resil.rtl_harness.replay.strobes import Strobe
from testkit.recorded import compiled_testbench, run_testbench
from tests.rtl_harness.replay.model import HERE
from tests.rtl_harness.replay.replayed import Replayed, closed_by

FOLDER, WORDS, FAULTS = HERE / "buses", 64, 60
PARTS = [
    *("axi_mem", "axi_burst", "delay_queue", "word_mem", "ahb_mem", "obi_mem", "tilelink_mem"),
    *("wishbone_mem", "sram"),
]
TARGET = f"""\
name = "roamers"
top = "roamers"
sources = ["{FOLDER}/roamers.sv"]
clock = "clk_i"
reset = "rst_ni"
"""
AXI = {"ReadLatency": 3, "WriteLatency": 1}
# By the beginning of their names: parameters of the part; those of one that answers later, and what differs
# then; data of reads.
KINDS = {
    "full": (AXI, {"ReadLatency": 4}, "rvalid", "rdata"),
    "lite": (AXI, {"WriteLatency": 2}, "bvalid", "rdata"),
    "ahb": ({}, {"WaitStates": 1}, "hready", "hrdata"),
    "obi": ({}, {"Latency": 2}, "rvalid", "rdata"),
    "tl": ({}, {"Latency": 2}, "d_valid", "d_data"),
    "wb": ({}, {"Latency": 2}, "ack", "dat"),
    "wbp": ({}, {"Latency": 2}, "ack", "dat"),
    "ram": ({}, {"Latency": 2}, "rdata", "rdata"),
}
REGISTERS = {"addr_q": 6, "sum_q": 16, "turn_q": 2, "want_q": 1, "wait_q": 1}
ADDRESSES = ("*addr_o", "*address_o", "*adr_o")
STROBES = (Strobe(ADDRESSES, compared=False),)


def words(seed):
    draw = random.Random(seed)
    return [draw.randrange(WORDS) << 16 | draw.randrange(1 << 16) for _ in range(WORDS)]


IMAGE = b"".join(word.to_bytes(4, "little") for word in words(5))
CONTENTS = dict.fromkeys(KINDS, IMAGE)


def buses(late=()):
    return tuple(
        Answered(kind, kind, WORDS, parameters={**own[0], **(own[1] if kind in late else {})})
        for kind, own in KINDS.items()
    )


@pytest.fixture(scope="module")
def target_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("target") / "roamers.toml"
    file.write_text(TARGET)
    return file


@pytest.fixture(scope="module")
def program():
    parts = [PACKAGE / "bench" / f"resil_{name}.sv" for name in PARTS]
    sources = [*parts, FOLDER / "roamers.sv", FOLDER / "roamers_tb.sv"]
    return compiled_testbench(sources, "roamers_tb", "--trace", "--trace-structs")


@pytest.fixture(scope="module")
def recorded(program, tmp_path_factory):
    """A function that returns the waveform; with a kind whose addresses are moved by so many bytes."""
    folder = tmp_path_factory.mktemp("roamers")
    (folder / "words.hex").write_text("\n".join(f"{word:08x}" for word in words(5)))

    def run(*moved):
        own = folder / "_".join(map(str, moved or ("plain",)))
        run_testbench(program, own, f"+words={folder}/words.hex", *(f"+moved={kind}" for kind in moved))
        return own / "roamers.vcd"

    return run


@pytest.fixture(scope="module")
def vcd(recorded):
    return recorded()


def instance(name="u_rig"):
    return f"roamers_tb.{name}.u_dut"


def closed_with(target_file, file, **asked):
    """All buses closed, where nothing else is asked for."""
    asked = {"instance": instance(), "strobes": STROBES, "closed": buses(), **asked}
    return closed_by(target_file, file, **asked)


def first_difference(target_file, file, contents=None, **asked):
    closed = closed_with(target_file, file, **asked)
    replay = Replayed(closed, first=True, checked=True, contents={**CONTENTS, **(contents or {})})
    found = replay.golden().end.output
    return "" if found == replay.expected else replay.first_difference()


def of_kind(kind):
    return {f"u_{kind}.{name}": width for name, width in REGISTERS.items()}


def test_memories_answer_as_recorded(target_file, vcd):
    closed = closed_with(target_file, vcd)
    checked = Replayed(closed, first=True, checked=True, contents=CONTENTS)
    assert checked.golden().end.output == checked.expected, checked.first_difference()
    # Data of each kind are compared, in answers to reads alone.
    for kind, own in KINDS.items():
        data = f"{kind}_{own[3]}_i"
        reads = checked.images.compared[data]
        assert 32 * 15 < reads < 32 * 200, (data, reads)


@pytest.mark.slow
def test_engines_agree_on_all_kinds_and_wrong_addresses_are_seen(target_file, vcd):
    replay = Replayed(closed_with(target_file, vcd), contents=CONTENTS)
    alone = Replayed(closed_with(target_file, vcd, closed=()))
    faults = {}
    for number, kind in enumerate(KINDS):
        faults |= replay.faults(of_kind(kind), FAULTS, seed=number)
    plain = replay.injections(PlainEngine, faults)
    assert replay.injections(VerilatorEngine, faults) == plain
    some = dict([*faults.items()][:: len(KINDS)])
    assert replay.injections(CocotbEngine, some) == {fault: plain[fault] for fault in some}
    without = alone.injections(PlainEngine, faults)
    for kind in KINDS:
        own = [fault for fault, what in faults.items() if what[1].startswith(f"u_{kind}.")]
        assert len(own) == FAULTS
        assert {Seen.SDC_CRITICAL, Seen.MASKED} <= {plain[fault].seen for fault in own}
        # A recording alone answers a wrong address with the right word.
        missed = [
            fault
            for fault in own
            if without[fault].seen != Seen.SDC_CRITICAL and plain[fault].seen == Seen.SDC_CRITICAL
        ]
        assert f"u_{kind}.addr_q" in {faults[fault][1] for fault in missed}


@pytest.mark.parametrize("kind", KINDS)
def test_another_image_is_named_with_time_and_signal(target_file, vcd, kind):
    wrong = bytes(b ^ 1 if place % 4 == 0 else b for place, b in enumerate(IMAGE))
    said = first_difference(target_file, vcd, {kind: wrong})
    assert re.search(rf"the first at .*{kind}_{KINDS[kind][3]}_i is .*from the part of the bench", said), said


@pytest.mark.parametrize("kind", KINDS)
def test_another_base_is_named_with_time_and_signal(target_file, recorded, kind):
    said = first_difference(target_file, recorded([*KINDS].index(kind)))
    assert re.search(rf"the first at .*{kind}_{KINDS[kind][3]}_i is .*from the part of the bench", said), said


def mixed(file, target, kind):
    """Write a recording in which the ports of one kind are those of the memories that answer later."""
    header, end, body = file.read_text().partition("$enddefinitions")
    path, lines, places = [], [line.split() for line in header.splitlines()], {"u_rig": {}, "u_late": {}}
    for number, fields in enumerate(lines):
        if fields[:1] == ["$scope"]:
            path.append(fields[2])
        elif fields[:1] == ["$upscope"]:
            path.pop()
        elif fields[:1] == ["$var"] and path[-1] == "u_dut":
            places[path[-2]][fields[4]] = number
    # The recorded level of what makes the SRAM port wait is one of them.
    for name in [n for n in places["u_rig"] if n.startswith(f"{kind}_") or (kind, n) == ("ram", "slow_i")]:
        one, other = (lines[places[own][name]] for own in places)
        one[3], other[3] = other[3], one[3]
    target.write_text("\n".join(map(" ".join, lines)) + "\n" + end + body)
    return target


@pytest.mark.parametrize("kind", KINDS)
def test_another_latency_is_named_with_time_and_signal(target_file, vcd, tmp_path, kind):
    said = first_difference(target_file, mixed(vcd, tmp_path / "mixed.vcd", kind))
    assert re.search(rf"the first at .*{kind}_{KINDS[kind][2]}_i is .*from the part of the bench", said), said
