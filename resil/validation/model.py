# SPDX-License-Identifier: Apache-2.0
"""The small design of the validation, written down a second time in plain Python: the truth of its faults.

It shares nothing with any engine: no RTL is read, no netlist, no simulator. What it says of a fault follows
from `tally/tally.sv` as a person reads it and from the rules of faults (docs/explanation/faults.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from resil.rtl_harness.faults import digest

SOURCE = (
    0x9101,
    0x0307,
    0x2A02,
    0x8003,
    0x0077,
    0x6401,
    0xFF1F,
    0x10F0,
    0x410C,
    0x0012,
    0xC8C9,
    0x0900,
    0x4D05,
    0x8805,
    0xA0F0,
    0x2133,
)
TIMEOUT_FACTOR = 2
_IDLE, _GAIN, _LOAD, _SUM, _FLUSH, _DONE = range(6)
_MOST = 1500
_WIDTHS = {"state_q": 3, "step_q": 3, "round_q": 1, "error_q": 1, "gain_q": 2, "sum_q": 12, "buffer_q": 17}


@dataclass(frozen=True)
class ModelAnswer:
    """What becomes of a run.

    Attributes:
        seen: As `resil.rtl_harness.faults.Seen` names it; "masked" of the run without a fault.
        end_cycle: Clock edges until it ended, or until the time-out.
        status: The status word then.
        output_hash: Digest of the output.
        detected: Cycle in which the alarm rose that reports a detection; -1 if it did not.
        corrected: Likewise of the alarm that reports a correction.
    """

    seen: str
    end_cycle: int
    status: int
    output_hash: str
    detected: int
    corrected: int


@dataclass
class _Machine:
    """All storage of the design and of its output memory."""

    state_q: int = _IDLE
    step_q: int = 0
    round_q: int = 0
    error_q: int = 0
    gain_q: list[int] = field(default_factory=lambda: [0] * 4)
    sum_q: list[int] = field(default_factory=lambda: [0] * 4)
    buffer_q: list[int] = field(default_factory=lambda: [0] * 64)
    sink: list[int] = field(default_factory=lambda: [0] * 4)

    @property
    def is_high(self) -> bool:
        return self.state_q in (_SUM, _FLUSH) and self.sum_q[self.step_q % 4] > _MOST

    @property
    def status(self) -> int:
        return self.error_q << 3 | self.state_q

    @property
    def output(self) -> bytes:
        return b"".join(word.to_bytes(2, "little") for word in self.sink)

    def edge(self) -> None:
        """Take an active edge of the clock; everything reads what was there before it."""
        state, step, lane = self.state_q, self.step_q, self.step_q % 4
        address = self.round_q << 3 | step
        place = self.gain_q[0] << 4 | address
        word = self.buffer_q[place]
        kept = _MOST if self.is_high else self.sum_q[lane]
        self.step_q = (step + 1) % 8
        if state == _IDLE:
            self.state_q, self.step_q = _GAIN, 0
        elif state == _GAIN:
            self.gain_q[lane] = SOURCE[address] % 4
            if step == 3:
                self.state_q, self.step_q = _LOAD, 0
        elif state == _LOAD:
            data = SOURCE[address]
            self.buffer_q[place] = data.bit_count() % 2 << 16 | data
            if step == 7:
                self.state_q = _SUM
        elif state == _SUM:
            gain = self.gain_q[lane]
            value = (word >> 8 ^ word) & 255
            more = value * (gain & 1) + (value >> 1) * (gain >> 1)
            self.sum_q[lane] = (kept + more) % 4096
            self.error_q |= word.bit_count() % 2
            if step == 7:
                self.state_q = _FLUSH if self.round_q else _LOAD
                self.round_q ^= 1
        elif state == _FLUSH:
            self.sink[lane] = kept
            if step == 3:
                self.state_q = _DONE
        else:
            self.step_q = step

    def flip(self, register: str, word: int, bit: int) -> None:
        """Invert a bit; `word` is 0 of what is no array."""
        now = getattr(self, register)
        if isinstance(now, list):
            now[word] ^= 1 << bit
        else:
            setattr(self, register, now ^ 1 << bit)


def bits() -> Iterator[tuple[str, int, int]]:
    """Yield register, word and bit of all storage of the design."""
    for register, width in _WIDTHS.items():
        words = getattr(_Machine(), register)
        for word in range(len(words) if isinstance(words, list) else 1):
            yield from ((register, word, bit) for bit in range(width))


def golden() -> ModelAnswer:
    """Return the run without a fault."""
    machine, answer = _run(None, 0, 1 << 20)
    assert machine.state_q == _DONE
    return answer


class RestartModel:
    """Answers for faults by running the model from reset to the end."""

    def __init__(self) -> None:
        self._machine, self.golden = _run(None, 0, 1 << 20)

    def answer(self, register: str, word: int, bit: int, cycle: int) -> ModelAnswer:
        """Return what becomes of a bit that is inverted once, after the edge of this cycle has settled."""
        limit = TIMEOUT_FACTOR * self.golden.end_cycle
        machine, found = _run((register, word, bit), cycle, limit)
        if machine.state_q != _DONE:
            seen = "hang"
        elif machine.output != self._machine.output:
            same = _largest(machine.sink) == _largest(self._machine.sink)
            seen = "sdc_tolerable" if same else "sdc_critical"
        else:
            seen = "masked" if machine == self._machine else "latent"
        return ModelAnswer(seen, *(getattr(found, name) for name in list(ModelAnswer.__annotations__)[1:]))


def _largest(values: list[int]) -> int:
    return values.index(max(values))


def _run(struck: tuple[str, int, int] | None, when: int, limit: int) -> tuple[_Machine, ModelAnswer]:
    machine, detected, corrected, cycle = _Machine(), -1, -1, 0
    for cycle in range(limit):
        machine.edge()
        if struck is not None and cycle == when:
            machine.flip(*struck)
        if machine.error_q and detected < 0:
            detected = cycle
        if machine.is_high and corrected < 0:
            corrected = cycle
        if machine.state_q == _DONE:
            break
    end = ModelAnswer("masked", cycle + 1, machine.status, digest(machine.output), detected, corrected)
    return machine, end
