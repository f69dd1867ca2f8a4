# SPDX-License-Identifier: Apache-2.0
"""The ways in which the fuzzer damages a command stream, its memory and the bus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from resil.rtl_harness.npu.model.commands import Opcode, Register, Words, parse
from resil.rtl_harness.npu.workload import FLASH_BASE, SRAM_BASE
from testkit.npu.fuzz.cases import Case
from testkit.npu.fuzz.operations import CONSTANTS, RAM

FENCE = 64
NO_BURST = 0xFFFF_FFFF


@dataclass(frozen=True)
class BusFaults:
    """What the bench's `bus_faults` does on one port, in the order of its five words.

    Attributes:
        seed: Of the pseudo-random numbers.
        stalls: Probability of AR, R, AW, W and B to stall in a cycle, in 1/64.
        read_errors: Probability of a read beat to be in error, in 1/65536.
        write_errors: Probability of a write to be in error, in 1/65536.
        read_burst: Number of the burst that is in error.
        write: Number of the write that is in error.
    """

    seed: int = 0
    stalls: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    read_errors: int = 0
    write_errors: int = 0
    read_burst: int = NO_BURST
    write: int = NO_BURST

    @property
    def words(self) -> tuple[int, ...]:
        """The five words."""
        stalls = sum(probability << 6 * i for i, probability in enumerate(self.stalls))
        errors = self.read_errors | self.write_errors << 16
        return (self.seed, stalls, errors, self.read_burst, self.write)

    @property
    def errs(self) -> bool:
        """Error responses are possible."""
        return bool(self.read_errors or self.write_errors) or min(self.read_burst, self.write) != NO_BURST


@dataclass(frozen=True, eq=False)
class Trial:
    """One run of the fuzzer: what lies where, and how the bus behaves.

    Attributes:
        kind: The damage.
        case: What was damaged; its stream and memory contents are the damaged ones.
        bases: What the NPU is told for the byte addresses of regions 0 and 1.
        sizes: Bytes of regions 0 and 1 as the NPU is told.
        stream_offset: Added to the address of the command stream.
        sram_faults: On the read/write port.
        flash_faults: On the read-only port.
    """

    kind: str
    case: Case
    bases: dict[int, int]
    sizes: dict[int, int]
    stream_offset: int = 0
    sram_faults: BusFaults = field(default_factory=BusFaults)
    flash_faults: BusFaults = field(default_factory=BusFaults)

    @property
    def starts(self) -> dict[int, int]:
        """Byte address of regions 0 and 1: bits [3:0] are not implemented."""
        return {region: base & 0xFFFF_FFF0 for region, base in self.bases.items()}

    @property
    def stalls(self) -> bool:
        """The bus stalls."""
        return any(self.sram_faults.stalls) or any(self.flash_faults.stalls)

    @property
    def bus_errs(self) -> bool:
        """The bus is told to answer with errors."""
        return self.sram_faults.errs or self.flash_faults.errs

    def without_stalls(self) -> Trial:
        """Return the same run on a bus that never stalls nor errs."""
        return replace(self, sram_faults=BusFaults(), flash_faults=BusFaults())


Random = np.random.Generator
Damage = Callable[[Trial, Case, Random], Trial]


def sound(case: Case) -> Trial:
    """Return the trial without any damage."""
    sizes = {CONSTANTS: len(case.constants), RAM: len(case.ram)}
    return Trial("none", case, {CONSTANTS: FLASH_BASE, RAM: SRAM_BASE + FENCE}, sizes)


def damaged(kind: str, case: Case, other: Case, rng: Random) -> Trial:
    """Damage `case` in the way `kind` of `DAMAGES`; `other` is what streams are spliced with."""
    return replace(DAMAGES[kind](sound(case), other, rng), kind=kind)


def _with_commands(trial: Trial, words: Words) -> Trial:
    return replace(trial, case=replace(trial.case, commands=words.astype(np.uint32)))


def _with_constants(trial: Trial, constants: bytes) -> Trial:
    return replace(trial, case=replace(trial.case, constants=constants))


def _none(trial: Trial, other: Case, rng: Random) -> Trial:
    return trial


def _truncated(trial: Trial, other: Case, rng: Random) -> Trial:
    words = trial.case.commands
    return _with_commands(trial, words[: int(rng.integers(0, len(words)))])


def _random_words(trial: Trial, other: Case, rng: Random) -> Trial:
    """Random words, or random parameters of commands that exist."""
    count = int(rng.integers(1, 200))
    words = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    if rng.random() < 0.8:
        codes = np.array([*Register, *Opcode], np.uint32)[rng.integers(0, len(Register) + len(Opcode), count)]
        narrow = np.where(rng.random(count) < 0.7, rng.integers(0, 20, count), words >> 16).astype(np.uint32)
        high = np.where(codes & 0x4000, 0, narrow)
        words = np.column_stack([codes | high << 16, narrow]).ravel()[: 2 * count]
        keep = np.column_stack([np.ones(count, bool), (codes & 0x4000) != 0]).ravel()
        words = words[keep]
    return _with_commands(trial, words)


def _flipped(trial: Trial, other: Case, rng: Random) -> Trial:
    words = trial.case.commands.copy()
    for _ in range(int(rng.choice([1, 1, 2, 4, 8]))):
        words[rng.integers(0, len(words))] ^= np.uint32(1 << int(rng.integers(0, 32)))
    return _with_commands(trial, words)


def _edge_values(trial: Trial, other: Case, rng: Random) -> Trial:
    """Some SET commands get values at an edge of their range."""
    words = trial.case.commands.copy()
    commands = list(parse(words))
    for index in rng.integers(0, len(commands), int(rng.integers(1, 4))):
        found = commands[index]
        if found.end - found.word == 2:
            old = found.payload
            new = [0, 16, old ^ 1, old + 16, old + 1, 0x7FFF_FFFF, 0xFFFF_FFF0, 0xFFFF_FFFF]
            words[found.word + 1] = np.uint32(new[int(rng.integers(0, len(new)))] & 0xFFFF_FFFF)
        elif isinstance(found.target, Register):
            old = found.parameter
            new = [0, 1, old + 1, old - 1, 2 * old, 15, 31, 127, 128, 0x7FFF, 0x8000, 0xFFFF]
            parameter = new[int(rng.integers(0, len(new)))] & 0xFFFF
            words[found.word] = np.uint32(int(words[found.word]) & 0xFFFF | parameter << 16)
    return _with_commands(trial, words)


def _far_values(trial: Trial, other: Case, rng: Random) -> Trial:
    """Offsets, lengths, strides and factors use all bits of their payloads; what must be aligned stays so."""
    words = trial.case.commands.copy()
    share = float(rng.choice([0.1, 0.5, 1.0]))
    for found in parse(words):
        if found.end - found.word == 2 and rng.random() < share:
            words[found.word + 1] ^= np.uint32(int(rng.integers(0, 1 << 28)) << 4)
    return _with_commands(trial, words)


def _spliced(trial: Trial, other: Case, rng: Random) -> Trial:
    """A beginning of one stream and an end of another, or a part of it twice or not at all."""
    words = trial.case.commands
    first, second = _boundary(words, rng), _boundary(other.commands, rng)
    match int(rng.integers(0, 3)):
        case 0:
            return _with_commands(trial, np.concatenate([words[:first], other.commands[second:]]))
        case 1:
            again = _boundary(words, rng)
            return _with_commands(trial, np.concatenate([words[:first], words[again:]]))
        case _:
            anywhere = int(rng.integers(0, len(words)))
            return _with_commands(trial, np.concatenate([words[:anywhere], words[anywhere + 1 :]]))


def _boundary(words: Words, rng: Random) -> int:
    starts = [found.word for found in parse(words)]
    return starts[int(rng.integers(0, len(starts)))]


def _short_streams(trial: Trial, other: Case, rng: Random) -> Trial:
    """Weights or scales end early: their lengths are too small."""
    words = trial.case.commands.copy()
    for found in parse(words):
        if found.target in (Register.WEIGHT_LENGTH, Register.SCALE_LENGTH) and rng.random() < 0.7:
            step = 16 if found.target == Register.WEIGHT_LENGTH else 1
            words[found.word + 1] = step * int(rng.integers(1, found.payload // step + 1))
    return _with_commands(trial, words)


def _random_constants(trial: Trial, other: Case, rng: Random) -> Trial:
    size = len(trial.case.constants)
    at = int(rng.integers(0, size)) * int(rng.integers(0, 2))
    fill = rng.integers(0, 256, size - at, dtype=np.uint8).tobytes()
    return _with_constants(trial, trial.case.constants[:at] + fill)


def _flipped_constants(trial: Trial, other: Case, rng: Random) -> Trial:
    constants = np.frombuffer(trial.case.constants, np.uint8).copy()
    for _ in range(int(rng.choice([1, 2, 8, 64]))):
        constants[rng.integers(0, len(constants))] ^= np.uint8(1 << int(rng.integers(0, 8)))
    return _with_constants(trial, constants.tobytes())


def _shrunk(trial: Trial, other: Case, rng: Random) -> Trial:
    sizes = dict(trial.sizes)
    for region in (CONSTANTS, RAM):
        if rng.random() < 0.6:
            sizes[region] = int(rng.integers(0, sizes[region] + 1))
    return replace(trial, sizes=sizes)


def _wrong_base(trial: Trial, other: Case, rng: Random) -> Trial:
    bases = dict(trial.bases)
    region = int(rng.integers(0, 3))
    if region == 2:
        offset = int(rng.choice([4, 8, 16, -8, -64, 1, 1 << 20, 1 << 31]))
        return replace(trial, stream_offset=offset)
    near = int(rng.integers(-256, 256))
    bases[region] = int(
        rng.choice([
            bases[region] + near, bases[region] + 16 * near, int(rng.integers(0, 1 << 32)),
            0, 0xFFFF_FF00, SRAM_BASE, FLASH_BASE, SRAM_BASE + (1 << 14) - 200,
        ])
    ) & 0xFFFF_FFFF  # fmt: skip
    return replace(trial, bases=bases)


def _stalled(trial: Trial, other: Case, rng: Random) -> Trial:
    def stalling() -> BusFaults:
        worst = int(rng.choice([8, 32, 48]))
        ar, r, aw, w, b = (int(rng.integers(0, worst + 1)) for _ in range(5))
        return BusFaults(int(rng.integers(0, 1 << 32)), (ar, r, aw, w, b))

    return replace(trial, sram_faults=stalling(), flash_faults=stalling())


def _stalled_and_damaged(trial: Trial, other: Case, rng: Random) -> Trial:
    kind = str(rng.choice(_STREAM_DAMAGES))
    return _stalled(DAMAGES[kind](trial, other, rng), other, rng)


def _bus_errors(trial: Trial, other: Case, rng: Random) -> Trial:
    def failing() -> BusFaults:
        seed = int(rng.integers(0, 1 << 32))
        match int(rng.integers(0, 4)):
            case 0:
                return BusFaults(seed)
            case 1:
                return BusFaults(seed, read_burst=int(rng.integers(0, 200)), write=int(rng.integers(0, 100)))
            case 2:
                rate = int(rng.choice([50, 500, 5000, 65535]))
                return BusFaults(seed, read_errors=rate, write_errors=rate)
            case _:
                return BusFaults(seed, (16, 16, 16, 16, 16), read_errors=100, write_errors=100)

    return replace(trial, sram_faults=failing(), flash_faults=failing())


DAMAGES: dict[str, Damage] = {
    "none": _none,
    "commands truncated": _truncated,
    "commands random": _random_words,
    "commands bit-flipped": _flipped,
    "commands edge values": _edge_values,
    "commands far values": _far_values,
    "commands spliced": _spliced,
    "streams truncated": _short_streams,
    "streams random": _random_constants,
    "streams bit-flipped": _flipped_constants,
    "regions shrunk": _shrunk,
    "bases wrong": _wrong_base,
    "bus stalls": _stalled,
    "bus stalls, damage": _stalled_and_damaged,
    "bus errors": _bus_errors,
}
_STREAM_DAMAGES = [name for name in DAMAGES if name.startswith(("commands", "streams", "regions"))]
