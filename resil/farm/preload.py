# SPDX-License-Identifier: Apache-2.0
"""Loaded by workers that are started here: they end with the process that started them, not by Ctrl-C."""

import signal


def dask_setup(_worker: object) -> None:
    """Leave interrupts to the process that started this one, which then ends its workers in order."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
