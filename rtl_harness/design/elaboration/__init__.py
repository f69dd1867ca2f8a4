# SPDX-License-Identifier: Apache-2.0
"""Elaboration: which storage bits a design has, how the source names them, and to which block they belong."""

from resil.rtl_harness.design.elaboration.blocks import block_of, in_macro
from resil.rtl_harness.design.elaboration.elaborate import elaborate
from resil.rtl_harness.design.elaboration.model import Clocking, Elaboration, Location

__all__ = ["Clocking", "Elaboration", "Location", "block_of", "elaborate", "in_macro"]
