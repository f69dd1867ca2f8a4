# SPDX-License-Identifier: Apache-2.0
"""Errors of the application, and the exit codes that scripts rely on."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every `resil` command; part of the public interface."""

    MET = 0
    MISSED = 1
    USAGE = 2
    INCONCLUSIVE = 3
    INTERNAL = 4
    INTERRUPTED = 130


class ResilError(Exception):
    """Something the user can put right. The message says what, where, and what to do.

    Attributes:
        field: The way to what is wrong: a key of a file (`faults.injections`, `safety.mechanism[1].alarm`),
            an option (`--waves`) or part of what it gives (`--verify-network.weights`), a file of a folder
            (`injections/`) or its state (`unfinished`); "" if it is not one thing, and the first of several.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class CampaignError(ResilError):
    """A campaign file that does not say what a campaign needs, or says it wrongly."""


class StoreError(ResilError):
    """A run folder that cannot be used as asked."""


class NothingMeasuredError(StoreError):
    """A run whose watched output could have shown no failure: nothing may rest on it.

    The command ends with `ExitCode.INCONCLUSIVE`.
    """


class ConsistencyError(Exception):
    """Two results that must be equal are not: a fault of resil or of an engine, never of the user.

    The command ends with `ExitCode.INTERNAL`.

    Attributes:
        field: What is not equal: an injection (`injections[2]`), a block, or what was checked; "" if it is
            not one thing.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Interrupted(BaseException):
    """The user (or the system) asked the command to stop.

    Attributes:
        advice: What is kept and how to go on; "" if nothing was begun.
    """

    def __init__(self, advice: str = "") -> None:
        super().__init__(advice)
        self.advice = advice
