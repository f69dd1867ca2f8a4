# SPDX-License-Identifier: Apache-2.0
"""The STATUS word."""

from __future__ import annotations

from enum import IntFlag


class Status(IntFlag):
    """Bits [15:0] of STATUS; bits [31:16] hold irq_mask."""

    NONE = 0
    RUNNING = 1 << 0
    IRQ = 1 << 1
    BUS_ERROR = 1 << 2
    CMD_ERROR = 1 << 4
    CMD_END = 1 << 5
    WEIGHT_ERROR = 1 << 7
    ADDRESS_ERROR = 1 << 9
    SCALE_ERROR = 1 << 10


ERRORS = Status.BUS_ERROR | Status.CMD_ERROR | Status.WEIGHT_ERROR | Status.ADDRESS_ERROR | Status.SCALE_ERROR


def status_word(bits: int, irq_mask: int) -> int:
    """Return the 32-bit STATUS word."""
    return int(bits) | irq_mask << 16
