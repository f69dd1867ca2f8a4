# SPDX-License-Identifier: Apache-2.0
import pickle

import pytest

from resil.stats.errors import StatsError
from resil.stats.units import FitPerFlipFlop, FitPerMbit, FitPerMbyte, raw_rate
from testkit.errors import about


def test_a_megabyte_is_not_a_megabit():
    assert FitPerMbit(600.0).per_bit / FitPerMbyte(600.0).per_bit == pytest.approx(8 * 2**20 / 10**6)


def test_the_flip_flop_rate_of_the_literature():
    assert raw_rate(600.0, "FIT/MiB").per_bit == pytest.approx(7.2e-5, rel=0.01)
    assert raw_rate(7.2e-5, "FIT/flip-flop") == FitPerFlipFlop(7.2e-5)


@pytest.mark.parametrize("unit", ["FIT/MB", "FIT/Mb", "FIT", ""])
def test_ambiguous_units_are_refused(unit):
    with pytest.raises(StatsError, check=about("unit")):
        raw_rate(1.0, unit)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_impossible_rates_are_refused(value):
    with pytest.raises(StatsError, check=about("value")):
        raw_rate(value, "FIT/Mbit")


def test_an_error_from_another_process_keeps_its_field():
    found = pickle.loads(pickle.dumps(StatsError("convert it", "unit")))
    assert (str(found), found.field) == ("convert it", "unit")
