# SPDX-License-Identifier: Apache-2.0
"""Errors that a user of the harness can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resil.rtl_harness.faults import Fault


class HarnessError(Exception):
    """Something the user can put right: a file, a tool or a setting.

    The message says what was expected, what was found, where, and what to do.

    Attributes:
        field: The way to what is wrong: a key of the target file (`memories.sink.path`), an argument
            (`workers`), a fault (`fault.cycle`), a path in the design, or what failed (`golden`); "" if it is
            not one thing.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class ToolMissingError(HarnessError):
    """A program that the harness needs (C++ compiler, make, simulator) is not on this machine."""


class UnmappedSiteError(HarnessError):
    """A fault site of the netlist has no counterpart in the simulator."""


class SimulationError(HarnessError):
    """The simulator failed to build, to start or to answer."""


class CocotbTestError(HarnessError):
    """A test of the user's gives no verdict on the design: it breaks, or fails without a fault."""


class AuditError(SimulationError):
    """An early stop was wrong: the engine's answers cannot be trusted.

    Attributes:
        fault: The fault whose run to the end contradicts what was answered; None if a golden run does.
    """

    def __init__(self, message: str, fault: Fault | None, field: str = "") -> None:
        super().__init__(message, field)
        self.fault = fault

    def __reduce__(self) -> tuple[type[AuditError], tuple[str, Fault | None, str]]:
        return AuditError, (str(self), self.fault, self.field)
