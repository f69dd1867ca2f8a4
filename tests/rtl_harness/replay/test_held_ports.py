# SPDX-License-Identifier: Apache-2.0
"""Arrays that are not packed, interfaces, structures and unions as ports; names as simulators write them."""

import random
import re

import numpy as np
import pytest

from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.replay.strobes import Strobe
from resil.rtl_harness.replay.waves import Waves
from testkit.recorded import compiled_testbench, run_testbench
from tests.rtl_harness.replay.model import HERE
from tests.rtl_harness.replay.replayed import Replayed, closed_by

FOLDER, INSTANCE, FAULTS = HERE / "held", "gather_tb.u_dut", 150
TARGET = f"""\
name = "gather"
top = "gather"
sources = ["{FOLDER}/gather.sv"]
clock = "clk_i"
reset = "rst_ni"
"""
OUTPUTS = {"bus.ready": 1, "pairs_o[0]": 4, "pairs_o[1]": 4, "sum_o": 8}


@pytest.fixture(scope="module")
def program():
    sources = [FOLDER / "gather.sv", FOLDER / "gather_tb.sv"]
    return compiled_testbench(sources, "gather_tb", "--trace", "--trace-structs")


@pytest.fixture(scope="module")
def vcd(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gather")
    run_testbench(program, folder, "+verilator+seed+1")
    return folder / "gather.vcd"


@pytest.fixture(scope="module")
def target_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("target") / "gather.toml"
    file.write_text(TARGET)
    return file


@pytest.fixture(scope="module")
def replay(target_file, vcd):
    return Replayed(closed_by(target_file, vcd, instance=INSTANCE))


def test_each_part_is_a_port_by_the_name_that_waveforms_have(replay):
    layout = replay.closed.layout
    names = {port.name for port in layout.inputs}
    assert names == {
        *(
            "rst_ni",
            "bus.valid",
            "bus.order",
            "bus.data",
            "bus.mood",
            "bus.more[0]",
            "bus.more[1]",
            "either_i",
        ),
        *(f"table_i[{i}][{j}]" for i in (1, 2, 3) for j in (0, 1)),
        *("orders_i[0]", "orders_i[1]"),
    }
    assert {port.name for port in layout.outputs} == {*OUTPUTS}
    # The clock of the interface is that of the design, in the recording.
    assert [(port.name, number) for port, number in layout.clock_ports] == [("clk_i", 0), ("bus.clk", 0)]
    assert replay.golden().end.output == replay.expected
    assert replay.images.compared_bits > 17 * 100


def values(file, times):
    """Outputs just before each time, as numbers."""
    waves = Waves(file)
    parts = waves.parts(INSTANCE)
    found = []
    for name, width in OUTPUTS.items():
        bits, _ = waves.signal(parts[name], width).sampled(times, before=True)
        found.append((bits * (1 << np.arange(bits.shape[1]))).sum(axis=1))
    return np.stack(found)


def test_outcomes_are_those_of_the_testbench_itself(replay, program, tmp_path):
    draw, sites = random.Random(3), replay.elaboration.sites
    steps = range(4, replay.recording.cycles - 1)
    faults = [*{Fault(draw.randrange(sites.size), draw.choice(steps)) for _ in range(FAULTS)}]
    plain = replay.injections(PlainEngine, faults)
    assert replay.injections(VerilatorEngine, faults) == plain
    assert replay.injections(CocotbEngine, faults) == plain
    times = replay.recording.times
    golden, seen = values(replay.recording.span.file, times), set()
    for fault in faults[:40]:
        site = sites[fault.site]
        path = site.element.path.replace("u_dut", INSTANCE, 1)
        moment = int(times[fault.cycle]) + 1
        run_testbench(program, tmp_path, "+verilator+seed+1", f"+flip={moment},{path},{site.bit}")
        differs = bool((values(tmp_path / "gather.vcd", times) != golden).any())
        assert plain[fault].seen.value.startswith("sdc") == differs, (site.name, fault)
        seen.add(differs)
    assert True in seen


def test_strobes_and_conditions_name_them_so(target_file, vcd):
    strobes = (Strobe(("pairs_o*",), when=("bus.valid", "bus.ready")),)
    replay = Replayed(closed_by(target_file, vcd, instance=INSTANCE, strobes=strobes))
    assert replay.golden().end.output == replay.expected


WAYS = {
    "parentheses": (r"\[(\d)\](?= |\[|$)", r"(\1)"),
    "escaped names": (r"(\$var \w+ \d+ \S+ )(\w+)\[", r"\1\\\2["),
    "ranges at the name": (r"(\[\d+\]) (\[\d+:0\] \$end)", r"\1\2"),
}


@pytest.mark.parametrize("way", WAYS)
def test_names_as_other_simulators_write_them(target_file, vcd, tmp_path, way):
    head, end, body = vcd.read_text().partition("$enddefinitions")
    lines = [
        re.sub(*WAYS[way], own) if "$var" in own or "$scope" in own else own for own in head.splitlines()
    ]
    file = tmp_path / "other.vcd"
    file.write_text("\n".join(lines) + end + body)
    assert file.read_text() != vcd.read_text()
    replay = Replayed(closed_by(target_file, file, instance=INSTANCE))
    assert replay.golden().end.output == replay.expected


def test_a_wrong_element_is_named(target_file, vcd, tmp_path):
    """The second element for the first: a bench that mixes them up would not reproduce the recording."""
    text = vcd.read_text()
    head, end, body = text.partition("$enddefinitions")
    inside = head.index("u_dut")
    swapped = head[inside:].replace("orders_i[0]", "X").replace("orders_i[1]", "orders_i[0]")
    file = tmp_path / "swapped.vcd"
    file.write_text(head[:inside] + swapped.replace("X", "orders_i[1]") + end + body)
    replay = Replayed(closed_by(target_file, file, instance=INSTANCE), first=True)
    assert replay.golden().end.output != replay.expected
    assert re.search(r"(sum_o|pairs_o\[\d\]) is ", replay.first_difference())


IF = "interface wires(input logic c); logic a, b; {body} endinterface\n"
REFUSED = {
    "top.bus": (IF.format(body=""), "wires bus"),
    "a task": (IF.format(body="task t; endtask modport m(input a, import t);"), "wires.m bus"),
    "an expression": (IF.format(body="modport m(input .x(a & b));"), "wires.m bus"),
    "an array of them": (IF.format(body="modport m(input a);"), "wires.m bus[2]"),
    "both directions": (IF.format(body="modport m(inout a);"), "wires.m bus"),
    "no definition": ("", "none.m bus"),
    "real": ("", "input real bus[2]"),
    "local enumeration": ("typedef enum logic {A, B} mode_e;\n", "input mode_e bus[2]"),
    "structure": ("typedef struct {logic a; logic b;} s_t;\n", "input s_t bus"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_ports_that_nothing_can_drive(tmp_path, vcd, what):
    before, port = REFUSED[what]
    (tmp_path / "odd.sv").write_text(
        f"{before}module odd(input logic clk_i, {port}, output logic q_o); assign q_o = clk_i; endmodule\n"
    )
    target = tmp_path / "odd.toml"
    target.write_text('name = "odd"\ntop = "odd"\nsources = ["odd.sv"]\nclock = "clk_i"\n')
    with pytest.raises(HarnessError) as raised:
        closed_by(target, vcd, instance=INSTANCE)
    assert raised.value.field.startswith("top.bus")
