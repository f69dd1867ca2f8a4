# SPDX-License-Identifier: Apache-2.0
"""Clocks, resets, alarms and buses, by the names that engineers give them."""

import numpy as np
import pytest

from resil.proposal.signals import find_alarms, find_clocks, find_resets
from resil.rtl_harness.replay.buses import KINDS, bare, find_buses
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.waves import Signal


def ports(text):
    """Ports from words as ">clk", "<data:8": in and out."""
    found = []
    for word in text.split():
        name, _, width = word[1:].partition(":")
        found.append(TopPort(name, {">": "input", "<": "output"}[word[0]], int(width or 1)))
    return found


@pytest.mark.parametrize(
    "name", ["clk_i", "clk", "CLK", "aclk", "i_clk", "clock", "sys_clk_i", "hclk", "clk_core_i"]
)
def test_clocks(name):
    assert [own.name for own in find_clocks(ports(f">a >{name} >clk_en_i >clock_gate_i >ready_i"))] == [name]


@pytest.mark.parametrize(
    ("name", "low"),
    [
        ("rst_ni", True),
        ("RES", False),
        ("resn", True),
        ("rst_n", True),
        ("resetn", True),
        ("aresetn", True),
        ("nrst", True),
        ("HRESETn", True),
        ("rst_b", True),
        ("rst_i", False),
        ("reset", False),
        ("i_rst", False),
        ("core_reset_i", False),
        ("rst_n_i", True),
        ("resetb_i", True),
        ("PRESETn", True),
        ("s_axi_aresetn", True),
        ("nPORESET", True),
        ("por_n", True),
        ("por_i", False),
        ("wrst_n", True),
        ("sysrst", False),
        ("soft_rst_i", False),
        ("rst_sync_n", True),
    ],
)
def test_resets_of_either_polarity(name, low):
    found = find_resets(ports(f">clk >{name} >reset_vector_i:32 >rst_req_i >restart_i"))
    assert [(own.port.name, own.active_low) for own in found] == [(name, low)]


WORDS = "first burst port report import support worst_case temporary preset persist portal restart"


@pytest.mark.parametrize("name", [*(f"{word}_i" for word in WORDS.split()), "rst_done_i"])
def test_words_that_have_the_letters_of_a_reset_in_them(name):
    """The fault: first_i of a design became its reset, and rst_i a comment."""
    assert find_resets(ports(f">clk_i >{name}")) == []


def recorded_levels(**levels):
    return {
        name: Signal.of_bits(
            name, np.arange(len(own)), np.array(own, bool)[:, None], np.ones((len(own), 1), bool)
        )
        for name, own in levels.items()
    }


def test_the_reset_whose_name_says_nothing_else_comes_first():
    named = ports(">clk_i >wb_rst_i >srst >rst_ni")
    assert [own.port.name for own in find_resets(named)] == ["rst_ni", "srst", "wb_rst_i"]
    recorded = recorded_levels(wb_rst_i=[1, 0], srst=[0, 1, 0], rst_ni=[0, 1])
    assert [own.port.name for own in find_resets(named, recorded)] == ["rst_ni", "srst", "wb_rst_i"]


@pytest.mark.parametrize(
    ("name", "levels", "low", "by"),
    [
        ("rst_n", [0, 1], True, ""),
        ("rst_n", [1, 0, 1], True, ""),
        ("rst_n", [0, 1, 0], True, "by its name, but the recording ends with 0"),
        ("rst_n", [1, 0], True, "by its name, but the recording ends with 0"),
        ("rst_i", [1, 0], False, ""),
        ("rst_i", [0, 1, 0], False, ""),
        ("rst_i", [1, 0, 1], False, "by its name, but the recording ends with 1"),
        ("rst_i", [0, 1], True, "by the recording, which ends with 1"),
    ],
)
def test_a_recording_that_ends_in_reset_does_not_turn_the_polarity(name, levels, low, by):
    """The fault: rst_n became active high where a recording ends with it at 0."""
    (found,) = find_resets(ports(f">clk_i >{name}"), recorded_levels(**{name: levels}))
    assert (found.active_low, found.known, found.doubt.partition(";")[0]) == (low, True, by)


def test_a_reset_that_a_recording_uses_comes_first():
    recorded = recorded_levels(wb_rst_i=[0], arst_i=[0, 1])
    found = find_resets(ports(">clk_i >wb_rst_i >arst_i"), recorded)
    assert [(own.port.name, own.active_low, own.known) for own in found] == [
        ("arst_i", True, True),
        ("wb_rst_i", False, False),
    ]


@pytest.mark.parametrize(
    ("name", "reports"),
    [
        ("parity_error_o", "detected"),
        ("alert_major_o", "detected"),
        ("alert_minor_o", "corrected"),
        ("ecc_corrected_o", "corrected"),
        ("ecc_uncorrectable_o", "detected"),
        ("fault_o", "detected"),
        ("lockstep_mismatch", "detected"),
    ],
)
def test_alarms(name, reports):
    found = find_alarms(ports(f">err_i <data_o:8 <{name} <terror_o <pslverr <ferry_o"), {"pslverr"})
    assert [(own.port.name, own.reports) for own in found] == [(name, reports)]


