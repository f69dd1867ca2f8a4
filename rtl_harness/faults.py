# SPDX-License-Identifier: Apache-2.0
"""Faults, injections and outcomes: the words that every engine speaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import overload

import numpy as np
import numpy.typing as npt


class Seen(StrEnum):
    """What an observer of the outputs and of the final state sees.

    DUE: nothing, for the run was ended when an alarm reported a detected fault.
    """

    MASKED = "masked"
    LATENT = "latent"
    SDC_TOLERABLE = "sdc_tolerable"
    SDC_CRITICAL = "sdc_critical"
    HANG = "hang"
    DUE = "due"


class Reported(StrEnum):
    """What the design itself reported of the fault while the inference ran."""

    NOTHING = "nothing"
    CORRECTED = "corrected"
    DETECTED = "detected"


class Outcome(StrEnum):
    """The class of an injection, in the order in which reports list them."""

    MASKED = "masked"
    LATENT = "latent"
    SDC_TOLERABLE = "sdc_tolerable"
    SDC_CRITICAL = "sdc_critical"
    DUE = "due"
    HANG = "hang"


class Untestable(StrEnum):
    """Why nothing comes of a permanent fault of logic, known without simulating it.

    By structure, of the design as its bench closes it. UNCONNECTED: nothing takes what the pin drives.
    NO_PATH: nothing that is observed depends on it. CONSTANT: the pin is tied to what it is held at.
    By the run of one input without a fault alone. UNEXCITED: it never has, where the fault acts, another
    value than the fault gives; another input may have it.
    """

    UNCONNECTED = "unconnected"
    NO_PATH = "no_path"
    CONSTANT = "constant"
    UNEXCITED = "unexcited"

    @property
    def is_structural(self) -> bool:
        """Whether it holds for every input."""
        return self is not Untestable.UNEXCITED


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """An upset or a stuck bit; docs/explanation/faults.md defines both.

    An upset is a storage bit, or a cluster of adjacent bits of the same word or of neighbours by a placement,
    inverted once. A stuck bit is held at a value from the release of reset on: after each edge of the clock
    it is set again once the design has settled, and the design settles anew before anything is sampled.

    Attributes:
        site: Index of the bit, or of the lowest bit of the cluster, in the target's `SiteTable`, from 0.
        cycle: Number of the active clock edge after reset was released, from 0. The bits are
            inverted once the design has settled after that edge, and are free from then on. 0 of a stuck
            bit.
        bits: Size of the cluster, whose sites are `SiteTable.cluster`. `SiteTable.room` says how many there
            can be. 1 of a stuck bit.
        held: What the bit is held at, 0 or 1; None for an upset.
    """

    site: int
    cycle: int
    bits: int = 1
    held: int | None = None

    def __post_init__(self) -> None:
        if self.site < 0 or self.cycle < 0 or self.bits < 1:
            raise ValueError(f"a fault needs site >= 0, cycle >= 0 and bits >= 1, found {self}")
        if self.held is not None and (self.held not in (0, 1) or self.cycle or self.bits > 1):
            raise ValueError(f"a stuck bit is one bit, held at 0 or 1 from cycle 0 on, found {self}")


@dataclass(frozen=True, slots=True)
class Rise:
    """The first time that an alarm rose in a run.

    Attributes:
        alarm: Its name.
        kind: What it reports.
        cycle: Number of the active clock edge after reset was released, from 0, as `Fault.cycle`: an alarm
            that is up as soon as the flipped bits have settled has risen in the cycle of the fault.
    """

    alarm: str
    kind: Reported
    cycle: int


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How one simulated inference ended.

    Attributes:
        finished: False if the time-out came first.
        end_cycle: Number of active clock edges from reset to the end (or to the time-out).
        status: The design's status word at the end; 0 where the target has none.
        output: Raw bytes of the output tensors, one after the other.
        state_hash: Digest of every storage element and observed memory at the end; of a run with a stuck bit
            that bit has the value which it has at the end of the golden run, so that it does not count as a
            difference by itself.
        alarms: Alarms that rose at any time, in the order in which they did, then in that of the target. Of a
            run with a fault, at least the first of each kind among those that the golden run does not raise.
        first: How the first of two inferences ended, its alarms alone; None if there is but one, or if the
            time-out came in it.
    """

    finished: bool
    end_cycle: int
    status: int
    output: bytes
    state_hash: str
    alarms: tuple[Rise, ...] = ()
    first: RunEnd | None = None

    @property
    def output_hash(self) -> str:
        """Digest of the output tensors, 16 hexadecimal digits."""
        return digest(self.output)


