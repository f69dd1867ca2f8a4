# SPDX-License-Identifier: Apache-2.0
"""Waveform files: signals of one instance, and their values at given times."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.errors import HarnessError

Times = npt.NDArray[np.int64]
Bits = npt.NDArray[np.bool_]

_READER = "pywellen"
_SUFFIXES = (".vcd", ".fst", ".ghw")
# Decimal exponents of a second.
_RANGE = re.compile(r"\s*\[[^\]]*:[^\]]*\]\s*$")
_UNITS = {"zs": -21, "as": -18, "fs": -15, "ps": -12, "ns": -9, "us": -6, "ms": -3, "s": 0}


@dataclass(frozen=True)
class Signal:
    """All changes of one signal.

    Attributes:
        name: Path in the waveform.
        times: When it changes, in ticks, ascending; of several at one time the last counts.
        width: In bits.
        packed_values: Its bits from then on, shape (changes, bytes), the least significant first: eight a
            byte, as a recording of a million cycles of wide ports would not fit otherwise.
        packed_known: Which of them are 0 or 1, likewise.
    """

    name: str
    times: Times
    width: int
    packed_values: npt.NDArray[np.uint8]
    packed_known: npt.NDArray[np.uint8]

    @classmethod
    def of_bits(cls, name: str, times: Times, values: Bits, known: Bits) -> Self:
        """Return a signal of bits that take a byte each, both of shape (changes, width)."""
        packed = (np.packbits(own, axis=1, bitorder="little") for own in (values, known))
        return cls(name, times, values.shape[1], *packed)

    @property
    def values(self) -> Bits:
        """Bits of all changes, shape (changes, width), a byte each: for signals that are narrow."""
        return self._unpacked(self.packed_values)

    @property
    def known(self) -> Bits:
        """Which of them are 0 or 1, likewise."""
        return self._unpacked(self.packed_known)

    def _unpacked(self, packed: npt.NDArray[np.uint8]) -> Bits:
        return np.unpackbits(packed, axis=1, bitorder="little")[:, : self.width].astype(bool)

    def at(self, times: Times, *, before: bool) -> npt.NDArray[np.int64]:
        """Return which change holds at each time, or just before it; -1 where none does yet."""
        return np.searchsorted(self.times, times, "left" if before else "right") - 1

    def sampled(self, times: Times, *, before: bool) -> tuple[Bits, Bits]:
        """Return bits and which are known, shape (times, width), at each time or just before it."""
        place = self.at(times, before=before)
        known = self._unpacked(self.packed_known[place]) & (place >= 0)[:, None]
        return self._unpacked(self.packed_values[place]) & known, known

    @cached_property
    def edges(self) -> Times:
        """Times at which the signal, of one bit, rises: becomes 1 after a 0, or after what is unknown."""
        high = self._high
        return self.times[1:][high[1:] & ~high[:-1]]

    @cached_property
    def toggles(self) -> Times:
        """Times at which the signal, of one bit, changes, where what is unknown counts as 0."""
        high = self._high
        return self.times[1:][high[1:] ^ high[:-1]]

    @cached_property
    def _high(self) -> Bits:
        return self.values[:, 0] & self.known[:, 0]


# The process in which the reader's threads may run, in it and in those that are forked from it.
_READERS: list[int] = []


def read_here() -> bool:
    """Return whether this process may have read signals: one forked from it would hang if it read some.

    The reader has threads of its own, which a fork does not take along. Whoever loaded the reader counts,
    as a notebook does that reads waveforms by itself.
    """
    return os.getpid() in _READERS or (not _READERS and _READER in sys.modules)


def _remember() -> None:
    if read_here() and not _READERS:
        _READERS.append(os.getpid())


os.register_at_fork(before=_remember)


def _begin_to_read(file: Path) -> None:
    if _READERS and not read_here():
        raise HarnessError(
            f"{file}: expected a process that has read waveforms itself or none, found one that is forked "
            "from a reader of others, in which reading would hang; start resil as a command of its own",
            "waves.fork",
        )
    _remember()


class Waves:
    """A waveform file.

    Args:
        file: VCD, FST or GHW.

    Raises:
        HarnessError: It is none, or cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        if not file.is_file():
            raise HarnessError(f"{file}: expected a waveform, found no file; correct the path", "waves")
        _begin_to_read(file)
        import pywellen

        try:
            self._waves: Any = pywellen.Waveform(str(file))
        except BaseException as error:  # the reader panics, which is no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            raise HarnessError(
                f"{file}: expected a waveform in one of the formats {', '.join(_SUFFIXES)}, found something "
                f"that the reader cannot read ({str(error)[:200]}); record it again",
                "waves",
            ) from None

    @cached_property
    def tick(self) -> tuple[int, int]:
        """Length of a tick: a factor, and the decimal exponent of a second."""
        scale = self._waves.timescale
        return (1, -9) if scale is None else (int(scale.factor), _UNITS.get(str(scale.unit), -9))

    @cached_property
    def scopes(self) -> dict[str, Any]:
        """All scopes, by their paths."""
        return {str(scope.full_name): scope for scope in self._waves.all_scopes()}

    def below(self, instance: str) -> dict[str, Any]:
        """Return the variables of an instance by name, with those of the structures that are ports.

        Raises:
            HarnessError: The waveform has no such instance.
        """
        scopes = self.scopes
        if instance not in scopes:
            known = [path for path in scopes if path.lower() == instance.lower()]
            if len(known) != 1:
                raise HarnessError(_no_instance(self.file, instance, scopes), "instance")
            instance = known[0]
        return {_bare(str(own.name)): own for own in scopes[instance].vars()}

    def structures(self, instance: str) -> dict[str, list[Any]]:
        """Return the fields of each scope in an instance, in their order, by its name."""
        own = next(scope for path, scope in self.scopes.items() if path.lower() == instance.lower())
        return {str(scope.name): [*scope.all_vars()] for scope in own.scopes()}

    def parts(self, instance: str) -> dict[str, list[Any]]:
        """Return what arrays and interfaces of an instance hold, by `plain_path` of their paths below it.

        Each is a variable, or the fields of a structure that was written field by field.
        """
        path = next(path for path in self.scopes if path.lower() == instance.lower())
        found: dict[str, list[Any]] = {}
        for name, scope in self.scopes.items():
            if name == path or name.startswith(f"{path}."):
                below = name[len(path) + 1 :]
                if below:
                    found.setdefault(plain_path(below), [*scope.all_vars()])
                for variable in scope.vars():
                    full = f"{below}.{variable.name}" if below else str(variable.name)
                    found[plain_path(full)] = [variable]
        return found

    def signal(self, variables: Iterable[Any], width: int) -> Signal:
        """Return a signal: that of a variable, or several side by side, the most significant first.

        Raises:
            HarnessError: They have another width in all, or are no bits.
        """
        parts = [_read(self.file, own) for own in variables]
        found = parts[0] if len(parts) == 1 else _joined(parts)
        if found.width != width:
            raise HarnessError(
                f"{self.file}: {found.name}: expected {width} bits, as the top of the target has, found "
                f"{found.width}; give the parameters that the recording was made with (resil init -G "
                "NAME=VALUE, or [parameters] of the target)",
                f"waves.{found.name}",
            )
        return found

    def constants(self, instance: str, names: Iterable[str]) -> dict[str, tuple[int | float | str, int]]:
        """Return values of parameters that a recording of an instance has, and their widths in bits, by name.

        Bits are a number that is not negative. What changes, or is not known, is no value of a parameter.

        Raises:
            HarnessError: The waveform has no such instance.
        """
        variables = self.below(instance)
        found = {name: _constant(variables[name]) for name in names if name in variables}
        return {name: value for name, value in found.items() if value is not None}

    def ticks(self, text: str) -> int:
        """Return a time such as "1200 ns" in ticks.

        Raises:
            ValueError: It is none.
        """
        number, unit = text.rstrip("abcdefghijklmnopqrstuvwxyz ") or text, text.lstrip("0123456789._ ")
        factor, exponent = self.tick
        return round(float(number) * 10.0 ** (_UNITS[unit] - exponent) / factor)

    def time(self, tick: int) -> str:
        """Return a time in ticks in words."""
        factor, exponent = self.tick
        unit = next((name for name, own in _UNITS.items() if own == exponent), "")
        return f"{int(tick) * factor:,} {unit}" if unit else f"{int(tick) * factor:,} x 1e{exponent} s"


