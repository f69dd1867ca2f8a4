# SPDX-License-Identifier: Apache-2.0
"""Upsets of memories behind a code that is not in the RTL: what the target file says that it does.

It corrects one wrong bit of a word and detects two, as a word is read. Nothing is credited beyond that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from types import TracebackType
from typing import Any, Self

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.engine.contract import Audited, CampaignEngine, Engine, GoldenRun
from resil.rtl_harness.faults import Fault, Injection, Outcome, Reported, Rise, Seen

CORRECTS, DETECTS = "ecc_corrected", "ecc_detected"
"""Alarms of the code, as targets name theirs."""


class Credit(Enum):
    """What a code does about an upset. NOTHING: it may be miscorrected, or it also hits other storage."""

    NOTHING = 0
    CORRECTED = 1
    DETECTED = 2


def credit(fault: Fault, elaboration: Elaboration) -> Credit:
    """Return what the codes of a target do about a fault.

    All bits that it inverts must lie in memories with a code. With one in each word they are corrected; with
    two in some word, and no more in any, detected. A stuck bit gets no credit.
    """
    if fault.held is not None:
        return Credit.NOTHING
    sites = elaboration.sites
    words: Counter[tuple[str, int]] = Counter()
    for own in sites.flipped(fault.site, fault.bits):
        site = sites[own]
        if site.element.path not in elaboration.coded:
            return Credit.NOTHING
        words[site.element.path, site.word] += 1
    most = max(words.values())
    return {1: Credit.CORRECTED, 2: Credit.DETECTED}.get(most, Credit.NOTHING)


def coded_text(elaboration: Elaboration) -> str:
    """Return the assumption that a target's codes are; "" if it names none."""
    own = [element for element in elaboration.sites.elements if element.path in elaboration.coded]
    if not own:
        return ""
    named = ", ".join(f"{element.path} ({element.depth:,} words of {element.width} bits)" for element in own)
    return (
        f"{named}: the target file says that a code guards each word (sram_ecc), which is not in the RTL and "
        "was not simulated. Its memories have the raw rate of SRAM. Credited is that one wrong bit of a word "
        "is corrected, and two are detected, each time that the word is read and before it is used; that a "
        "corrected word is written back, or read again and again, before another upset hits it; and that "
        "a detection leads to the reaction above. Nothing is credited to an upset of three bits or more of "
        "one word, to one that also hits other storage, or to permanent faults: these are simulated as if "
        "there were no code (a code may add a wrong bit to such a word, which is not simulated). "
        "Upsets of the code's own bits and faults of its logic are not in these figures. "
        "Whoever simulates injections again, as resil audit does, takes the code for granted likewise."
    )


class CodedEngine:
    """An engine whose target has codes that are not in its RTL."""

    def __init__(self, engine: CampaignEngine, elaboration: Elaboration, *, until_detection: bool) -> None:
        """Wrap an engine.

        Args:
            engine: It simulates what no code corrects.
            elaboration: Of its target.
            until_detection: Runs end where something is detected.
        """
        self._engine = engine
        self._elaboration = elaboration
        self._until_detection = until_detection
        self.name = engine.name
        self.notes = engine.notes

    @property
    def audits(self) -> Mapping[str, Audited]:
        """See `CampaignEngine`."""
        return self._engine.audits

    def golden(self) -> GoldenRun:
        """See `Engine`."""
        return self._engine.golden()

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """See `Engine`."""
        self._engine.expect(faults, first._engine if isinstance(first, CodedEngine) else first)

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """See `Engine`."""
        credits = {fault: self._credit(fault) for fault in faults}
        left = [fault for fault in faults if credits[fault] is not Credit.CORRECTED]
        yield from (self._corrected(fault) for fault in faults if credits[fault] is Credit.CORRECTED)
        if left:
            yield from (self._judged(own, credits[own.fault]) for own in self._engine.run(left, workers))

    def replay(self, fault: Fault, *waves: Any) -> Injection:  # noqa: ANN401
        """See `RecordingEngine`: a waveform is one without the code."""
        found, own = self._engine.replay(fault, *waves), self._credit(fault)
        return self._corrected(fault) if own is Credit.CORRECTED else self._judged(found, own)

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """See `CampaignEngine`: what a code decided is not audited."""
        own = [i for i in injections if self._credit(i.fault) is Credit.NOTHING]
        self._engine.audit_kept(own, workers)

    def _credit(self, fault: Fault) -> Credit:
        return credit(fault, self._elaboration)

    def _corrected(self, fault: Fault) -> Injection:
        end = self._engine.golden().end
        rise = Rise(CORRECTS, Reported.CORRECTED, fault.cycle)
        each = None if end.first is None else Outcome.MASKED
        own = Injection(fault, Seen.MASKED, end.end_cycle, end.status, end.output_hash, corrected=rise)
        return replace(own, first=each, second=each)

    def _judged(self, found: Injection, credit_: Credit) -> Injection:
        if credit_ is not Credit.DETECTED:
            return found
        rise = Rise(DETECTS, Reported.DETECTED, found.fault.cycle)
        own = replace(found, detected=rise, first=found.first and Outcome.DUE)
        return own.until_detection() if self._until_detection else own

    def __enter__(self) -> Self:
        """See `CampaignEngine`."""
        self._engine.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """See `CampaignEngine`."""
        self._engine.__exit__(kind, error, trace)
