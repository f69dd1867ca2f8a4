# SPDX-License-Identifier: Apache-2.0
"""Raw upset rates with their units, so that a megabit is never taken for a megabyte.

FIT is failures per 1e9 hours. Sources quote FIT per megabit (10^6 bits), per mebibyte (2^20 bytes) or per
flip-flop; a factor of 8.4 lies between the first two. Each unit is a type of its own; the only way from one
to a number is its `per_bit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from resil.stats.errors import StatsError

BITS_PER_MBIT = 10**6
BITS_PER_MIB = 8 * 2**20


class RawRate(Protocol):
    """An upset rate that knows how many bits it speaks of."""

    @property
    def per_bit(self) -> float:
        """FIT of one bit."""
        ...


@dataclass(frozen=True, slots=True)
class FitPerMbit:
    """Upset rate of 10^6 bits.

    Examples:
        >>> FitPerMbit(20.0).per_bit
        2e-05
    """

    value: float

    @property
    def per_bit(self) -> float:
        """FIT of one bit."""
        return self.value / BITS_PER_MBIT


@dataclass(frozen=True, slots=True)
class FitPerMbyte:
    """Upset rate of 2^20 bytes.

    Examples:
        >>> round(FitPerMbyte(600.0).per_bit * 1e5, 2)
        7.15
    """

    value: float

    @property
    def per_bit(self) -> float:
        """FIT of one bit."""
        return self.value / BITS_PER_MIB


@dataclass(frozen=True, slots=True)
class FitPerFlipFlop:
    """Upset rate of one flip-flop, that is of one bit."""

    value: float

    @property
    def per_bit(self) -> float:
        """FIT of one bit."""
        return self.value


@dataclass(frozen=True, slots=True)
class FitPerPin:
    """Rate of permanent faults of one pin of a cell."""

    value: float

    @property
    def per_bit(self) -> float:
        """FIT of one pin, which is one fault site as a bit is."""
        return self.value


@dataclass(frozen=True, slots=True)
class FitPerPair:
    """Rate of bridges of one pair of nets."""

    value: float

    @property
    def per_bit(self) -> float:
        """FIT of one pair."""
        return self.value


_Unit = type[FitPerMbit] | type[FitPerMbyte] | type[FitPerFlipFlop] | type[FitPerPin] | type[FitPerPair]
_UNITS: dict[str, _Unit] = {
    "FIT/Mbit": FitPerMbit,
    "FIT/MiB": FitPerMbyte,
    "FIT/flip-flop": FitPerFlipFlop,
    "FIT/pin": FitPerPin,
    "FIT/pair": FitPerPair,
}


def raw_rate(value: float, unit: str) -> RawRate:
    """Return `value` typed by the name of its unit, as `FIT/Mbit`, `FIT/MiB`, `FIT/flip-flop` or `FIT/pin`.

    Raises:
        StatsError: another unit (`FIT/MB` and `FIT/Mb` look alike and are refused), or a rate that is
            negative.

    Examples:
        >>> raw_rate(600.0, "FIT/MiB") == FitPerMbyte(600.0)
        True
    """
    if unit not in _UNITS:
        raise StatsError(
            f"a raw rate has one of the units {', '.join(_UNITS)}, found {unit!r}: convert it", "unit"
        )
    if not 0.0 <= value < float("inf"):
        raise StatsError(f"a raw rate is finite and >= 0, found {value} {unit}: correct it", "value")
    return _UNITS[unit](value)
