# SPDX-License-Identifier: Apache-2.0
"""What options do to rates: of flip-flops and memories one by one, and of mechanisms of the whole NPU."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from resil.protection.options import ProtectionOption
from resil.protection.risks import (
    DETECTED,
    HANG,
    HANG_DETECTED,
    HARMFUL,
    HARMFUL_DETECTED,
    OUTCOME_KINDS,
    Network,
)

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Effect:
    """What an option makes of a kind of storage, at the weak ends of its ranges.

    Attributes:
        residual: Share of the hazardous rate that remains, with that of the storage that the option adds:
            what is added is as dangerous as what it guards, and guarded as well.
        raw: Share of the upset rate that remains at the strong end: the denominator of SPFM at its least.
            Storage that is added does not enlarge it.
        due_of_raw: Detected failures that it makes, as a share of the upset rate: every upset is detected,
            whether it would have done harm or not, and those of the storage that is added too.
        due_kept: Share of the detected failures that were there before and remain.
        by_size: `residual` of upsets of 1, 2, ... bits, where a code misses some of the declared clusters; ()
            if it is one for all. `residual` is then their mean, an upset of two bits taken as twice as
            dangerous as one of one bit, and so on.
        unaided: `residual` where nobody reacts to alarms: what is detected and not corrected stays.
    """

    residual: float = 1.0
    raw: float = 1.0
    due_of_raw: float = 0.0
    due_kept: float = 1.0
    by_size: tuple[float, ...] = ()
    unaided: float = 1.0

    @staticmethod
    def of(
        option: ProtectionOption,
        kind: str,
        hazardous: Collection[str],
        clusters: Sequence[float] = (1.0,),
        *,
        permanent: bool = False,
    ) -> Effect:
        """Return the effect of an option.

        Args:
            option: The option.
            kind: Of the storage.
            hazardous: Outcomes that count as failures.
            clusters: Part of the upsets that flip 1, 2, ... bits.
            permanent: On bits that are stuck. Cells that upset less get stuck as often.
        """
        return _effect(option, kind, tuple(hazardous), tuple(clusters), permanent)

    def left_of(self, size: int) -> float:
        """Return the residual share of upsets of so many bits."""
        return self.by_size[min(size, len(self.by_size)) - 1] if self.by_size else self.residual


@lru_cache(maxsize=4096)
def _effect(
    option: ProtectionOption,
    kind: str,
    hazardous: tuple[str, ...],
    clusters: tuple[float, ...],
    permanent: bool,
) -> Effect:
    if kind not in option.protects or (permanent and not option.permanent):
        return Effect()
    if permanent:
        option = replace(option, raw_factor=1.0, raw_factor_low=None, raw_factor_high=None)
    weak = option.raw_share_at(kind, weak=True)
    grown = 1.0 + option.added_bits
    residual = option.worst_residual_share(kind, hazardous) * grown
    raw = option.raw_share_at(kind, weak=False)
    sizes = range(1, len(clusters) + 1)
    by_size = tuple(weak * grown if option.misses(size) else residual for size in sizes)
    danger = [size * share for size, share in zip(sizes, clusters, strict=True)]
    alone = [r if option.corrects(size) else weak * grown for size, r in zip(sizes, by_size, strict=True)]
    unaided = float(np.dot(danger, alone)) / sum(danger)
    if any(option.misses(size) for size in sizes):
        residual = float(np.dot(danger, by_size)) / sum(danger)
    else:
        by_size = ()
    if option.turns_into == "due":
        return Effect(residual, raw, weak * grown, 0.0, by_size, unaided)
    reported = sum(share for size, share in zip(sizes, clusters, strict=True) if option.only_reports(size))
    return Effect(residual, raw, reported * weak * grown, weak, by_size, unaided)


def harmful() -> FloatArray:
    """Return the share of each outcome that does harm where nobody reacts to alarms."""
    share = np.zeros(OUTCOME_KINDS)
    share[[HARMFUL, HANG, HARMFUL_DETECTED, HANG_DETECTED]] = 1.0
    return share


def undetected() -> FloatArray:
    """Return the share of each outcome that counts as hazardous in a campaign: no alarm reported it."""
    share = np.zeros(OUTCOME_KINDS)
    share[[HARMFUL, HANG]] = 1.0
    return share


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """Mechanisms of the whole NPU, which change what the outcome of an upset counts as.

    Attributes:
        watchdog: Turns hangs into detected failures, where it detects them in time; None for none.
        error_flag: The error status is declared as a mechanism, so what it reports in time is detected;
            None if it is not, and such an outcome counts by what it does.
        limit: Of the watchdog, in cycles.
    """

    watchdog: ProtectionOption | None = None
    error_flag: ProtectionOption | None = None
    limit: int = 0

    @property
    def options(self) -> tuple[ProtectionOption, ...]:
        """Those that there are."""
        return tuple(option for option in (self.watchdog, self.error_flag) if option is not None)

    def watches(self, network: Network) -> bool:
        """Whether there is a watchdog that detects the hangs of a network before they count as such."""
        return self.watchdog is not None and network.pace is not None and network.pace.detects(self.limit)

    def hazardous(self, network: Network) -> FloatArray:
        """Return the share of each outcome that stays hazardous on a network, shape (`OUTCOME_KINDS`,)."""
        share = np.zeros(OUTCOME_KINDS)
        missed = 1.0
        if self.watchdog is not None and self.watches(network):
            missed = self.watchdog.worst_residual_share("ff", network.hazardous)
        share[[HARMFUL, HANG]] = 1.0, missed
        if self.error_flag is None:
            share[[HARMFUL_DETECTED, HANG_DETECTED]] = 1.0, missed
        return share

    def detected(self, network: Network) -> FloatArray:
        """Return the share of each outcome that is a detected failure at most, shape (`OUTCOME_KINDS`,)."""
        share = np.zeros(OUTCOME_KINDS)
        if self.watches(network):
            share[[HANG, HANG_DETECTED]] = 1.0
        if self.error_flag is not None:
            share[[HARMFUL_DETECTED, HANG_DETECTED, DETECTED]] = 1.0
        return share
