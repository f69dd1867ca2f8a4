# SPDX-License-Identifier: Apache-2.0
"""What a finished run that a campaign's `[safety]` names says for its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from resil.record.blocks import LOGIC
from resil.stats.evidence import Evidence
from resil.stats.safety import LatentPins

NO_PERMANENT = "No stuck-at campaign was given ([safety] permanent)."
NO_LOGIC = "transients in logic ([safety] logic names no run of them)"
NO_PERMANENT_LOGIC = "permanent faults of logic ([safety] permanent_logic names no run of them)"
BASE_RATES = "base rates of permanent faults"


@dataclass(frozen=True)
class NamedRun:
    """What a campaign of other faults on the same target says.

    Attributes:
        evidence: Of all that it injected into.
        mechanisms: Of storage and cells that belong to safety mechanisms; None if none was named.
        origin: Which campaign, in words.
        not_injected: What of the target's storage it left out, in words; "" if nothing.
        rates: By name of a variation, the factors of the raw rates by kind of storage.
        remark: What is to be said of its golden output, and of cells that have no sites, in sentences.
        same_inputs: Whether it ran the same inputs as the campaign that names it, by content.
        without: Which faults of the same sort are in no run that was named, in words; "" if none is missing.
        derating: Of pulses in logic, the part that timing and attenuation leave; 1 of all other faults.
        pins: What pairs of faults say of the gates of mechanisms; None if no answer of them is named.
        gates: Alarms of mechanisms of which gates were injected into, not flip-flops alone.
        named: Alarms of all mechanisms whose storage is named.
        uncounted: Paths of mechanisms at or below which nothing was struck, neither storage nor a cell.
    """

    evidence: Evidence
    mechanisms: Evidence | None
    origin: str
    not_injected: str = ""
    rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    remark: str = ""
    same_inputs: bool = True
    without: str = ""
    derating: float = 1.0
    pins: LatentPins | None = None
    gates: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    uncounted: frozenset[str] = frozenset()

    @property
    def unknown_mechanisms(self) -> str:
        """Why nothing is known of latent faults of some mechanisms, in a sentence; "" if all are known."""
        if not self.uncounted:
            return ""
        said = (
            f"No fault at or below {', '.join(sorted(self.uncounted))} is in the runs, so nothing is known "
            "of latent faults there."
        )
        asked = "Name a run of stuck pins ([safety] permanent_logic)." if self.without else ""
        return f"{said} {asked}".rstrip()

    @property
    def beyond_gates(self) -> str:
        """Of which mechanisms no gate is in what is known of mechanisms, to be put behind a sentence."""
        bare = sorted(self.named - self.gates)
        if self.without or not bare:
            return "; faults in their logic are not in it" if self.without else ""
        return f"; no gate lies below the storage of {', '.join(bare)}: faults in its logic are not in it"

    def varied(self, factors: Mapping[str, float]) -> NamedRun:
        """Return the same with the raw rates of kinds of storage multiplied."""
        mechanisms = None if self.mechanisms is None else self.mechanisms.scaled(factors)
        pins = self.pins and replace(self.pins, fit_raw=self.pins.fit_raw * factors.get(LOGIC, 1.0))
        return replace(self, evidence=self.evidence.scaled(factors), mechanisms=mechanisms, pins=pins)

    def joined(self, logic: NamedRun) -> NamedRun:
        """Return permanent faults of storage, which these are, with those of logic.

        Raises:
            ArgumentError: one is for inputs like those that were run, and the other has not run these.
        """
        own, other = self.mechanisms, logic.mechanisms
        both = own.joined(other) if own is not None and other is not None else own or other
        return NamedRun(
            self.evidence.joined(logic.evidence),
            both,
            f"{self.origin}; {logic.origin}",
            self.not_injected,
            _corners(self.rates, logic.rates),
            " ".join(dict.fromkeys(text for text in (self.remark, logic.remark) if text)),
            self.same_inputs and logic.same_inputs,
            pins=logic.pins,
            gates=self.gates | logic.gates,
            named=self.named | logic.named,
            # What is neither in the one run nor in the other.
            uncounted=self.uncounted & logic.uncounted,
        )


@dataclass(frozen=True)
class NamedRuns:
    """What is known besides the campaign's own injections; a text says why something is not.

    Attributes:
        permanent: Permanent faults, of storage and, if a run of them is named, of logic.
        logic: Pulses in logic; "" if no run of them is named.
    """

    permanent: NamedRun | str = NO_PERMANENT
    logic: NamedRun | str = ""

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why runs that were named cannot be used."""
        found = (self.permanent, self.logic)
        return tuple(own for own in found if isinstance(own, str) and own not in ("", NO_PERMANENT))


def _corners(
    storage: Mapping[str, Mapping[str, float]], logic: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Return every end of one with every end of the other: SPFM goes by their ratio."""
    if not storage or not logic:
        return {title: dict(own) for title, own in {**storage, **logic}.items()}
    return {
        f"{one} and {other.removeprefix(BASE_RATES).strip()}": {**factors, **more}
        for (one, factors), (other, more) in product(storage.items(), logic.items())
    }
