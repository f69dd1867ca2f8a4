# SPDX-License-Identifier: Apache-2.0
"""Estimates by the fields of documents: of blocks, kinds of storage, register classes and parts of these."""

from __future__ import annotations

from collections.abc import Mapping

from resil.bench.site_list import STORAGE
from resil.record.blocks import KINDS, LATENT, Rates
from resil.record.interval import RecordedInterval
from resil.stats import intervals as stats
from resil.stats.rates import OUTCOMES, BlockEstimate

_FIGURES = ("avf", "avf_lo", "avf_hi", "fit_raw", "fit", "fit_lo", "fit_hi")
# Of a block that the campaign says nothing about: its risk is not known, which is not zero.
_UNTOUCHED: dict[str, object] = {
    **dict.fromkeys(("injections", *OUTCOMES), 0),
    **dict.fromkeys((*_FIGURES, *LATENT, "rates")),
}


def shown(interval: stats.Interval) -> RecordedInterval:
    """Return an interval as documents hold it."""
    return RecordedInterval(interval.estimate, interval.lo, interval.hi)


def figures(estimate: BlockEstimate) -> dict[str, object]:
    """Return what was found of some storage, by the fields of `record.blocks.Figures`."""
    return {
        "injections": estimate.injections,
        **{outcome: int(estimate.counts[outcome]) for outcome in OUTCOMES},
        **_named("avf", estimate.avf),
        "fit_raw": estimate.fit_raw,
        **_named("fit", estimate.fit),
    }


def rated_figures(estimate: BlockEstimate) -> dict[str, object]:
    """Return `figures` and the rate of each outcome, by the fields of `record.blocks.Rated`."""
    latent = estimate.rates["latent"]
    return {
        **figures(estimate),
        **dict(zip(LATENT, (latent.estimate, latent.lo, latent.hi), strict=True)),
        "rates": Rates.model_validate({outcome: shown(own) for outcome, own in estimate.rates.items()}),
    }


def _named(name: str, interval: stats.Interval) -> dict[str, object]:
    return {name: interval.estimate, f"{name}_lo": interval.lo, f"{name}_hi": interval.hi}


def block_fields(
    name: str,
    stored: Mapping[str, int],
    estimate: BlockEstimate | None,
    area: float,
    sram_area: float,
    unit: str,
) -> dict[str, object]:
    """Return what is said of a block, or of the total, by the fields of `record.blocks.Block`.

    Args:
        name: Of the block.
        stored: As of `stored_bits`.
        estimate: None if the campaign says nothing of the block; all its figures are then None.
        area: Of logic and memories together.
        sram_area: Of memories.
        unit: Of the areas.
    """
    found = _UNTOUCHED if estimate is None else rated_figures(estimate)
    own = {"block": name, "area": float(area), "sram_area": float(sram_area), "area_unit": unit}
    return {**own, **stored, **found}


def stored_bits(bits: Mapping[str, int], source: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return bits by the fields of `record.blocks.StoredBits`.

    Args:
        bits: That are hardware, or lie outside it, by kind.
        source: Of the source code, those included that are no hardware; None if there are no others.
    """
    source = bits if source is None else source
    found = {f"{kind}_bits": bits[kind] for kind in STORAGE}
    return found | {f"{kind}_bits_source": source[kind] for kind in KINDS}
