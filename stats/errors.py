# SPDX-License-Identifier: Apache-2.0
"""Errors of the statistics: what a user can act on, and arguments that no caller should give."""

from __future__ import annotations


class StatsError(Exception):
    """A data file or a figure that the user can put right.

    The message says what was expected, what was found, where, and what to do.

    Attributes:
        field: What is wrong: a key of a data file ("unit", "status", one that is missing or unknown), the
            "kind" of storage, the "name" of a technology, or the "file" itself.
    """

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field

    def __reduce__(self) -> tuple[type[StatsError], tuple[str, str]]:
        return type(self), (str(self), self.field)


class ArgumentError(ValueError):
    """An argument of a function that it cannot be called with.

    Attributes:
        field: The argument, or what all of several have to agree in ("shape").
    """

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field

    def __reduce__(self) -> tuple[type[ArgumentError], tuple[str, str]]:
        return type(self), (str(self), self.field)