def plain_path(path: str) -> str:
    """Return a path below an instance in one way, whoever wrote it.

    >>> plain_path("data.[1].[0]"), plain_path("Data(1)(0)"), plain_path("\\\\data[1] [7:0]")
    ('data[1][0]', 'data[1][0]', 'data[1]')
    """
    text = _RANGE.sub("", path.replace("\\", "").replace("(", "[").replace(")", "]"))
    return "".join(text.split()).replace(".[", "[").lower()


def _bare(name: str) -> str:
    return name.partition("[")[0].strip() if name.endswith("]") and " [" in name else name.strip()


def _no_instance(file: Path, instance: str, scopes: Mapping[str, Any]) -> str:
    last = instance.rpartition(".")[2].lower()
    near = [path for path in scopes if path.lower().endswith(last)] or [*scopes]
    return (
        f"{file}: instance: expected an instance {instance} in the recording, found none; it has "
        f"{', '.join(near[:8]) or 'no instances'}; correct the path"
    )


def _read(file: Path, variable: Any) -> Signal:  # noqa: ANN401
    name = str(variable.full_name)
    width = variable.bitwidth
    if width is None or bool(variable.is_real) or bool(variable.is_string):
        raise HarnessError(f"{file}: {name}: expected bits, found a value of another kind", f"waves.{name}")
    _begin_to_read(file)
    width, found = int(width), variable.signal
    if not len(found):
        # The reader takes no slice of nothing. What has no value is unknown from the beginning on.
        nothing = np.zeros((1, width), bool)
        return Signal.of_bits(name, np.zeros(1, np.int64), nothing, nothing)
    changes = found[:]
    times = np.fromiter((time for time, _ in changes), np.int64, len(changes))
    raw, marks = bytearray(), bytearray()
    size = -(-width // 8)
    whole = b"\xff" * size
    for _, value in changes:
        if isinstance(value, int):
            raw += value.to_bytes(size, "little")
            marks += whole
        else:
            text = str(value).lower()
            raw += int("".join("1" if c in "1h" else "0" for c in text), 2).to_bytes(size, "little")
            marks += int("".join("1" if c in "01hl" else "0" for c in text), 2).to_bytes(size, "little")
    values, known = (np.frombuffer(own, np.uint8).reshape(-1, size) for own in (raw, marks))
    return Signal(name, times, width, values, known)


def _constant(variable: Any) -> tuple[int | float | str, int] | None:  # noqa: ANN401
    values = {value for _, value in variable.signal[:]} if len(variable.signal) else set()
    if len(values) != 1:
        return None
    value, width = values.pop(), int(variable.bitwidth or 0)
    if bool(variable.is_real):
        return float(value), 0
    if bool(variable.is_string):
        return str(value), 0
    return (value, width) if isinstance(value, int) else None


def _joined(parts: list[Signal]) -> Signal:
    times = np.unique(np.concatenate([own.times for own in parts]))
    bits = [own.sampled(times, before=False) for own in reversed(parts)]
    values, known = (np.concatenate([own[place] for own in bits], axis=1) for place in (0, 1))
    scope = parts[0].name.rpartition(".")[0]
    return Signal.of_bits(scope, times, values, known)
