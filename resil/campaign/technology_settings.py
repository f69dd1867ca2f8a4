# SPDX-License-Identifier: Apache-2.0
"""The table `[technology]`: an entry of the technology data, and raw rates of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resil.campaign.section import Section

# Of a storage bit, from hardened cells to the SRAM of old nodes; what lies outside has another unit.
_PLAUSIBLE_FIT_PER_BIT = (1e-9, 1e-2)
BY = ("site", "area", "weights")
LOGIC_FACTORS = ("clock_mhz", "pulse_ps", "window_ps", "survival")


@dataclass(frozen=True)
class TechnologySettings:
    """Entry of the technology data, and figures of the user's own in its place.

    Attributes:
        name: Name of the entry.
        flip_flop_fit: FIT of one flip-flop, or None.
        sram_fit_per_mbit: FIT of 10^6 SRAM bits, or None.
        flip_flop_range: Lowest and highest of the first, or None.
        sram_range: Lowest and highest of the second, or None.
        permanent_flip_flop_fit: FIT of permanent faults of one flip-flop, or None.
        permanent_sram_fit_per_mbit: FIT of permanent faults of 10^6 SRAM bits, or None.
        logic_fit: FIT of pulses at the output of one cell, not derated, or None.
        logic_range: Lowest and highest of it, or None.
        logic_factors: What derates it, by name: `clock_mhz`, `pulse_ps`, `window_ps`, `survival`.
        permanent_logic_fit: FIT of permanent faults of one pin of a cell, or None.
        permanent_bridge_fit: FIT of bridges of a pair of nets of weight 1, or None.
        logic_by: What faults in logic come by, one of `BY`: each site alike, or areas or weights of cells.
        logic_weights: File of weights of cells by type, or None.
    """

    name: str
    flip_flop_fit: float | None = None
    sram_fit_per_mbit: float | None = None
    flip_flop_range: tuple[float, float] | None = None
    sram_range: tuple[float, float] | None = None
    permanent_flip_flop_fit: float | None = None
    permanent_sram_fit_per_mbit: float | None = None
    logic_fit: float | None = None
    logic_range: tuple[float, float] | None = None
    logic_factors: Mapping[str, float] = field(default_factory=dict)
    permanent_logic_fit: float | None = None
    permanent_bridge_fit: float | None = None
    logic_by: str = BY[0]
    logic_weights: Path | None = None


def read_technology(section: Section) -> TechnologySettings:
    """Check the table; CampaignError if a key is wrong, or a rate is in another unit."""
    name = section.text("name")
    flip_flop, ff_range = _raw_rate(section, "flip_flop_fit", "flip_flop_range", 1.0)
    sram, sram_range = _raw_rate(section, "sram_fit_per_mbit", "sram_range", 1e6)
    permanent_ff, _ = _raw_rate(section, "permanent_flip_flop_fit", "", 1.0)
    permanent_sram, _ = _raw_rate(section, "permanent_sram_fit_per_mbit", "", 1e6)
    logic, logic_range = _raw_rate(section, "logic_fit", "logic_range", 1.0)
    factors = {key: section.number(key) for key in LOGIC_FACTORS if section.has(key)}
    permanent_pin, _ = _raw_rate(section, "permanent_logic_fit", "", 1.0)
    bridge, _ = _raw_rate(section, "permanent_bridge_fit", "", 1.0)
    by = section.choice("logic_by")
    weights = None
    if section.has("logic_weights"):
        weights = section.path("logic_weights", "weights of cells, a .csv with type and weight")
    if (weights is not None) != (by == BY[2]) and section.sound("logic_by"):
        expected = f'logic_by = "{BY[2]}" and logic_weights together'
        section.wrong("logic_weights", expected, "one of both", "give both, or none")
    section.finish()
    rates = (flip_flop, sram, ff_range, sram_range, permanent_ff, permanent_sram)
    return TechnologySettings(name, *rates, logic, logic_range, factors, permanent_pin, bridge, by, weights)


def _raw_rate(
    section: Section, key: str, ends: str, bits: float
) -> tuple[float | None, tuple[float, float] | None]:
    """Take the raw rate of some bits and its range; a rate that no storage has was given in another unit."""
    low, high = (limit * bits for limit in _PLAUSIBLE_FIT_PER_BIT)
    unit = "FIT of one flip-flop" if bits == 1.0 else "FIT of 10^6 bits"
    expected = f"{unit}, from {low:g} to {high:g}"
    remedy = "convert it: 1 FIT/MB is 0.119 FIT of 10^6 bits, or 1.19e-7 FIT of one bit"

    def checked(name: str, value: float) -> float:
        if not low <= value <= high:
            raise section.fail(name, expected, f"{value:g}", remedy)
        return value

    if not section.has(key):
        if ends and section.has(ends):
            raise section.fail(ends, f"{key} with it", "nothing", f"add {key}, or remove {ends}")
        return None, None
    value = checked(key, section.number(key))
    if not ends or not section.has(ends):
        return value, None
    lowest, highest = (checked(ends, end) for end in section.numbers(ends, 2))
    if not lowest <= value <= highest:
        raise section.fail(
            ends, f"a range that holds {key} = {value:g}", f"{lowest:g} to {highest:g}", "correct one"
        )
    return value, (lowest, highest)
