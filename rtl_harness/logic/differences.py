# SPDX-License-Identifier: Apache-2.0
"""The fast engine on differences of a state that no upset makes: what a pulse in logic leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.alarms import Rises
from resil.rtl_harness.engine.fast.audit_sample import AuditSize
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Flip
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.fast.native.storage import StoragePlace
from resil.rtl_harness.engine.fast.state_map import StateMap
from resil.rtl_harness.engine.run_limits import RunLimits
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault, Injection, RunEnd


class DifferenceMap(StateMap):
    """The storage of a target, and by fault in logic the bits that it inverts.

    Args:
        target: The target.
        elaboration: Its storage.
        instance: Any instance of the compiled model.
        words: Words that memories have, by path, where these are fewer than were built.
    """

    def __init__(
        self,
        target: Target,
        elaboration: Elaboration,
        instance: ModelInstance,
        words: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(target, elaboration, instance, words)
        size = instance.state.size
        self._whole = StoragePlace("the state", 0, 8 * size, 1, size)
        self._differences: dict[Fault, list[Flip]] = {}

    def let(self, fault: Fault, difference: npt.NDArray[np.void]) -> None:
        """Let a fault stand for bytes of the state, as `native.sweep.BYTE`."""
        self._differences[fault] = [
            Flip(self._whole, 0, 8 * offset + bit)
            for offset, mask in difference[["offset", "mask"]].tolist()
            for bit in range(8)
            if mask >> bit & 1
        ]

    def forget(self) -> None:
        """Let no fault stand for any."""
        self._differences.clear()

    def flips(self, fault: Fault) -> list[Flip]:
        """Return the bits that a fault inverts."""
        known = self._differences.get(fault)
        return super().flips(fault) if known is None else known


class DifferenceEngine(VerilatorEngine):
    """Simulates differences of a state, each named by a fault of a site that is no storage.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Its storage.
        table: All sites, storage first.
        sweep, lanes, audit, limits: As of `VerilatorEngine`.
    """

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        table: SiteTable,
        *,
        sweep: bool | None = None,
        lanes: bool | None = None,
        audit: AuditSize | None = None,
        **limits: Unpack[RunLimits],
    ) -> None:
        super().__init__(target, workload, elaboration, sweep=sweep, lanes=lanes, audit=audit, **limits)
        model = self._model
        self.differences = DifferenceMap(target, elaboration, model.origin, model.memory_words)
        model.map = self.differences
        model.sites = table
        self.elaboration = replace(elaboration, sites=table)

    def classified(self, fault: Fault, end: RunEnd) -> Injection:
        """Return the injection of a fault whose run ended so."""
        return self._singles.classified(fault, end)

    def usual_end(self, alarms: Rises = ()) -> RunEnd:
        """Return how the golden run ended, with further alarms."""
        end = self.golden().end
        return replace(end, alarms=(*end.alarms, *alarms))
