# SPDX-License-Identifier: Apache-2.0
"""Facts of a target that no run has been made on, for a model that is to know it all the same."""

from __future__ import annotations

from resil.bench.site_list import block_name
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import load_target
from resil.sensitivity.model import Accelerator
from resil.sensitivity.observations import bits_of_elements


def facts_of_target(name: str) -> Accelerator:
    """Elaborate and synthesise a shipped target; slow the first time.

    Raises:
        HarnessError: there is no such target, or it cannot be elaborated.
        ToolMissingError: pyosys is not installed.
    """
    target = load_target(name)
    elaboration = with_hardware(target, elaborate(target))
    area = area_per_block(target, elaboration, None)
    sites = elaboration.sites
    elements = [(e.path, str(e.kind), block_name(e.block), e.register_class) for e in sites.elements]
    kept = {
        element.path: [(first - sites.offsets[index], bits) for first, bits, _ in sites.pieces(index)]
        for index, element in enumerate(sites.elements)
    }
    blocks = {
        block_name(block): (own.logic + own.sram, own.sram, area.unit) for block, own in area.blocks.items()
    }
    return Accelerator(target.top, bits_of_elements(elements, kept), blocks, rtl_digest(target))
