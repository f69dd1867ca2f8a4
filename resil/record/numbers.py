# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: three significant digits, thousands, percentages, intervals."""

from __future__ import annotations

import math
import re

from resil.record.interval import RecordedInterval

NOT_KNOWN = "n/a"
TIMES = "\u00d7"
_EXPONENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-])0*(\d+)\b")
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def fit(value: float | None) -> str:
    """Return a rate in FIT with three significant digits.

    >>> fit(0.012345), fit(7.2e-5), fit(12345.0), fit(0.0), fit(9.996)
    ('0.0123', '7.20e-05', '12,300', '0', '10.0')
    """
    if value is None:
        return NOT_KNOWN
    if value == 0.0:
        return "0"
    rounded = float(f"{value:.2e}")
    if not 1e-3 <= abs(rounded) < 1e6:
        return f"{value:.2e}"
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def given(value: float | None) -> str:
    """Return a figure that somebody chose, such as a budget, with the digits that it was given with.

    >>> given(0.01), given(10.0), given(2.5e-7)
    ('0.01', '10', '2.5e-07')
    """
    return NOT_KNOWN if value is None else f"{value:.6g}"


def confidence(fraction: float) -> str:
    """Return a confidence level.

    >>> confidence(0.95), confidence(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100.0 * fraction:.6g} %"


def percent(fraction: float | None) -> str:
    """Return a fraction as a percentage with at most three significant digits.

    >>> percent(0.12345), percent(0.01234), percent(0.0), percent(1.0), percent(2e-6)
    ('12.3 %', '1.23 %', '0 %', '100 %', '<0.001 %')
    """
    if fraction is None:
        return NOT_KNOWN
    return f"{_percent_digits(fraction)} %"


def _percent_digits(fraction: float) -> str:
    value = 100.0 * fraction
    if value == 0.0 or value == 100.0:
        return f"{value:.0f}"
    if 0.0 < value < 0.0005:
        return "<0.001"
    if 99.9995 <= value < 100.0:
        return ">99.999"
    if value < 100.0 and float(f"{value:.2e}") >= 100.0:
        return f"{value:.3f}"
    rounded = abs(float(f"{value:.2e}"))
    decimals = min(3, max(0, 2 - math.floor(math.log10(rounded))))
    if 99.0 < value < 100.0:
        decimals = 2
    return f"{value:,.{decimals}f}"


def spfm(fraction: float | None) -> str:
    """Return a share near one with five digits: what it lacks to 100 % is what counts.

    >>> spfm(0.95034), spfm(0.998731)
    ('95.034 %', '99.873 %')
    """
    return NOT_KNOWN if fraction is None else f"{100.0 * fraction:.5g} %"


def percent_range(interval: RecordedInterval) -> str:
    """Return the limits of an interval of fractions, without the sign: `[9.81, 15.2]`."""
    return f"[{_percent_digits(interval.lo)}, {_percent_digits(interval.hi)}]"


def fit_range(interval: RecordedInterval) -> str:
    """Return the limits of an interval in FIT: `[0.0098, 0.0152]`."""
    return f"[{fit(interval.lo)}, {fit(interval.hi)}]"


def count(value: int | None) -> str:
    """Return a whole number with thousands separated: `12,345`."""
    return NOT_KNOWN if value is None else f"{value:,d}"


def area(value: float | None) -> str:
    """Return an area: whole units from 100 on, three significant digits below."""
    if value is None:
        return NOT_KNOWN
    return f"{value:,.0f}" if value >= 100.0 or value == int(value) else fit(value)


def unit(name: str) -> str:
    """Return the way a unit is written for people.

    >>> unit("um2"), unit("GE")
    ('µm²', 'GE')
    """
    return {"um2": "µm²"}.get(name, name)


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """Return a quotient, or None if it does not exist."""
    if numerator is None or denominator is None or denominator == 0.0:
        return None
    return numerator / denominator


def pretty(text: str) -> str:
    """Return the text with exponents raised and percent signs held fast, for places that can show them.

    >>> pretty("7.20e-05")
    '7.20\u00d710⁻⁵'
    """

    def raised(match: re.Match[str]) -> str:
        sign = "-" if match[2] == "-" else ""
        return f"{match[1]}{TIMES}10" + f"{sign}{match[3]}".translate(_SUPERSCRIPT)

    return _EXPONENT.sub(raised, text).replace(" %", "\u00a0%")


def duration(seconds: float) -> str:
    """Return a length of time.

    >>> duration(4.26), duration(412.0), duration(7300.0)
    ('4.3 s', '6 min 52 s', '2 h 1 min')
    """
    if seconds < 60.0:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
