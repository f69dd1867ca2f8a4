# SPDX-License-Identifier: Apache-2.0
"""What engines of faults in logic have in common: the golden run and the netlist beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.errors import AuditError, HarnessError
from resil.rtl_harness.faults import Fault, Injection
from resil.rtl_harness.logic.netlist import LogicNetlist
from resil.rtl_harness.logic.sites import LogicSites

# Answers of an earlier session that are found once more.
AUDITED = 12


class NetlistEngine(ABC):
    """An engine of faults at pins of cells, beside the fast engine of the same target and workload.

    Args:
        engine: Of the target and workload; it is closed with this one.
        netlist: Its cells.
        sites: Which pins are sites.
        what: The faults in words, for messages.
        way: What audits call them.

    Attributes:
        notes: For people.

    Raises:
        HarnessError: If the workload makes several inferences.
    """

    name = "verilator"

    def __init__(
        self, engine: VerilatorEngine, netlist: LogicNetlist, sites: LogicSites, what: str, way: str
    ) -> None:
        inferences = engine.workload.inferences
        if inferences > 1:
            engine.close()
            raise HarnessError(
                f"{engine.target.name} running {engine.workload.name}: expected one inference with {what}, "
                f"found {inferences}; ask for one",
                "inferences",
            )
        self._fast = engine
        self._netlist = netlist
        self._sites = sites
        self._what = what
        self._way = way
        self.notes = engine.notes

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the model's instances, and what was made of the netlist."""
        self._fast.close()

    def golden(self) -> GoldenRun:
        """Simulate without a fault; see `VerilatorEngine.golden`."""
        return self._fast.golden()

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault by itself.

        Raises:
            HarnessError: If a waveform is asked for, and as `run`.
        """
        if waves is not None:
            raise HarnessError(
                f"no waveform {waves}: {self._what} are no events of the RTL that could be drawn", "waves"
            )
        return self._alone(fault)

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """Audit what another session answered.

        Raises:
            AuditError: If an answer is wrong.
        """
        kept = {injection.fault: injection for injection in injections}
        ordered = sorted(kept, key=lambda fault: (fault.cycle, fault.site))
        for found in self._again(ordered[:: max(1, len(ordered) // AUDITED)], workers):
            earlier = kept[found.fault]
            if found != earlier:
                raise AuditError(
                    f"{self._describe(found.fault)}: an earlier session says {earlier.outcome}, found once "
                    f"more it is {found.outcome}",
                    found.fault,
                    self._way,
                )

    @abstractmethod
    def _alone(self, fault: Fault) -> Injection:
        """Return what comes of one fault, by the longest way."""

    @abstractmethod
    def _again(self, faults: Sequence[Fault], workers: int) -> Iterator[Injection]:
        """Yield what comes of faults that an earlier session has answered."""

    def _is_site(self, fault: Fault) -> bool:
        return self._sites.first <= fault.site < self._sites.table.size

    def _unlike(self, fault: Fault) -> HarnessError:
        """Return the error of a fault that is none of the engine's."""
        return HarnessError(
            f"{fault}: expected one of {self._what} at the sites {self._sites.first} .. "
            f"{self._sites.table.size - 1} in logic, found another fault",
            "fault.site",
        )

    def _describe(self, fault: Fault) -> str:
        if fault.site < self._sites.first:
            return self._fast.model.describe(fault)
        pin = self._netlist.pin_name(self._sites.pin(fault.site))
        held = f"cycle {fault.cycle}" if fault.held is None else f"held at {fault.held}"
        return f"{self._way} at {pin}, {held}, workload {self._fast.workload.name}"
