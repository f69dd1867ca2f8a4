# SPDX-License-Identifier: Apache-2.0
"""Redundancy built into a design: which registers, by which mechanism, as RTL, with its proofs."""

from resil.rtl_harness.redundancy.build import build_protection
from resil.rtl_harness.redundancy.built import BuiltRtl
from resil.rtl_harness.redundancy.groups import Mechanism, ProtectionGroup
from resil.rtl_harness.redundancy.watchdog import Watchdog

__all__ = ["BuiltRtl", "Mechanism", "ProtectionGroup", "Watchdog", "build_protection"]
