# SPDX-License-Identifier: Apache-2.0
"""Undefined values of a netlist: which of them are 0 in a simulator, and which are not."""

from __future__ import annotations

DEFINED = "setundef -zero t:$bmux t:$shiftx %u %n"
"""Yosys command that makes undefined values 0, but for what is selected beyond the end of a word.

These a simulator computes even if it sets undefined values to 0: Verilator wraps the place around and takes
what it finds there.
"""
