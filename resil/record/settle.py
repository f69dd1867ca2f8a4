# SPDX-License-Identifier: Apache-2.0
"""How many injections a row that is not decided would take: a forecast for planning, never a verdict."""

from __future__ import annotations

import math

from resil.record.interval import RecordedInterval

# A forecast of more than this many times what was made says only that the estimate is too near to the target.
_MOST_TIMES = 1000.0


def injections_to_settle(interval: RecordedInterval, target: float, made: int) -> int | None:
    """Return about how many injections would put the whole interval on one side of the target.

    The distance of a limit from its estimate shrinks about as the square root of the number of injections,
    so the limit between estimate and target reaches the target after `made` times the square of the distance
    of that limit over the distance of the target.

    Args:
        interval: Estimate and limits so far.
        target: What they are compared with.
        made: Injections so far.

    Returns:
        Injections in all, rounded up to two digits; `made` where the interval is on one side already; None
        where there is no estimate, nothing was injected, or the estimate is too near to the target to say.

    Examples:
        >>> injections_to_settle(RecordedInterval(0.010, 0.004, 0.020), 0.015, 1000)
        4000
        >>> injections_to_settle(RecordedInterval(0.995, 0.985, 0.999), 0.99, 1000)
        4000
        >>> injections_to_settle(RecordedInterval(0.010, 0.004, 0.020), 0.03, 1000)
        1000
    """
    estimate = interval.estimate
    if estimate is None or made <= 0 or not interval.lo <= estimate <= interval.hi:
        return None
    if not interval.lo < target < interval.hi:
        return made
    reach = interval.hi - estimate if target > estimate else estimate - interval.lo
    distance = abs(target - estimate)
    if distance <= 0.0 or (times := (reach / distance) ** 2) > _MOST_TIMES:
        return None
    return _rounded_up(made * max(1.0, times))


def _rounded_up(count: float) -> int:
    step = 10 ** max(0, math.floor(math.log10(count) + 1e-9) - 1)
    return int(math.ceil(count / step - 1e-9) * step)
