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
    """Something the user can put right. The message says what, where, and what to do."""


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
    """


class Interrupted(BaseException):
    """The user (or the system) asked the command to stop.

    Attributes:
        advice: What is kept and how to go on; "" if nothing was begun.
    """

    def __init__(self, advice: str = "") -> None:
        super().__init__(advice)
        self.advice = advice
