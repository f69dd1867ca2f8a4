# SPDX-License-Identifier: Apache-2.0
"""Upsets of neighbours on the die: every one of a small design, against what arithmetic says of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.sites import Absent, Hardware, SiteTable, StorageElement
from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory
from resil.rtl_harness.engine.contract import check_fault, describe_fault
from resil.rtl_harness.engine.cxxrtl.engine import CxxrtlEngine
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen

TARGET = Target(
    name="placed",
    top="placed",
    sources=(Path(__file__).parent / "placed.sv",),
    clock="clk_i",
    reset="rst_ni",
    dut="u_core",
    done="done_o",
    blocks={"core": ("u_core",)},
    memories={"output": TargetMemory("out_q", 2, "output")},
    alarms={"parity": TargetAlarm("parity_error_o")},
)
WORKLOAD = Workload("words", {}, OutputSpec("output", 0, (1,), "uint16"), decide=exact)
CYCLES = 9
STRUCK = ("u_core.a_q", "u_core.b_q", "u_core.c_q")


@pytest.fixture(scope="module")
def elaboration():
    """Rows of the die: bits of the three words take turns, c next to b next to a."""
    found = elaborate(TARGET)
    table = found.sites
    first = {e.path: table.offsets[i] for i, e in enumerate(table.elements)}
    order = [first[path] + bit for bit in range(5) for path in STRUCK if bit < 4 or path != STRUCK[2]]
    near = {}
    for place, site in enumerate(order):
        others = sorted((p for p in range(len(order)) if p != place), key=lambda p: (abs(p - place), p))
        near[site] = tuple(order[p] for p in others[:2])
    return replace(found, sites=replace(table, neighbours=near))


def truth(table, fault):
    """What is seen and whether the parity is wrong after any edge, by arithmetic on the flipped bits."""
    hit = [table[site] for site in (fault.site, *table.neighbours[fault.site][: fault.bits - 1])]
    # The load of b at the edge of cycle 4 wins over what was flipped before it.
    masks = {path: sum(1 << own.bit for own in hit if own.element.path == path) for path in STRUCK}
    alarm = any(mask.bit_count() % 2 for path, mask in masks.items() if path != STRUCK[2])
    if fault.cycle < 4:
        masks[STRUCK[1]] = 0
    if fault.cycle == CYCLES - 1:
        # The output is written by the very edge after which the bits flip.
        return Seen.LATENT, alarm
    data = masks[STRUCK[0]] & 15 or masks[STRUCK[1]] & 15 or masks[STRUCK[2]]
    left = any(masks.values())
    return (Seen.SDC_CRITICAL if data else Seen.LATENT if left else Seen.MASKED), alarm


@pytest.mark.parametrize("made", [CocotbEngine, PlainEngine, CxxrtlEngine, VerilatorEngine])
def test_every_upset_of_neighbours_is_what_arithmetic_says(elaboration, made):
    table = elaboration.sites
    faults = [
        Fault(site, cycle, bits) for site in table.neighbours for cycle in range(CYCLES) for bits in (1, 2, 3)
    ]
    options = {"audit": EVERYTHING} if made is VerilatorEngine else {}
    with made(TARGET, WORKLOAD, elaboration, **options) as engine:
        assert engine.golden().cycles == CYCLES
        found = {own.fault: own for own in engine.run(faults)}
    for fault in faults:
        wanted = truth(table, fault)
        assert (found[fault].seen, found[fault].detected is not None) == wanted, fault
    # Parity sees none of the pairs that lie in one word; here no two neighbours do.
    pairs = [own for own in found.values() if own.fault.bits == 2]
    assert all(own.detected for own in pairs)


def test_an_upset_has_the_site_and_its_neighbours():
    elements = [StorageElement("a", "ff", 3), StorageElement("b", "ff", 2)]
    copy = Absent(2, 1, Hardware.DUPLICATE, same_as=3)
    table = replace(SiteTable.of(elements, [copy]), neighbours={0: (3, 1), 3: (0,)})
    assert [*table.cluster(0, 1)] == [0]
    assert [*table.cluster(0, 3)] == [0, 3, 1]
    # The flip-flop of b[0] serves for a[2] as well.
    assert table.flipped(0, 2) == [0, 3, 2]
    assert (table.room(0), table.room(3), table.room(1)) == (3, 2, 1)
    assert "a[0] and with it b[0], a[1]" in describe_fault(Fault(0, 0, 3), table, "run")


def test_more_bits_than_neighbours_are_refused(elaboration):
    with pytest.raises(HarnessError, match="there are 3 of 4 bits"):
        check_fault(Fault(next(iter(elaboration.sites.neighbours)), 0, 4), elaboration, CYCLES)
