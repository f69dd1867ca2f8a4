# SPDX-License-Identifier: Apache-2.0
import pytest

from resil.stats.errors import StatsError
from resil.stats.technology import load_technologies, load_technology
from testkit.errors import about

GOOD = """
[[technology]]
name = "mine"
node = "5 nm"
[[technology.entry]]
quantity = "flip_flop"
value = 1e-5
unit = "FIT/flip-flop"
status = "measured"
source = "our beam test"
"""


def test_every_shipped_technology_serves_both_kinds_of_storage():
    known = load_technologies()
    assert list(known) == ["planar-28nm", "planar-20nm", "finfet-16nm"]
    for technology in known.values():
        assert 0 < technology.fit_per_bit("ff") < 1e-3
        assert 0 < technology.fit_per_bit("sram") < 1e-3
        assert all(entry.source for entry in technology.entries)


@pytest.mark.parametrize(
    ("name", "per_mbit"), [("planar-28nm", 105.0), ("planar-20nm", 60.0), ("finfet-16nm", 20.2)]
)
def test_memory_rates_add_neutrons_and_alphas(name, per_mbit):
    assert load_technology(name).fit_per_bit("sram") * 1e6 == pytest.approx(per_mbit)


def test_overrides_replace_and_say_so():
    ours = load_technology("finfet-16nm").with_overrides(2e-5, 5.0, "digits.toml, [technology]")
    assert ours.fit_per_bit("ff") == 2e-5
    assert ours.fit_per_bit("sram") == pytest.approx(5e-6)
    changed = {e.quantity: e for e in ours.entries}
    assert "sram_alpha" not in changed
    assert changed["flip_flop"].status == "assumed"
    assert changed["flip_flop"].source == "digits.toml, [technology]"
    assert changed["multi_cell_bits"].value == 3


def test_no_override_changes_nothing():
    technology = load_technology("finfet-16nm")
    assert technology.with_overrides() == technology


def test_a_negative_override_is_refused():
    with pytest.raises(StatsError, check=about("value")):
        load_technology("finfet-16nm").with_overrides(flip_flop_fit=-1.0)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(StatsError, check=about("name")):
        load_technology("gaa-2nm")


def test_a_file_of_the_users_own(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(GOOD)
    mine = load_technology("mine", file)
    assert mine.fit_per_bit("ff") == 1e-5
    assert mine.entries[0].unit == "FIT/flip-flop"
    with pytest.raises(StatsError, check=about("sram_fit_per_mbit")):
        mine.fit_per_bit("sram")
    with pytest.raises(StatsError, check=about("kind")):
        mine.fit_per_bit("rom")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('name = "mine"', "", "name"),
        ('node = "5 nm"', "", "node"),
        ('node = "5 nm"', 'node = "5 nm"\ncolour = 1', "colour"),
        ("value = 1e-5", 'value = "low"', "value"),
        ('unit = "FIT/flip-flop"', 'unit = "FIT/MB"', "unit"),
        ('"measured"', '"guessed"', "status"),
        ('"our beam test"', '""', "source"),
        ('"flip_flop"', '"latch"', "quantity"),
        ("[[technology.entry]]", "[[technology.entry]", "file"),
        (GOOD, "", "technology"),
    ],
)
def test_a_wrong_file_is_refused_by_its_name_and_field(tmp_path, old, new, field):
    file = tmp_path / "mine.toml"
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(StatsError, check=about(field)) as caught:
        load_technologies(file)
    assert "mine.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "field"),
    [(GOOD + GOOD, "name"), (GOOD + GOOD[GOOD.index("[[technology.entry]]") :], "quantity")],
)
def test_a_technology_or_quantity_that_is_there_twice_is_refused(tmp_path, text, field):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(StatsError, check=about(field)):
        load_technologies(file)


def test_a_file_that_is_missing_is_refused_by_its_name(tmp_path):
    with pytest.raises(StatsError, match=r"none\.toml", check=about("file")):
        load_technologies(tmp_path / "none.toml")
