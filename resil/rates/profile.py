# SPDX-License-Identifier: Apache-2.0
"""`resil rates`: a mission profile into raw rates, ready to be pasted into a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from resil.errors import CampaignError
from resil.record.typed import Share, Typed, failure_text, wrong
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.toml_file import read_toml
from resil.stats.environment import NEW_YORK_CUTOFF_GV, arrhenius, cutoff_of, relative_flux
from resil.stats.errors import StatsError
from resil.stats.permanent import load_permanent
from resil.stats.technology import Technology, TechnologyFigure, load_technology
from resil.stats.units import raw_rate

_NEUTRON = ("sram_neutron",)
_REMEDY = "correct the profile; docs/how-to/assessor.md has one"


class Phase(Typed):
    """A part of the mission in which the target is in use."""

    name: str
    """For people."""
    hours: Annotated[float, Field(gt=0.0)]
    """Of operation in the whole mission."""
    altitude_m: float
    """Above sea level."""
    cutoff_gv: Annotated[float, Field(ge=0.0, le=20.0)] | None = None
    """Vertical geomagnetic cutoff rigidity; the place in New York has 2.08."""
    geomagnetic_latitude_deg: Annotated[float, Field(ge=-90.0, le=90.0)] | None = None
    """In its place, for a dipole's cutoff."""
    temperature_c: float | None = None
    """Of the silicon, where permanent faults are rated."""

    @property
    def cutoff(self) -> float:
        """Cutoff in GV."""
        if self.cutoff_gv is not None:
            return self.cutoff_gv
        assert self.geomagnetic_latitude_deg is not None
        return cutoff_of(self.geomagnetic_latitude_deg)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.cutoff_gv is None) == (self.geomagnetic_latitude_deg is None):
            wrong("cutoff_gv", "cutoff_gv or geomagnetic_latitude_deg, one of both", self.cutoff_gv)
        return self


class Wear(Typed):
    """How permanent faults depend on temperature, as a source of the user's says."""

    activation_ev: Annotated[float, Field(gt=0.0, le=3.0)]
    """Activation energy."""
    reference_c: float
    """Temperature that the base rates are of."""
    source: Annotated[str, Field(min_length=1)]
    """Where both come from; there is no default."""


class Profile(Typed):
    """A mission profile, as its file has it."""

    technology: str
    """Entry of the technology data whose rates are scaled."""
    phase: tuple[Phase, ...] = Field(min_length=1)
    """Where and when the target is in use."""
    quiet_sun: Share = 0.5
    """From 0 (active sun) to 1 (quiet sun); ranges hold from one to the other."""
    wear: Wear | None = None
    """For permanent faults; they are not scaled without it."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.wear is not None and (bare := [own.name for own in self.phase if own.temperature_c is None]):
            wrong("phase", "temperature_c in each phase, as there is a table [wear]", bare)
        return self


class PhaseRates(Typed):
    """What a phase comes to."""

    name: str
    """Of the phase."""
    hours: float
    """Of operation."""
    cutoff_gv: float
    """Its cutoff."""
    flux: float
    """Neutron flux as a multiple of that at sea level in New York."""
    flux_lo: float
    """The same with an active sun."""
    flux_hi: float
    """The same with a quiet one."""
    wear: float | None
    """How much faster permanent faults come than at the reference temperature; None if that is not asked."""


class MissionRates(Typed):
    """Raw rates of a mission, as means over its hours; the worst phase stands beside them."""

    technology: str
    """Entry of the technology data."""
    phases: tuple[PhaseRates, ...]
    """Each phase."""
    hours: float
    """Of all phases."""
    flux: float
    """Mean neutron flux over the hours."""
    worst: str
    """Phase with the highest flux."""
    flip_flop_fit: float
    """FIT of one flip-flop."""
    flip_flop_range: tuple[float, float]
    """Lowest and highest, the sun's part included."""
    sram_fit_per_mbit: float
    """FIT of 10^6 SRAM bits: neutrons scaled, alpha particles as they are."""
    sram_range: tuple[float, float]
    """Lowest and highest."""
    permanent_flip_flop_fit: float | None
    """FIT of permanent faults of one flip-flop; None if wear was not asked for."""
    permanent_sram_fit_per_mbit: float | None
    """The same of 10^6 SRAM bits."""
    notes: tuple[str, ...]
    """What the figures rest on."""


def load_profile(path: Path) -> Profile:
    """Return the profile in a TOML file.

    Raises:
        CampaignError: it cannot be read, or something in it is missing, unknown or out of range.
    """
    try:
        _, tables = read_toml(path, "mission profile")
    except HarnessError as error:
        raise CampaignError(f"{error}; {_REMEDY}", error.field) from None
    try:
        return Profile.from_plain(tables)
    except ValidationError as error:
        raise CampaignError(f"{path}: {failure_text(error)}; {_REMEDY}", "profile") from None


def mission_rates(profile: Profile) -> MissionRates:
    """Return the raw rates of a mission.

    The flux of neutrons is that of JESD89A, as Gordon and others (2004) have it. Alpha
    particles come from the package and do not depend on the place. Of flip-flops it is not known which part
    alpha particles have: all of their rate is scaled where that raises it, nothing where it lowers it.

    Raises:
        CampaignError: there is no such technology, or a phase is out of range.
    """
    try:
        return _rates(profile)
    except StatsError as error:
        raise CampaignError(f"{error}; {_REMEDY}", "profile") from None


