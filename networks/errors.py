# SPDX-License-Identifier: Apache-2.0
"""Errors that a user of a network can act on."""


class NetworkError(Exception):
    """A network, a tool or a request about networks that the user can put right.

    The message says what was expected, what was found, where, and what to do.
    """
