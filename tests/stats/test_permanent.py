# SPDX-License-Identifier: Apache-2.0
import pytest

from resil.stats.errors import StatsError
from resil.stats.permanent import load_permanent
from resil.stats.technology import load_technologies
from testkit.errors import about

GOOD = """
[[technology]]
name = "mine"
node = "5 nm"
[[technology.entry]]
quantity = "flip_flop"
value = 2e-5
low = 1e-5
high = 3e-5
unit = "FIT/flip-flop"
status = "measured"
source = "our life test"
"""


def test_every_shipped_technology_has_permanent_rates_with_ranges():
    for name in load_technologies():
        rates = load_permanent(name)
        for kind in ("ff", "sram"):
            low, high = rates.range_of(kind)
            assert 0 < low < rates.fit_per_bit(kind) < high < 1e-3
        assert all(entry.source for entry in rates.entries)
        assert "measured" not in {entry.status for entry in rates.entries}


def test_rates_are_those_of_the_handbook():
    """24 transistors of 3.4e-6 FIT a flip-flop, 6 of 1.7e-7 a bit of SRAM."""
    rates = load_permanent("finfet-16nm")
    assert rates.fit_per_bit("ff") == pytest.approx(24 * 3.4e-6)
    assert rates.fit_per_bit("sram") == pytest.approx(6 * 1.7e-7)
    assert rates.range_of("ff")[0] == pytest.approx(24 * 3.4e-6 * 0.002606, rel=1e-2)


def test_overrides_replace_and_have_no_range():
    ours = load_permanent("finfet-16nm").with_overrides(2e-5, 5.0, "digits.toml, [technology]", 3e-6)
    assert ours.fit_per_bit("ff") == 2e-5
    assert ours.fit_per_bit("logic") == 3e-6
    assert ours.fit_per_bit("sram") == pytest.approx(5e-6)
    assert ours.range_of("sram") == pytest.approx((5e-6, 5e-6))
    assert {e.source for e in ours.of_pins().entries} == {"digits.toml, [technology]"}
    with pytest.raises(StatsError):
        ours.with_overrides(-1.0)


def test_a_technology_without_figures_is_an_error_only_when_one_is_asked_for(tmp_path):
    rates = load_permanent("unheard-of")
    with pytest.raises(StatsError, check=about("permanent_flip_flop_fit")):
        rates.fit_per_bit("ff")
    assert rates.with_overrides(1e-5).fit_per_bit("ff") == 1e-5
    with pytest.raises(StatsError, check=about("kind")):
        rates.fit_per_bit("rom")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("low = 1e-5", "low = 4e-5", "value"),
        ("value = 2e-5", 'value = "much"', "value"),
        ('"FIT/flip-flop"', '"FIT/furlong"', "unit"),
        ('"measured"', '"guessed"', "status"),
        ('"our life test"', '" "', "source"),
        ('"flip_flop"', '"latch"', "quantity"),
        ("high = 3e-5", "", "high"),
    ],
)
def test_a_wrong_entry_is_refused_by_its_field(tmp_path, old, new, field):
    file = tmp_path / "rates.toml"
    file.write_text(GOOD)
    assert load_permanent("mine", file).fit_per_bit("ff") == 2e-5
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(StatsError, check=about(field)):
        load_permanent("mine", file)


def test_a_pin_of_a_cell_has_a_rate_of_its_own():
    rates = load_permanent("finfet-16nm")
    low, high = rates.range_of("logic")
    assert low < rates.fit_per_bit("logic") == 6.8e-6 < high
    assert rates.status_of("logic") == "assumed"
    with pytest.raises(StatsError, check=about("permanent_logic_fit")):
        load_permanent("unheard-of").fit_per_bit("logic")
