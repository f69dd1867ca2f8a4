# SPDX-License-Identifier: Apache-2.0
"""Errors that a user of the statistics can act on."""


class StatsError(Exception):
    """A data file or a figure that the user can put right.

    The message says what was expected, what was found, where, and what to do.
    """
