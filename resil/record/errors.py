# SPDX-License-Identifier: Apache-2.0
"""The one error of this package."""


class ReportError(Exception):
    """A report cannot be made from what was given, or cannot be written where it was asked for.

    The message names the file and the field, what was expected, what was found, and what to do.
    """
