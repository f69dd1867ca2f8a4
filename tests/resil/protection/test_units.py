# SPDX-License-Identifier: Apache-2.0
"""What of a design is chosen for together, and by which names it is built."""

from dataclasses import replace

import numpy as np

from resil.protection.units import Granularity, cells_of, units_of
from tests.resil.protection.designs import storage_of

STORAGE = storage_of(
    [
        ("u.u_cc.state_q", 3, "ff", "cc", "control"),
        ("u.u_cc.count_q", 20, "ff", "cc", "counter"),
        ("u.u_sb.g_bank[0].u_ram.mem", 64, "sram", "sb", "memory"),
        ("u.u_sb.g_bank[0].u_ram.rdata_q", 8, "macro", "sb", "buffer"),
        ("u.u_sb.addr_q", 4, "ff", "sb", "address"),
    ]
)


def names(granularity):
    return [u.name for u in units_of(STORAGE, cells_of(STORAGE), granularity)]


def test_groups_are_eight_bits_of_a_register_and_a_memory_goes_with_its_macro():
    units = units_of(STORAGE, cells_of(STORAGE), Granularity.GROUP)
    assert [u.name for u in units] == [
        "u.u_cc.state_q",
        *("u.u_cc.count_q[7:0]", "u.u_cc.count_q[15:8]", "u.u_cc.count_q[19:16]"),
        "u.u_sb.g_bank[0].u_ram",
        "u.u_sb.addr_q",
    ]
    assert dict(units[4].bits) == {"sram": 64, "macro": 8}
    assert units[4].parts == (units[4].name,)
    assert all(u.all_bits <= 8 for u in units if not u.memory)


def test_registers_and_blocks():
    assert names(Granularity.REGISTER) == [
        *("u.u_cc.state_q", "u.u_cc.count_q", "u.u_sb.g_bank[0].u_ram", "u.u_sb.addr_q")
    ]
    assert names(Granularity.BLOCK) == ["cc", "sb memories", "sb"]


def test_every_bit_is_in_one_unit():
    cells = cells_of(STORAGE)
    for granularity in Granularity:
        units = units_of(STORAGE, cells, granularity)
        assert sorted(c for u in units for c in u.cells) == list(range(len(cells.bits)))
        assert sum(u.all_bits for u in units) == len(STORAGE)


def test_bits_that_are_no_hardware_break_a_group_into_ranges():
    kept = np.array([0, 1, 2, 5, 6, 9])
    part = storage_of([("u.a_q", 10, "ff", "cc", "data")])
    fields = ("path", "bit", "kind", "block", "register_class")
    part = replace(part, **{field: getattr(part, field)[kept] for field in fields})
    units = units_of(part, cells_of(part), Granularity.GROUP)
    assert [u.parts for u in units] == [("u.a_q[2:0]", "u.a_q[6:5]"), ("u.a_q[9:9]",)]
    assert units_of(part, cells_of(part), Granularity.REGISTER)[0].parts == (
        *("u.a_q[2:0]", "u.a_q[6:5]", "u.a_q[9:9]"),
    )


def test_what_is_left_of_a_register_is_not_the_register():
    part = replace(storage_of([("u.a_q", 4, "ff", "cc", "data")]), declared={"u.a_q": 9})
    assert units_of(part, cells_of(part), Granularity.REGISTER)[0].parts == ("u.a_q[3:0]",)


def test_a_part_of_a_register_is_named_by_the_register():
    part = storage_of([("u.a_q[15:8]", 8, "ff", "cc", "data")])
    part = replace(part, bit=part.bit + 8)
    assert units_of(part, cells_of(part), Granularity.GROUP)[0].parts == ("u.a_q[15:8]",)
