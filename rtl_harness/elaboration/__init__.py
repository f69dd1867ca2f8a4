"""Elaboration: which storage bits a design has, how the source names them, and to which block they belong."""

from rtl_harness.elaboration.blocks import block_of, in_macro
from rtl_harness.elaboration.elaborate import elaborate
from rtl_harness.elaboration.model import Clocking, Elaboration, Location

__all__ = ["Clocking", "Elaboration", "Location", "block_of", "elaborate", "in_macro"]
