# SPDX-License-Identifier: Apache-2.0
"""What a replay compares, and where the bits of its memories lie: one place for the bench and its images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from resil.rtl_harness.replay.ports import TopPort

# Bits of a word of the recording before all else: the last one, that the first difference is kept, and that
# one beyond tolerance ends the run.
LAST, FIRST, ENDS, FLAGS = 0, 1, 2, 3
# Then, of a design with ports in both directions, that what it drives is noted.
NOTED = FLAGS
# Words of the memory of results: a difference within tolerance, one beyond, and what was compared in all.
WITHIN, BEYOND, COMPARED, RESULTS = 0, 1, 2, 3
COUNT_BITS = 32

SAMPLED = ("before", "at")


@dataclass(frozen=True)
class ComparedOutput:
    """How one output is compared.

    Attributes:
        port: The output.
        tolerance: A difference of so much of its value is tolerable.
        signed: Its value is in two's complement.
    """

    port: TopPort
    tolerance: int = 0
    signed: bool = False


@dataclass(frozen=True)
class Condition:
    """A port of one bit that has to have a level.

    Attributes:
        port: An input or an output.
        high: The level.
    """

    port: TopPort
    high: bool


@dataclass(frozen=True)
class Level:
    """A bit of a port that has to have a level.

    Attributes:
        port: An input or an output.
        bit: Of it.
        high: The level.
    """

    port: TopPort
    bit: int
    high: bool


@dataclass(frozen=True)
class ReadAnswers:
    """Answers to reads among those to all requests, which come in order; see `Reads` of a kind of bus.

    Attributes:
        taken: A request is taken where all of these hold at the clock.
        read: It is a read where these hold as well.
        ended: The oldest request is answered where all of one of these rows hold at the clock.
        good: Its data count where these hold.
        given_up: No request is open where one of these holds.
        latency: Cycles after which data count, then alone; 0 where they count in answers.
    """

    taken: tuple[Level, ...]
    read: tuple[Level, ...]
    ended: tuple[tuple[Level, ...], ...]
    good: tuple[Level, ...]
    given_up: tuple[Level, ...]
    latency: int

    @property
    def ports(self) -> tuple[TopPort, ...]:
        """Whose values say it."""
        rows = (self.taken, self.read, *self.ended, self.good, self.given_up)
        return tuple(level.port for row in rows for level in row)


@dataclass(frozen=True)
class CheckedAnswer:
    """An answer of a part that has to be as recorded where no fault is.

    Attributes:
        port: The input of the top.
        when: Conditions under which it counts.
        reads: It counts in answers to reads alone, and this says which they are.
    """

    port: TopPort
    when: tuple[Condition, ...] = ()
    reads: ReadAnswers | None = None


@dataclass(frozen=True)
class WordStream:
    """Outputs that are compared in the order of words, whenever these come.

    Attributes:
        when: A word is there where all of these hold.
        outputs: What a word consists of.
    """

    when: tuple[Condition, ...]
    outputs: tuple[ComparedOutput, ...]


@dataclass(frozen=True)
class AnsweredBus:
    """A bus of the top that a part of the bench answers, in place of the recording.

    Attributes:
        title: In words.
        prefix: With which its ports begin.
        memory: Name of the part's memory.
        module: Of the part.
        array: Path of its memory below the part.
        word_bytes: Of a word.
        words: How many.
        parameters: Of the part, names and values.
        pins: Of the part, names and what they are connected to.
        answers: Inputs of the top that the recording does not drive then.
        tied: Names of those among them that the part does not have: 0.
        asks: Outputs of the top.
        checks: What has to be as recorded where no fault is, and when it counts.
    """

    title: str
    prefix: str
    memory: str
    module: str
    array: str
    word_bytes: int
    words: int
    parameters: tuple[tuple[str, str], ...]
    pins: tuple[tuple[str, str], ...]
    answers: tuple[TopPort, ...]
    tied: tuple[str, ...]
    asks: tuple[TopPort, ...]
    checks: tuple[CheckedAnswer, ...]

    @property
    def instance(self) -> str:
        """Name of the part in the bench."""
        return f"u_{self.memory}"

    @property
    def plusarg(self) -> str:
        """That fills its memory."""
        return f"resil_{self.memory}"


@dataclass(frozen=True)
class Field:
    """Bits of a word.

    Attributes:
        low: The lowest.
        width: How many.
    """

    low: int
    width: int

    @property
    def text(self) -> str:
        """As a part-select."""
        return f"[{self.low + self.width - 1}:{self.low}]"


@dataclass(frozen=True)
class ReplayLayout:
    """A replay: what drives the top, and what is compared.

    Attributes:
        clocks: Clock inputs; a single one is the clock of the bench, several come from the recording.
        clock_ports: Ports that are clocks, and which; of interfaces also such as are the same as one.
        sampled: "before" or "at" the edges: when the values of a cycle are those of the recording.
        inputs: All other inputs, and ports in both directions.
        outputs: All outputs, and ports in both directions.
        cyclewise: Those that are compared cycle by cycle.
        streams: Those that are compared as words in their order.
        answered: Buses that a part of the bench answers; their answers are no inputs.
    """

    clocks: tuple[str, ...]
    sampled: str
    inputs: tuple[TopPort, ...]
    outputs: tuple[TopPort, ...]
    cyclewise: tuple[ComparedOutput, ...]
    streams: tuple[WordStream, ...]
    answered: tuple[AnsweredBus, ...] = ()
    clock_ports: tuple[tuple[TopPort, int], ...] = ()

    @property
    def answers(self) -> tuple[TopPort, ...]:
        """Inputs that parts of the bench drive."""
        return tuple(port for own in self.answered for port in own.answers)

    @property
    def by_edges(self) -> bool:
        """Whether the clocks are replayed, a step for each edge of any."""
        return len(self.clocks) > 1

    @property
    def falling(self) -> bool:
        """Whether the bench acts at the falling edge of its clock."""
        return self.by_edges or self.sampled == "at"

    @property
    def inouts(self) -> tuple[TopPort, ...]:
        """Ports in both directions."""
        return tuple(port for port in self.inputs if port.drives)

    @property
    def noted_bytes(self) -> int:
        """Of a word of the memory that notes which bits of these the design drives."""
        return _bytes(_width(self.inouts))

    @property
    def clock_bits(self) -> Field:
        """Levels of the clocks."""
        return Field(FLAGS + bool(self.inouts), len(self.clocks) if self.by_edges else 0)

    @property
    def input_bits(self) -> Field:
        """Values of the inputs."""
        own = self.clock_bits
        return Field(own.low + own.width, _width(self.inputs))

    @property
    def value_bits(self) -> Field:
        """What outputs must be."""
        own = self.input_bits
        return Field(own.low + own.width, _width([c.port for c in self.cyclewise]))

    @property
    def mask_bits(self) -> Field:
        """Which bits of them count."""
        own = self.value_bits
        return Field(own.low + own.width, own.width)

    @property
    def word_bytes(self) -> int:
        """Of a word of the recording."""
        return _bytes(self.mask_bits.low + self.mask_bits.width)

    @property
    def flagged(self) -> tuple[ComparedOutput, ...]:
        """All that is compared, in the order of the flags of a result."""
        return (*self.cyclewise, *(own for stream in self.streams for own in stream.outputs))

    @property
    def result_bytes(self) -> int:
        """Of a word of the memory of results."""
        flags = 2 * len(self.flagged)
        found = _width([own.port for own in self.flagged])
        return _bytes(1 + COUNT_BITS + max(flags + found, len(self.streams)))

    def stream_bytes(self, stream: WordStream) -> int:
        """Return the bytes of a word of the memory of a stream: that there is one, value, mask."""
        return _bytes(1 + 2 * _width([own.port for own in stream.outputs]))


def _width(ports: Sequence[TopPort]) -> int:
    return sum(port.width for port in ports)


def _bytes(bits: int) -> int:
    return -(-bits // 8)
