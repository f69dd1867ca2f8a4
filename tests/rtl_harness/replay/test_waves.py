# SPDX-License-Identifier: Apache-2.0
"""Waveforms as they are written: unknown bits, wide words, structures, times, and files that are none."""

import os
import subprocess
import sys

import numpy as np
import pytest

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.waves import Signal, Waves, read_here

TEXT = """\
$timescale 100ps $end
$scope module tb $end
$scope module u_dut $end
$var wire 1 ! clk $end
$var wire 4 " d [3:0] $end
$var wire 100 # wide [99:0] $end
$var real 64 $ level $end
$scope module pair $end
$var wire 3 % high [2:0] $end
$var wire 1 & low $end
$upscope $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
0!
bx "
b1 #
r0.5 $
b10z %
1&
#5
1!
b101 "
#10
0!
b1z1 "
0&
#15
1!
b1000 "
#15
b1001 "
b{wide} #
"""


@pytest.fixture
def waves(tmp_path):
    file = tmp_path / "a.vcd"
    file.write_text(TEXT.replace("{wide}", "1" * 100))
    return Waves(file)


def read(waves, name, width):
    return waves.signal([waves.below("tb.u_dut")[name]], width)


def numbers(signal, times, *, before):
    values, known = signal.sampled(np.array(times), before=before)
    weights = 1 << np.arange(signal.width, dtype=object)
    return [int((row * weights).sum()) for row in values], [int((row * weights).sum()) for row in known]


def test_values_just_before_a_time_and_at_it(waves):
    d = read(waves, "d", 4)
    assert numbers(d, [0, 5, 10, 15, 99], before=True) == ([0, 0, 5, 5, 9], [0, 0, 15, 0b1101, 15])
    assert numbers(d, [0, 5, 10, 15, 99], before=False) == ([0, 5, 5, 9, 9], [0, 15, 0b1101, 15, 15])


def test_bits_beyond_a_machine_word(waves):
    wide = read(waves, "wide", 100)
    assert numbers(wide, [4, 16], before=False)[0] == [1, (1 << 100) - 1]


def test_a_process_that_is_forked_from_a_reader_reads_nothing(waves):
    """The fault: the reader's threads are not in it, and it hung for ever, cells of a study for one."""
    read(waves, "d", 4)
    assert read_here()
    child = os.fork()
    if not child:
        try:
            read(waves, "d", 4)
            os._exit(1)
        except HarnessError as error:
            os._exit(0 if error.field == "waves.fork" else 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_process_that_is_forked_from_another_reader_reads_nothing(waves):
    """The fault: a reader that is not resil's has such threads too, and it hung for ever."""
    text = f"""
import os, sys
from pathlib import Path
import pywellen
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.waves import Signal, Waves, read_here
file = Path({str(waves.file)!r})
[var.signal.value_at(3) for var in pywellen.Waveform(str(file)).all_vars()]
assert read_here()
child = os.fork()
if not child:
    try:
        Waves(file)
        os._exit(1)
    except HarnessError as error:
        os._exit(0 if error.field == "waves.fork" else 2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", text], timeout=60, check=False).returncode == 0


def test_edges_of_a_clock(waves):
    clock = read(waves, "clk", 1)
    assert clock.edges.tolist() == [5, 15]
    assert clock.toggles.tolist() == [5, 10, 15]


def test_a_clock_that_is_unknown_at_first(tmp_path):
    """From unknown to 1 is an edge to simulators: what the testbench resets with it is reset."""
    file = tmp_path / "late.vcd"
    text = TEXT.replace("#0\n0!", "#0\nx!").replace("#10\n0!", "#10\nz!")
    file.write_text(text.replace("{wide}", "1" * 100) + "#20\nx!\n#25\n0!\n")
    clock = read(Waves(file), "clk", 1)
    assert clock.edges.tolist() == [5, 15]
    assert clock.toggles.tolist() == [5, 10, 15, 20]


def test_a_structure_is_its_fields_side_by_side(waves):
    pair = waves.signal(waves.structures("tb.u_dut")["pair"], 4)
    assert numbers(pair, [0, 10], before=False) == ([0b1001, 0b1000], [0b1101, 0b1101])


def test_a_signal_that_never_gets_a_value(tmp_path):
    """The fault: the reader gives no changes of it, and both init and run ended in a traceback."""
    file = tmp_path / "never.vcd"
    lines = TEXT.replace("{wide}", "1" * 100).splitlines()
    file.write_text("\n".join(own for own in lines if not own.endswith((' "', "&")) or "$var" in own) + "\n")
    waves = Waves(file)
    d = read(waves, "d", 4)
    assert numbers(d, [0, 5, 99], before=True) == ([0, 0, 0], [0, 0, 0])
    assert numbers(d, [0, 5, 99], before=False) == ([0, 0, 0], [0, 0, 0])
    pair = waves.signal(waves.structures("tb.u_dut")["pair"], 4)
    assert numbers(pair, [10], before=False) == ([0b1000], [0b1100])
    clock = Signal.of_bits("c", np.zeros(1, np.int64), np.zeros((1, 1), bool), np.zeros((1, 1), bool))
    assert (clock.edges.tolist(), clock.toggles.tolist()) == ([], [])


def test_times_with_their_unit(waves):
    assert waves.tick == (100, -12)
    assert [waves.ticks(text) for text in ("1 ns", "2.5ns", "300 ps", "1 us")] == [10, 25, 3, 10_000]
    assert waves.time(15) == "1,500 ps"


@pytest.mark.parametrize("text", ["ten ns", "5", "5 parsecs", ""])
def test_what_is_no_time(waves, text):
    with pytest.raises((ValueError, KeyError)):
        waves.ticks(text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(HarnessError) as raised:
        Waves(tmp_path / "none.vcd")
    assert raised.value.field == "waves"


@pytest.mark.parametrize("name", ["a.vcd", "a.fst", "a.ghw"])
@pytest.mark.parametrize("content", [b"", b"no waveform\n", bytes(range(256)) * 9])
def test_a_file_that_is_no_waveform(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(HarnessError) as raised:
        Waves(file).below("tb.u_dut")
    assert raised.value.field in ("waves", "instance")


@pytest.mark.parametrize(
    ("name", "width", "field"),
    [("d", 5, "waves.tb.u_dut.d"), ("level", 64, "waves.tb.u_dut.level")],
)
def test_what_does_not_fit_a_port(waves, name, width, field):
    with pytest.raises(HarnessError) as raised:
        read(waves, name, width)
    assert raised.value.field == field


def test_an_instance_that_is_not_there(waves):
    with pytest.raises(HarnessError) as raised:
        waves.below("tb.u_other")
    assert raised.value.field == "instance"


def test_an_instance_in_another_case_as_vhdl_has_it(waves):
    assert set(waves.below("TB.U_DUT")) == set(waves.below("tb.u_dut"))
