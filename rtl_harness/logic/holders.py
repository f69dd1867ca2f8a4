# SPDX-License-Identifier: Apache-2.0
"""Sorts of permanent faults at sites in logic: what each is along the gates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.logic.library import HeldPins
from resil.rtl_harness.logic.netlist import LogicNetlist


class Holder(Protocol):
    """Says what a permanent fault is along the gates.

    A fault is a place, which `LogicSites.pin` gives of a site, and one of two values.

    Attributes:
        of_pins: Places are rows of `LogicNetlist.pins`.
    """

    of_pins: ClassVar[bool]

    def held(self, place: int, value: int) -> HeldPins:
        """Return what stands for a fault and for all that come to the same."""

    def along_gates(self, place: int, value: int) -> HeldPins:
        """Return what this very fault is along the gates."""

    def said(self, place: int, value: int) -> str:
        """Return the fault in words."""


HolderOf = Callable[[LogicNetlist, npt.NDArray[np.integer[Any]]], Holder]
"""Makes one of a netlist and of what each flip-flop of its gates holds at the release of reset."""
