# SPDX-License-Identifier: Apache-2.0
"""Rates of transients in logic: raw, and with what masks a pulse besides the logic itself."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from resil.stats.errors import StatsError
from resil.stats.technology import STATUSES, RateEntry, Technology, TechnologyFigure

LOGIC = "logic"
SHARE, RATE = "logic_of_flip_flop", "logic_set"
FACTORS = ("pulse_ps", "window_ps", "survival", "clock_mhz")


@dataclass(frozen=True, slots=True)
class LogicRates:
    """Rates of pulses at the outputs of the cells of a technology; a `RawRates` of the kind `logic`.

    `fit_per_bit` is derated: what strikes, times the part that is latched, times the part that is not
    attenuated. What the simulation finds of a pulse that lasts a whole cycle is logical masking alone.

    Attributes:
        name: Of the technology.
        node: For people.
        figures: `RATE` in FIT of one cell, and `FACTORS`, by quantity.
    """

    name: str
    node: str
    figures: Mapping[str, TechnologyFigure]

    @property
    def entries(self) -> Sequence[RateEntry]:
        """All figures."""
        return tuple(self.figures[name] for name in (RATE, *FACTORS))

    def fit_per_bit(self, kind: str) -> float:
        """Return the derated rate of one cell in FIT; StatsError for another kind than logic."""
        self._require(kind)
        return self.raw * self.derating

    @property
    def raw(self) -> float:
        """The rate at which pulses begin at one cell, in FIT, as if each lasted the whole cycle."""
        return self.figures[RATE].value

    @property
    def raw_range(self) -> tuple[float, float]:
        """Lowest and highest of that rate, in FIT."""
        return _end(self.figures[RATE], "low"), _end(self.figures[RATE], "high")

    @property
    def derating(self) -> float:
        """The part of pulses that timing and attenuation leave."""
        return self._derating("value")

    def range_of(self, kind: str) -> tuple[float, float]:
        """Return the lowest and highest derated rate of one cell in FIT, every figure at its end."""
        self._require(kind)
        low, high = (_end(self.figures[RATE], end) for end in ("low", "high"))
        return low * self._derating("low"), high * self._derating("high")

    def status_of(self, kind: str) -> str:
        """Return the weakest status among the figures."""
        self._require(kind)
        return max((own.status for own in self.figures.values()), key=STATUSES.index)

    def with_overrides(
        self,
        logic_fit: float | None = None,
        logic_range: tuple[float, float] | None = None,
        factors: Mapping[str, float] | None = None,
        source: str = "given by the user",
    ) -> LogicRates:
        """Return the rates with figures of the user's own, which have no range but `logic_range`.

        Args:
            logic_fit: FIT of one cell, not derated; None keeps the figure.
            logic_range: Its lowest and highest.
            factors: By name, of `FACTORS`.
            source: Where they come from.

        Raises:
            StatsError: A figure is not positive and finite, or a survival is above 1.
        """
        figures = dict(self.figures)
        given = dict(factors or {})
        if logic_fit is not None:
            ends = logic_range or (logic_fit, logic_fit)
            figures[RATE] = TechnologyFigure(RATE, logic_fit, "FIT/cell", "assumed", source, *ends)
        for name, value in given.items():
            figures[name] = replace(figures[name], value=value, low=value, high=value, source=source)
        for name, own in figures.items():
            if not (math.isfinite(own.value) and own.value > 0.0):
                raise StatsError(f"{name} needs to be positive, found {own.value:g}", name)
        if figures["survival"].value > 1.0:
            raise StatsError(f"survival is a part of pulses, found {figures['survival'].value:g}", "survival")
        return replace(self, figures=figures)

    def _derating(self, end: str) -> float:
        pulse, window, survival, clock = (_end(self.figures[name], end) for name in FACTORS)
        period = 1e6 / clock
        return survival * min(1.0, (pulse + window) / period)

    @staticmethod
    def _require(kind: str) -> None:
        if kind != LOGIC:
            raise StatsError(f"rates of transients in logic are of kind {LOGIC}, found {kind!r}", "kind")


def _end(figure: TechnologyFigure, end: str) -> float:
    found = getattr(figure, end)
    return figure.value if found is None else float(found)


def recorded_logic(name: str, node: str, entries: Sequence[RateEntry]) -> LogicRates:
    """Return the rates of logic that a run was made with, from the figures that it recorded.

    Raises:
        StatsError: A figure is missing, or they are of other faults.
    """
    figures = {
        own.quantity: TechnologyFigure(
            own.quantity, own.value, own.unit, own.status, own.source, own.low, own.high
        )
        for own in entries
    }
    if missing := [quantity for quantity in (RATE, *FACTORS) if quantity not in figures]:
        raise StatsError(f"rates of transients in logic need {', '.join(missing)}: run it again", missing[0])
    return LogicRates(name, node, figures)


def load_logic(technology: Technology) -> LogicRates:
    """Return the rates of logic in a technology, from the data file of the package.

    Raises:
        StatsError: The technology has no rate of flip-flops, of which a part is taken.

    Examples:
        >>> from resil.stats.technology import load_technology
        >>> rates = load_logic(load_technology("finfet-16nm"))
        >>> round(rates.derating, 3)
        0.02
        >>> low, high = rates.range_of("logic")
        >>> low < rates.fit_per_bit("logic") < high
        True
    """
    text = (files("resil.stats") / "data" / "logic.toml").read_text(encoding="utf-8")
    own = {
        entry["quantity"]: TechnologyFigure(
            entry["quantity"],
            float(entry["value"]),
            entry["unit"],
            entry["status"],
            entry["source"],
            float(entry["low"]),
            float(entry["high"]),
        )
        for entry in tomllib.loads(text)["entry"]
    }
    share = own.pop(SHARE)
    flip_flop, (low, high) = technology.fit_per_bit("ff"), technology.range_of("ff")
    rate = TechnologyFigure(
        RATE,
        share.value * flip_flop,
        "FIT/cell",
        "assumed",
        f"{share.value:g} of a flip-flop's rate ({share.low:g} to {share.high:g}; {share.source})",
        _end(share, "low") * low,
        _end(share, "high") * high,
    )
    return LogicRates(technology.name, technology.node, {RATE: rate, **own})
