# SPDX-License-Identifier: Apache-2.0
"""How many inputs, and how many injections into each: two-stage sampling at the least cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

from scipy.special import stdtrit

from resil.stats.errors import ArgumentError
from resil.stats.input_spread import InputSpread

# Fewer say too little of how inputs differ: of 8, limits are 1.2 times as wide as of very many.
FEWEST = 8


@dataclass(frozen=True, slots=True)
class InputPlan:
    """What is worth its cost.

    Attributes:
        inputs: To be run.
        each: Injections into each input that the costs ask for; infinite if inputs do not differ.
        half_width: Of the mean's interval that is to be expected, as a part of the mean; None without one.
        half_as_many: The same with half as many inputs and the same injections.
        golden_share: Part of the cost that golden runs have.
    """

    inputs: int
    each: float
    half_width: float | None
    half_as_many: float | None
    golden_share: float


def plan_inputs(
    spread: InputSpread,
    injections: int,
    golden_cost: float,
    injection_cost: float,
    most: int,
    confidence: float = 0.95,
) -> InputPlan:
    """Return how many inputs share `injections` so that the mean is known best for the cost.

    With n inputs of m injections each the variance is S_b^2 / n + S_w^2 / (n m) and the cost c_1 n + c_2 n m.
    For either fixed, the other is least at m = sqrt(c_1 / c_2) S_w / S_b (Cochran): the dearer a golden run,
    the more injections share it; the more inputs differ, the fewer do. Where the pilot shows no difference,
    the fewest inputs are taken that show one.

    Args:
        spread: From a pilot: S_b^2 between inputs, S_w^2 of one injection.
        injections: Of the campaign.
        golden_cost: c_1, of one more input: its golden run and its set-up.
        injection_cost: c_2, in the same unit.
        most: Inputs that there are, or that are allowed.
        confidence: Of the interval that is expected.

    Raises:
        ValueError: a number is not positive.

    References:
        W. G. Cochran, Sampling Techniques, 3rd ed. (1977), section 10.6, equation 10.17.

    Examples:
        Inputs that vary by 40 % about 1 % of hazardous faults; a golden run costs as much as 50 injections:

        >>> plan = plan_inputs(InputSpread(0.01, 0.004**2, 0.0099, 8), 20_000, 50.0, 1.0, 1000)
        >>> plan.inputs, round(plan.each), round(plan.half_width, 2)
        (114, 176, 0.16)
    """
    if min(injections, golden_cost, injection_cost, most) <= 0:
        raise ArgumentError("a plan needs injections, costs and inputs > 0", "plan")
    each = (
        sqrt(golden_cost / injection_cost * spread.within / spread.between) if spread.between > 0.0 else inf
    )
    wanted = max(FEWEST, round(injections / max(each, 1.0)))
    inputs = max(1, min(wanted, most, injections))
    cost = golden_cost * inputs

    def half_width(count: int) -> float | None:
        if count < 2 or spread.mean <= 0.0:
            return None
        error = sqrt(spread.between / count + spread.within / injections)
        return float(stdtrit(count - 1, 0.5 + confidence / 2)) * error / spread.mean

    return InputPlan(
        inputs,
        each,
        half_width(inputs),
        half_width(inputs // 2),
        cost / (cost + injection_cost * injections),
    )
