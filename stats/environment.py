# SPDX-License-Identifier: Apache-2.0
"""How much harder neutrons strike elsewhere than at sea level in New York, and how heat speeds wear up.

The neutron flux falls with the air above and with the geomagnetic cutoff (M. S. Gordon, P. Goldhagen, K. P.
Rodbell et al., "Measurement of the flux and energy spectrum of cosmic-ray induced neutrons on the ground",
IEEE TNS 51(6) (2004) 3427-3434; Annex A of JEDEC JESD89A has the same formulas). Neither text could be read
here: the constants are as known, and are checked by the reference point (New York, 2.08 GV, as the public
calculator at seutest.com has it) and by Denver's factor.
"""

from __future__ import annotations

from math import cos, exp, radians

from resil.stats.errors import StatsError

# Reference: outdoors at sea level in New York City, half way between an active and a quiet sun.
NEW_YORK_CUTOFF_GV = 2.08
HIGHEST_M = 10_000.0
_SEA_LEVEL_DEPTH = 1033.2  # g/cm^2
_ATTENUATION = 131.3  # g/cm^2, of neutrons above 10 MeV
_BOLTZMANN_EV = 8.617333262e-5  # eV/K
_ZERO_C = 273.15  # K
_DIPOLE_GV = 14.5


def pressure_bar(altitude_m: float) -> float:
    """Return the pressure of the US Standard Atmosphere 1976 in bar, from 0 to 10,000 m.

    Raises:
        StatsError: the altitude is beyond these.
    """
    if not -500.0 <= altitude_m <= HIGHEST_M:
        raise StatsError(
            f"altitude: expected metres from -500 to {HIGHEST_M:g}, found {altitude_m:g}", "altitude"
        )
    return float(1.01325 * (1.0 - 2.25577e-5 * altitude_m) ** 5.25588)


def cutoff_of(geomagnetic_latitude_deg: float) -> float:
    """Return the vertical cutoff in GV of a dipole, which is within some tenths of a GV of tables.

    References:
        D. F. Smart, M. A. Shea, "A review of geomagnetic cutoff rigidities for earth-orbiting spacecraft",
        Advances in Space Research 36 (2005) 2012-2020: 14.5 / L^2, with L = 1 / cos^2 of the latitude.

    Raises:
        StatsError: it is no latitude.
    """
    if not -90.0 <= geomagnetic_latitude_deg <= 90.0:
        raise StatsError(
            f"latitude: expected -90 to 90 degrees, found {geomagnetic_latitude_deg:g}", "latitude"
        )
    return _DIPOLE_GV * cos(radians(geomagnetic_latitude_deg)) ** 4


def relative_flux(altitude_m: float, cutoff_gv: float, quiet: float = 0.5) -> float:
    """Return the flux of neutrons above 10 MeV, as a multiple of that at sea level in New York City.

    Args:
        altitude_m: Above sea level, in metres.
        cutoff_gv: Vertical geomagnetic cutoff rigidity, in GV.
        quiet: 0 for an active sun (least flux), 1 for a quiet one (most); 0.5 is half way.

    Raises:
        StatsError: an argument is out of its range.

    Examples:
        Denver, where JESD89A has 3.76:

        >>> round(relative_flux(1609, 2.8), 2)
        3.76
        >>> round(relative_flux(0, NEW_YORK_CUTOFF_GV), 2)
        1.0
    """
    if not 0.0 <= quiet <= 1.0:
        raise StatsError(f"sun: expected 0 (active) to 1 (quiet), found {quiet:g}", "quiet")
    if not 0.0 <= cutoff_gv <= 20.0:
        raise StatsError(f"cutoff: expected 0 to 20 GV, found {cutoff_gv:g}", "cutoff")
    bar = pressure_bar(altitude_m)
    depth = _SEA_LEVEL_DEPTH * bar / 1.01325
    still, active = _quiet_sun(cutoff_gv, bar), _active_sun(cutoff_gv, bar)
    return exp((_SEA_LEVEL_DEPTH - depth) / _ATTENUATION) * (quiet * still + (1.0 - quiet) * active)


def arrhenius(at_c: float, reference_c: float, activation_ev: float) -> float:
    """Return how much faster what has this activation energy goes at a temperature than at another.

    References:
        NIST/SEMATECH e-Handbook of Statistical Methods, 8.1.5.1 (Arrhenius).

    Raises:
        StatsError: a temperature is below absolute zero, or the energy is negative or above 3 eV.

    Examples:
        >>> round(arrhenius(85, 55, 0.7), 2)
        7.95
    """
    if min(at_c, reference_c) <= -_ZERO_C or not 0.0 <= activation_ev <= 3.0:
        raise StatsError(
            f"expected temperatures above -273 degC and an energy from 0 to 3 eV, found {at_c:g}, "
            f"{reference_c:g} and {activation_ev:g}",
            "temperature",
        )
    return exp(activation_ev / _BOLTZMANN_EV * (1.0 / (reference_c + _ZERO_C) - 1.0 / (at_c + _ZERO_C)))


def _quiet(bar: float) -> tuple[float, float]:
    return exp(1.84 + 0.094 * bar - 0.09 * exp(-11.0 * bar)), 1.4 - 0.56 * bar + 0.24 * exp(-8.8 * bar)


def _quiet_sun(cutoff: float, bar: float) -> float:
    alpha, k = _quiet(bar)
    return 1.098 * _dorman(cutoff, alpha, k)


def _active_sun(cutoff: float, bar: float) -> float:
    """Return the same of an active sun; both agree at 50 GV, where the sun has no say."""
    alpha = exp(1.93 + 0.15 * bar - 0.18 * exp(-10.0 * bar))
    k = 1.32 - 0.49 * bar + 0.18 * exp(-9.5 * bar)
    at_50 = _dorman(50.0, *_quiet(bar)) / _dorman(50.0, alpha, k)
    return 1.098 * _dorman(cutoff, alpha, k) * at_50


def _dorman(cutoff: float, alpha: float, k: float) -> float:
    return 1.0 if cutoff == 0.0 else 1.0 - exp(-alpha / cutoff**k)
