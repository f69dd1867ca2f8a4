# SPDX-License-Identifier: Apache-2.0
"""The NPU with its built-in mechanisms, and faults that are the same with and without them."""

from __future__ import annotations

import re
from dataclasses import replace

from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.target import Target, TargetAlarm
from resil.rtl_harness.faults import Fault

NONE, PARITY, SECDED = range(3)
CHECK_BITS = {NONE: 0, PARITY: 1, SECDED: 7}
WORD = 32
ALARMS = {
    "buffer_corrected": TargetAlarm("buffer_corrected_o", "corrected"),
    "buffer_error": TargetAlarm("buffer_error_o"),
    "bus_parity": TargetAlarm("bus_parity_o"),
}
BANK = re.compile(r"u_npu\.u_sb\.gen_bank\[\d+\]\.u_bank\.(mem_q|rd_data_q)")


def coded(target: Target, buffer_code: int = NONE, bus_parity: bool = False) -> Target:
    """Return a target of the NPU with these mechanisms and their alarms, as a target file may have them."""
    parameters = {**target.parameters, "BufferCode": buffer_code, "BusParity": int(bus_parity)}
    return replace(target, parameters=parameters, alarms={**target.alarms, **ALARMS})


def moved(fault: Fault, plain: SiteTable, other: SiteTable, code: int) -> Fault:
    """Return a fault of the NPU without mechanisms as it is in one with them: the same bits of the same data.

    Args:
        fault: In a register, or in data bits of one 32-bit word of the shared buffer.
        plain: Sites without mechanisms.
        other: Sites with them.
        code: Of the shared buffer there.
    """
    index = plain.element_index(fault.site)
    element, bit = plain.elements[index], fault.site - plain.offsets[index]
    if BANK.fullmatch(element.path):
        word, bit = divmod(bit, WORD)
        assert bit + fault.bits <= WORD, f"{fault} reaches beyond its word"
        bit += word * (WORD + CHECK_BITS[code])
    place = next(i for i, own in enumerate(other.elements) if own.path == element.path)
    return replace(fault, site=other.offsets[place] + bit)