@pytest.mark.parametrize(
    ("name", "found"),
    [("ecc_o:7", []), ("parity_o:4", []), ("ecc_o", ["ecc_o"]), ("ecc_error_o:2", ["ecc_error_o"])],
)
def test_the_code_of_data_is_no_alarm(name, found):
    assert [own.port.name for own in find_alarms(ports(f"<{name}"), set())] == found


AXI = (
    "{m}awaddr:32 {m}awvalid {s}awready {m}wdata:32 {m}wstrb:4 {m}wvalid {s}wready "
    "{s}bvalid {s}bresp:2 {m}bready "
    "{m}araddr:32 {m}arvalid {s}arready {s}rdata:32 {s}rresp:2 {s}rvalid {m}rready"
)
APB = "{m}psel {m}penable {m}paddr:12 {m}pwrite {m}pwdata:32 {s}prdata:32 {s}pready"
STREAM = "{m}tdata:8 {m}tvalid {s}tready {m}tlast"
TILELINK = "{m}a_valid {s}a_ready {m}a_opcode:3 {m}a_address:32 {m}a_data:32 "
TILELINK += "{s}d_valid {m}d_ready {s}d_opcode:3 {s}d_data:32"
OBI = "{m}req {s}gnt {m}addr:32 {m}we {m}be:4 {m}wdata:32 {s}rvalid {s}rdata:32"
AHB = "{m}haddr:32 {m}htrans:2 {m}hwrite {m}hwdata:32 {s}hrdata:32 {s}hready {s}hresp"
WISHBONE = "{m}cyc {m}stb {m}adr:32 {m}we {s}ack"
SRAM = "{m}req {m}we {m}addr:10 {m}wdata:32 {s}rdata:32"
BUSES = {
    "AXI4": AXI + " {m}awlen:8 {m}wlast {m}arlen:8 {s}rlast",
    "AXI4-Lite": AXI,
    "AXI4-Stream": STREAM,
    "APB": APB,
    "AHB-Lite": AHB,
    "TileLink-UL": TILELINK,
    "OBI": OBI,
    "Wishbone": WISHBONE,
    "SRAM port": SRAM,
}


def named(text, prefix, *, manager, style):
    """Ports of a bus of the design as manager or subordinate, named in one of the styles."""
    out, back = ("<", ">") if manager else (">", "<")
    words = []
    for word in text.format(m=out, s=back).split():
        name, colon, width = word[1:].partition(":")
        end = {"lowrisc": "_o" if word[0] == "<" else "_i", "plain": "", "upper": ""}[style]
        full = f"{prefix}{name}{end}"
        words.append(word[0] + (full.upper() if style == "upper" else full) + colon + width)
    return ports(" ".join(words))


@pytest.mark.parametrize("kind", BUSES)
@pytest.mark.parametrize("manager", [True, False])
@pytest.mark.parametrize(("prefix", "style"), [("m_axi_", "plain"), ("data_", "lowrisc"), ("", "upper")])
def test_each_kind_of_bus_in_each_style(kind, manager, prefix, style):
    own = named(BUSES[kind], prefix, manager=manager, style=style)
    found = find_buses([*ports(">clk_i >rst_ni <busy_o"), *own])
    assert [(bus.kind.name, bus.manager) for bus in found] == [(kind, manager)]
    assert {port.name for port in found[0].ports.values()} == {port.name for port in own}


def test_all_kinds_are_tried():
    assert {kind.name for kind in KINDS} == set(BUSES)


def test_two_buses_of_a_kind_are_told_apart_by_their_prefix():
    own = [
        *named(OBI, "instr_", manager=True, style="lowrisc"),
        *named(OBI, "data_", manager=True, style="lowrisc"),
    ]
    assert sorted(bus.prefix for bus in find_buses(own)) == ["data_", "instr_"]


def test_what_is_no_bus():
    assert find_buses(ports(">clk_i >valid_i >data_i:8 <ready_o <required_o <address_o:8")) == []


@pytest.mark.parametrize("kind", BUSES)
def test_outputs_that_count_under_a_condition_never_are_the_condition(kind):
    """What says that others count is compared always: a bus that is valid at a wrong time is seen."""
    for manager in (True, False):
        (bus,) = find_buses(named(BUSES[kind], "x_", manager=manager, style="lowrisc"))
        for when, outputs in bus.conditions().items():
            said = {name.removeprefix("!") for name in when}
            assert not said & set(outputs)
            assert not [
                name for name in outputs if bare(name).endswith(("valid", "ready", "req", "gnt", "psel"))
            ]


def test_data_of_wishbone_count_when_they_are_sent():
    """Data of both directions have one name; reads are answered with the acknowledge, and only then count."""
    ends = ">x_cyc_i >x_stb_i >x_adr_i:3 >x_we_i <x_ack_o <x_dat_o:8 >x_dat_i:8"
    (bus,) = find_buses(ports(ends))
    assert bus.conditions() == {("x_ack_o", "!x_we_i"): ["x_dat_o"]}
    (bus,) = find_buses(ports("<x_cyc_o <x_stb_o <x_adr_o:3 <x_we_o >x_ack_i >x_dat_i:8 <x_dat_o:8"))
    assert bus.conditions() == {
        ("x_stb_o",): ["x_adr_o", "x_we_o"],
        ("x_stb_o", "x_we_o"): ["x_dat_o"],
    }
