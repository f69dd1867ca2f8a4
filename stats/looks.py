# SPDX-License-Identifier: Apache-2.0
"""Looking at results before the end without spoiling what the intervals promise."""

from __future__ import annotations

from resil.stats.intervals import check_confidence

_AT_FIRST = 0.8


def look_confidences(looks: int, confidence: float = 0.95, equal: bool = False) -> tuple[float, ...]:
    """Return the confidence of the interval at each look, so that all hold together with `confidence`.

    Of the error `1 - confidence` four fifths are spent at the first look, half of the rest at the second,
    half of what is left then at the third, and so on; the last look takes all that is left. That suits a
    first look at which the campaign is expected to end: its interval is hardly wider than that of a single
    look. With `equal` each look gets the same. Errors of the looks add up to that of the whole (Boole), so it
    does not matter by which rule the campaign stops.

    Args:
        looks: How many are planned, at least 1.
        confidence: Of the whole.
        equal: The same error at each look.

    Raises:
        ValueError: there is no look, or `confidence` is not one.

    References:
        S. J. Pocock, Biometrika 64 (1977) 191-199 (equal errors); K. K. G. Lan, D. L. DeMets, Biometrika 70
        (1983) 659-663 (spending). Their normal limits are a little narrower; addition needs no normality.

    Examples:
        >>> [round(c, 5) for c in look_confidences(3)]
        [0.96, 0.995, 0.995]
        >>> [round(c, 5) for c in look_confidences(5, equal=True)]
        [0.99, 0.99, 0.99, 0.99, 0.99]
        >>> look_confidences(1, 0.9)
        (0.9,)
    """
    check_confidence(confidence)
    if looks < 1:
        raise ValueError(f"a campaign has at least one look at its results, found {looks}")
    if looks == 1:
        return (confidence,)
    error = 1.0 - confidence
    if equal:
        return (1.0 - error / looks,) * looks
    rest = (1.0 - _AT_FIRST) * error
    spent = [_AT_FIRST * error, *(rest / 2.0**look for look in range(1, looks - 1))]
    return (*(1.0 - e for e in spent), 1.0 - rest / 2.0 ** (looks - 2))


def look_sizes(first: int, last: int, growth: float) -> tuple[int, ...]:
    """Return the numbers of injections at which to look: from `first` on by `growth`, the last at `last`.

    A step that would end just short of `last` goes there at once.

    Raises:
        ValueError: not 0 < first <= last, or the growth is not above 1.

    Examples:
        >>> look_sizes(100, 400, 1.5)
        (100, 150, 225, 400)
        >>> look_sizes(300, 350, 1.5)
        (350,)
    """
    if not 0 < first <= last or growth <= 1.0:
        raise ValueError(
            f"looks need 0 < first <= last and a growth above 1, found {first}, {last}, {growth}"
        )
    sizes, size = [], float(first)
    while size * growth <= last and round(size) < last:
        sizes.append(round(size))
        size = max(size * growth, size + 1.0)
    return (*sizes, last)