# Bytes of a corruption that are kept; how many there were is kept in any case.
CORRUPTION_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Corruption:
    """What a fault had done to memory when it was found to have done nothing else.

    Taken at the end of an operation, the first after the fault at which all that can decide the future
    equals the golden run's at the end of the same operation, but for one observed memory. So memory of the
    golden run at that point, with these bytes changed, is all that it takes to finish the inference without
    the RTL:

        image = golden memory after `operation` operations
        for offset, xor in zip(corruption.offsets, corruption.xors): image[offset] ^= xor

    Only engines that leave the RTL between operations record it; no corruption on an injection says nothing
    of its effect.

    Attributes:
        operation: Operations finished when the state was examined.
        memory: Name of the memory in the target.
        offsets: Bytes from the start of the memory that differ, ascending; the first `CORRUPTION_BYTES` of
            them.
        xors: What each is XORed with, as many as `offsets`.
        total: Bytes that differ in all.
    """

    operation: int
    memory: str
    offsets: tuple[int, ...]
    xors: bytes
    total: int

    @property
    def truncated(self) -> int:
        """Bytes that differ and were not kept."""
        return self.total - len(self.offsets)


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault that was simulated, and what came of it.

    Attributes:
        fault: What was injected.
        seen: The first axis: effect on outputs and state.
        end_cycle: As in `RunEnd`.
        status: As in `RunEnd`.
        output_hash: Digest of the output tensors.
        detected: The second axis: the first alarm that reported a detected fault.
        corrected: Likewise the first that reported a corrected fault.
        first: Of two inferences, outcome of the first by itself; None if there is but one.
        second: Likewise of the second; None if the first did not end.
        corruption: Of statistical interest; no part of the outcome, and not compared.
        untestable: Why nothing can come of the fault; None if that is not known, as of engines that simulate
            all faults. It goes with `Seen.MASKED` alone, and is not compared.
    """

    fault: Fault
    seen: Seen
    end_cycle: int
    status: int
    output_hash: str
    detected: Rise | None = None
    corrected: Rise | None = None
    first: Outcome | None = None
    second: Outcome | None = None
    corruption: Corruption | None = field(default=None, compare=False)
    untestable: Untestable | None = field(default=None, compare=False)

    def until_detection(self) -> Injection:
        """Return what a run says that ends in the cycle in which an alarm first reports a detected fault.

        Itself if none does. What comes later is unknown: outputs, status, final state, later corrections.
        """
        if self.detected is None:
            return self
        last = self.detected.cycle
        corrected = self.corrected if self.corrected is not None and self.corrected.cycle <= last else None
        return Injection(self.fault, Seen.DUE, last + 1, 0, "", self.detected, corrected)

    def of(self, fault: Fault, untestable: Untestable | None = None) -> Injection:
        """Return what another fault says of which the same comes, and why nothing comes of it."""
        # Of each fault of a campaign: `dataclasses.replace` takes three times as long.
        return Injection(
            fault,
            self.seen,
            self.end_cycle,
            self.status,
            self.output_hash,
            self.detected,
            self.corrected,
            self.first,
            self.second,
            self.corruption,
            untestable,
        )

    @property
    def reported(self) -> Reported:
        """The most that was reported."""
        if self.detected is not None:
            return Reported.DETECTED
        return Reported.NOTHING if self.corrected is None else Reported.CORRECTED

    def outcome_within(self, limit: int | None) -> Outcome:
        """Both axes in one word; alarms later than `limit` cycles after the fault do not count."""
        rose = NEVER if self.detected is None else self.detected.cycle
        return Outcome.DUE if is_detected(rose, self.fault.cycle, limit) else Outcome(self.seen.value)

    @property
    def outcome(self) -> Outcome:
        """Both axes in one word, however late the alarm came."""
        return self.outcome_within(None)


# Instead of a cycle in which an alarm rose.
NEVER = -1

Array = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@overload
def is_detected(alarm_cycle: int, fault_cycle: int, limit: int | None = None) -> bool: ...


@overload
def is_detected(
    alarm_cycle: Array, fault_cycle: Array, limit: int | None = None
) -> npt.NDArray[np.bool_]: ...


def is_detected(
    alarm_cycle: int | Array, fault_cycle: int | Array, limit: int | None = None
) -> bool | Truths:
    """Return whether a fault counts as detected, so that its outcome is DUE whatever is seen.

    This is the only place that says so. Which alarm rose, and when, is kept with every injection, so that
    stored ones can be judged again under another limit.

    Args:
        alarm_cycle: Cycle in which the first alarm rose that reports a detected fault; `NEVER` if none
            did. A number or an array.
        fault_cycle: Cycle of the fault, likewise.
        limit: Cycles from fault to alarm within which an alarm is in time (the fault-tolerant time); None if
            any is.

    Examples:
        >>> [is_detected(110, 100, limit) for limit in (None, 9, 10)], is_detected(NEVER, 100)
        ([True, False, True], False)
    """
    rose = alarm_cycle != NEVER
    return rose if limit is None else rose & (alarm_cycle - fault_cycle <= limit)


def digest(data: bytes) -> str:
    """Return the 64-bit BLAKE2b digest of `data` as 16 hexadecimal digits."""
    return blake2b(data, digest_size=8).hexdigest()
