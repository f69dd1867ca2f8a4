"""Redundancy built into a design: which registers, by which mechanism, as RTL, with its proofs."""

from rtl_harness.redundancy.build import build_protection
from rtl_harness.redundancy.built import Built
from rtl_harness.redundancy.groups import Group, Mechanism
from rtl_harness.redundancy.watchdog import Watchdog

__all__ = ["Built", "Group", "Mechanism", "Watchdog", "build_protection"]