def _rates(profile: Profile) -> MissionRates:
    technology = load_technology(profile.technology)
    phases = tuple(_phase(own, profile) for own in profile.phase)
    hours = sum(own.hours for own in phases)

    def mean(name: str) -> float:
        return float(sum(own.hours * getattr(own, name) for own in phases) / hours)

    flux, low, high = mean("flux"), mean("flux_lo"), mean("flux_hi")
    worst = max(phases, key=lambda own: own.flux)
    ff_lo, ff_hi = technology.range_of("ff")
    sram = [_sram(technology, end, scale) for end, scale in (("value", flux), ("low", low), ("high", high))]
    wear = None if profile.wear is None else mean("wear")
    permanent = None if wear is None else load_permanent(profile.technology)
    return MissionRates(
        technology=profile.technology,
        phases=phases,
        hours=hours,
        flux=flux,
        worst=worst.name,
        flip_flop_fit=technology.fit_per_bit("ff") * max(flux, 1.0),
        flip_flop_range=(ff_lo * min(low, 1.0), ff_hi * max(high, 1.0)),
        sram_fit_per_mbit=1e6 * sram[0],
        sram_range=(1e6 * sram[1], 1e6 * sram[2]),
        permanent_flip_flop_fit=None
        if permanent is None or wear is None
        else permanent.fit_per_bit("ff") * wear,
        permanent_sram_fit_per_mbit=None
        if permanent is None or wear is None
        else 1e6 * permanent.fit_per_bit("sram") * wear,
        notes=tuple(_notes(profile, technology, worst)),
    )


def _phase(phase: Phase, profile: Profile) -> PhaseRates:
    flux, low, high = (
        relative_flux(phase.altitude_m, phase.cutoff, quiet) for quiet in (profile.quiet_sun, 0.0, 1.0)
    )
    wear = profile.wear
    faster = None
    if wear is not None:
        assert phase.temperature_c is not None
        faster = arrhenius(phase.temperature_c, wear.reference_c, wear.activation_ev)
    return PhaseRates(
        name=phase.name,
        hours=phase.hours,
        cutoff_gv=phase.cutoff,
        flux=flux,
        flux_lo=low,
        flux_hi=high,
        wear=faster,
    )


def _sram(technology: Technology, end: str, flux: float) -> float:
    """Return the FIT of one SRAM bit at an end of the figures' ranges."""

    def rate(entry: TechnologyFigure) -> float:
        value = getattr(entry, end)
        return raw_rate(entry.value if value is None else value, entry.unit).per_bit

    own = [entry for entry in technology.entries if entry.quantity.startswith("sram_")]
    if not own:
        technology.fit_per_bit("sram")
    return sum(rate(entry) * (flux if entry.quantity in _NEUTRON else 1.0) for entry in own)


def _notes(profile: Profile, technology: Technology, worst: PhaseRates) -> list[str]:
    notes = [
        "Neutron flux by altitude and cutoff: Gordon et al., IEEE TNS 51(6) (2004), as in Annex A of "
        "JESD89A; "
        f"1 is sea level in New York ({NEW_YORK_CUTOFF_GV} GV). Outdoors: a roof or a car lowers it.",
        f"Means over the hours of operation; in phase {worst.name!r} the flux is {worst.flux:.3g}.",
        "Alpha particles do not depend on the place. All of the flip-flops' rate is scaled, and never below "
        "that at sea level, as their part of alpha particles is not known.",
        "Rates of upsets do not depend on temperature here: no public figure was found for it.",
    ]
    notes += [f"{own.quantity} at sea level: {own.value:g} {own.unit} ({own.status}), {own.source}"
              for own in technology.entries if own.quantity != "multi_cell_bits"]  # fmt: skip
    if profile.wear is not None:
        notes.append(
            f"Permanent faults by Arrhenius, {profile.wear.activation_ev:g} eV from "
            f"{profile.wear.reference_c:g} "
            f"degC: {profile.wear.source}"
        )
    else:
        notes.append("Permanent faults are not scaled: the profile has no table [wear].")
    return notes


def rates_text(found: MissionRates) -> str:
    """Return the table [technology] to be pasted, with what it rests on as comments."""
    lines = [f"# {note}" for note in found.notes]
    for own in found.phases:
        wear = "" if own.wear is None else f", wear {own.wear:.3g}"
        lines.append(
            f"# phase {own.name}: {own.hours:g} h, {own.cutoff_gv:.2f} GV, flux {own.flux:.3g} "
            f"({own.flux_lo:.3g} to {own.flux_hi:.3g}){wear}"
        )
    lines += [
        "[technology]",
        f'name = "{found.technology}"',
        f"flip_flop_fit = {found.flip_flop_fit:.6g}",
        f"flip_flop_range = [{found.flip_flop_range[0]:.6g}, {found.flip_flop_range[1]:.6g}]",
        f"sram_fit_per_mbit = {found.sram_fit_per_mbit:.6g}",
        f"sram_range = [{found.sram_range[0]:.6g}, {found.sram_range[1]:.6g}]",
    ]
    if found.permanent_flip_flop_fit is not None and found.permanent_sram_fit_per_mbit is not None:
        lines.append(f"permanent_flip_flop_fit = {found.permanent_flip_flop_fit:.6g}")
        lines.append(f"permanent_sram_fit_per_mbit = {found.permanent_sram_fit_per_mbit:.6g}")
    return "\n".join(lines)
