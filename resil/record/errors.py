# SPDX-License-Identifier: Apache-2.0
"""The one error of this package."""

from __future__ import annotations


class ReportError(Exception):
    """A report cannot be made from what was given, or cannot be written where it was asked for.

    The message names the file and the field, what was expected, what was found, and what to do.

    Attributes:
        field: The way from the document's root to what is wrong, such as `blocks[2].fit_lo`; "" if it is not
            one field of a document.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field

    def __reduce__(self) -> tuple[type[ReportError], tuple[str, str]]:
        return type(self), (str(self), self.field)
