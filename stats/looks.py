"""Looking at results before the end without spoiling what the intervals promise."""

from __future__ import annotations

from stats.intervals import check_confidence


def look_confidences(looks: int, confidence: float = 0.95) -> tuple[float, ...]:
    """Return the confidence of the interval at each look, so that all hold together with `confidence`.

    The error `1 - confidence` is spent half at the first look, half of the rest at the second, and so on;
    the last look takes all that is left. Errors of the looks add up to at most that of the whole (Boole),
    whatever rule stops the campaign.

    Args:
        looks: How many are planned, at least 1.
        confidence: Of the whole.

    Raises:
        ValueError: there is no look, or `confidence` is not one.

    References:
        P. C. O'Brien, T. R. Fleming, Biometrics 35 (1979) 549-556, and K. K. G. Lan, D. L. DeMets, Biometrika
        70 (1983) 659-663, for the idea; the bound by addition needs none of their normal limits.

    Examples:
        >>> [round(c, 5) for c in look_confidences(3)]
        [0.975, 0.9875, 0.9875]
        >>> look_confidences(1, 0.9)
        (0.9,)
    """
    check_confidence(confidence)
    if looks < 1:
        raise ValueError(f"a campaign has at least one look at its results, found {looks}")
    left, spent = 1.0 - confidence, []
    for _ in range(looks - 1):
        left /= 2.0
        spent.append(left)
    return (*(1.0 - error for error in spent), confidence if looks == 1 else 1.0 - left)


def look_sizes(first: int, last: int, growth: float = 1.5) -> tuple[int, ...]:
    """Return the numbers of injections at which to look: from `first` on by `growth`, the last at `last`.

    A step that would end just short of `last` goes there at once.

    Raises:
        ValueError: not 0 < first <= last, or the growth is not above 1.

    Examples:
        >>> look_sizes(100, 400)
        (100, 150, 225, 400)
        >>> look_sizes(300, 350)
        (350,)
    """
    if not 0 < first <= last or growth <= 1.0:
        raise ValueError(
            f"looks need 0 < first <= last and a growth above 1, found {first}, {last}, {growth}"
        )
    sizes, size = [], float(first)
    while size * growth <= last:
        sizes.append(round(size))
        size *= growth
    return (*sizes, last)
