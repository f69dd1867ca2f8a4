# SPDX-License-Identifier: Apache-2.0
"""Buses whose ports the pins of a bench module cannot take: what would be cut off is refused, by name."""

import pytest

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.buses import find_buses
from resil.rtl_harness.replay.feedback import Answered, answered_buses
from resil.rtl_harness.replay.parts import PARTS, part_of
from resil.rtl_harness.replay.ports import TopPort

AXI = "<awaddr:32 <awvalid >awready <awid:{aw} <awlen:8 <wdata:32 <wstrb:4 <wlast <wvalid >wready >bvalid "
AXI += "<bready >bid:{aw} <araddr:32 <arvalid >arready <arid:{ar} <arlen:8 >rdata:{data} >rvalid >rid:{ar} "
AXI += ">rlast <rready"
SRAM = "<req <{we} <addr:10 <wdata:32 <{mask} >rdata:32"
WISHBONE = "<cyc <stb <we <adr:16 <sel:{sel} <dat_o:32 >dat_i:32 >ack"


def ports(text):
    """Ports from words as "<data:8": out of the design, below m_."""
    found = []
    for word in text.split():
        name, _, width = word[1:].partition(":")
        found.append(TopPort(f"m_{name}", {">": "input", "<": "output"}[word[0]], int(width or 1)))
    return found


def test_what_is_narrower_or_of_several_widths_is_taken():
    found = ports(AXI.format(aw=6, ar=4, data=32).replace("awlen:8", "awlen:4"))
    (bus,) = find_buses(found)
    # The fault: identifiers of writes lost the bits that those of reads do not have.
    assert part_of(bus).parameters(bus)["IdWidth"] == "6"
    assert part_of(find_buses(ports(SRAM.format(we="we", mask="be:4")))[0]) is PARTS["SRAM port"]
    assert part_of(find_buses(ports(WISHBONE.format(sel=4)))[0]) is PARTS["Wishbone"]


REFUSED = {
    "m_rdata of 64 bits in place of 32": AXI.format(aw=1, ar=1, data=64),
    "m_wmask of 32 bits in place of 4": SRAM.format(we="we", mask="wmask:32"),
    "m_we of 4 bits in place of 1": SRAM.format(we="we:4", mask="be:4"),
    "m_we_no, which by its name is active low": SRAM.format(we="we_no", mask="be:4"),
    "m_sel of 2 bits in place of 4": WISHBONE.format(sel=2),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_part_would_cut_off(what):
    """The fault: bits beyond a pin were dropped; a memory then wrote other bytes than the recorded one."""
    own = ports(REFUSED[what])
    (bus,) = find_buses(own)
    assert part_of(bus) is None
    with pytest.raises(HarnessError) as raised:
        answered_buses(own, [Answered("m_", "mem", 64)])
    assert raised.value.field == "closed[0].bus"
    assert what in str(raised.value)
