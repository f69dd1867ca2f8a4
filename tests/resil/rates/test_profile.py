# SPDX-License-Identifier: Apache-2.0
"""Raw rates of a mission: public figures, and a table that a campaign takes."""

from __future__ import annotations

import tomllib

import pytest

from resil.cli import main
from resil.stats.environment import arrhenius, cutoff_of, relative_flux
from resil.stats.errors import StatsError
from resil.stats.technology import load_technology
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

PROFILE = """technology = "finfet-16nm"
[[phase]]
name = "Denver"
hours = 6000
altitude_m = 1609
cutoff_gv = 2.8
[[phase]]
name = "coast"
hours = 2000
altitude_m = 0
cutoff_gv = 2.08
"""


# JESD89A, annex A, as public texts quote it: New York is the reference, Denver 3.76; vendors round the rest.
@pytest.mark.parametrize(
    ("altitude", "cutoff", "flux", "off"),
    [(0, 2.08, 1.0, 0.01), (1609, 2.8, 3.76, 0.02), (3109, 2.9, 10.9, 0.5), (20, 11.6, 0.64, 0.03)],
)
def test_public_figures_of_the_neutron_flux(altitude, cutoff, flux, off):
    assert relative_flux(altitude, cutoff) == pytest.approx(flux, abs=off)


def test_the_flux_rises_with_altitude_and_a_quiet_sun_and_falls_with_cutoff():
    heights = [relative_flux(m, 4.0) for m in range(0, 9001, 500)]
    assert heights == sorted(heights)
    cutoffs = [relative_flux(1000, gv) for gv in (0.0, 0.5, 2.0, 5.0, 10.0, 17.0)]
    assert cutoffs == sorted(cutoffs, reverse=True)
    assert relative_flux(0, 2.08, 0.0) < 1.0 < relative_flux(0, 2.08, 1.0)


def test_the_sun_has_no_say_at_high_cutoffs():
    apart = [relative_flux(0, gv, 1.0) / relative_flux(0, gv, 0.0) for gv in (1.0, 5.0, 17.0)]
    assert apart == sorted(apart, reverse=True)
    assert apart[-1] < 1.05


def test_a_dipole_and_the_poles():
    assert cutoff_of(90.0) == pytest.approx(0.0, abs=1e-12)
    assert cutoff_of(0.0) == 14.5
    assert cutoff_of(50.0) == pytest.approx(2.48, abs=0.05)


def test_arrhenius_of_the_handbook():
    assert arrhenius(55, 55, 0.7) == 1.0
    assert arrhenius(125, 55, 0.7) == pytest.approx(77.9, rel=0.01)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: relative_flux(20_000, 2.0),
        lambda: relative_flux(0, 30.0),
        lambda: relative_flux(0, 2.0, 1.5),
        lambda: cutoff_of(91.0),
        lambda: arrhenius(-300.0, 55.0, 0.7),
    ],
)
def test_what_no_place_has_is_refused(wrong):
    with pytest.raises(StatsError):
        wrong()


@pytest.fixture
def said(tmp_path, capsys):
    def run(text, code=0):
        (tmp_path / "p.toml").write_text(text)
        assert main(["rates", str(tmp_path / "p.toml")]) == code
        out, err = capsys.readouterr()
        return out if code == 0 else err

    return run


def test_the_table_is_the_mean_over_the_hours(said):
    table = tomllib.loads(said(PROFILE))["technology"]
    flux = 0.75 * relative_flux(1609, 2.8) + 0.25 * relative_flux(0, 2.08)
    known = load_technology("finfet-16nm")
    assert table["flip_flop_fit"] == pytest.approx(known.fit_per_bit("ff") * flux, rel=1e-4)
    rates = {own.quantity: own.rate.per_bit * 1e6 for own in known.entries if own.quantity.startswith("sram")}
    assert table["sram_fit_per_mbit"] == pytest.approx(
        rates["sram_neutron"] * flux + rates["sram_alpha"], rel=1e-4
    )
    for key in ("flip_flop", "sram"):
        value = table["flip_flop_fit" if key == "flip_flop" else "sram_fit_per_mbit"]
        assert table[f"{key}_range"][0] < value < table[f"{key}_range"][1]


def test_a_shielded_place_does_not_make_flip_flops_better(said):
    equator = PROFILE.replace("1609", "0").replace("2.8", "17.0").replace("2.08", "17.0")
    table = tomllib.loads(said(equator))["technology"]
    known = load_technology("finfet-16nm")
    assert table["flip_flop_fit"] == pytest.approx(known.fit_per_bit("ff"), rel=1e-4)
    assert table["sram_fit_per_mbit"] < 1e6 * known.fit_per_bit("sram")


def test_a_campaign_takes_the_table(said, tmp_path, monkeypatch):
    fake.install(monkeypatch)
    text = TEXT.replace('[technology]\nname = "finfet-16nm"\n', said(PROFILE) + "\n")
    assert "flip_flop_fit" in text
    file = write_campaign(tmp_path, text)
    assert main(["run", str(file), "--out", str(tmp_path / "run"), "--quiet"]) in (0, 1, 3)


def test_permanent_faults_need_a_source(said):
    assert "permanent" not in tomllib.loads(said(PROFILE))["technology"]
    wear = '\n[wear]\nactivation_ev = 0.7\nreference_c = 55\nsource = "handbook"\n'
    warm = PROFILE.replace("hours = 6000", "hours = 6000\ntemperature_c = 85")
    assert "temperature_c in each phase" in said(warm + wear, 2)
    warm = warm.replace("hours = 2000", "hours = 2000\ntemperature_c = 55")
    table = tomllib.loads(said(warm + wear))["technology"]
    assert table["permanent_flip_flop_fit"] > 0
    assert "source" in said(warm + wear.replace('source = "handbook"\n', ""), 2)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("altitude_m = 1609", "altitude_m = 40000", "altitude"),
        ("cutoff_gv = 2.8", "", "cutoff_gv or geomagnetic_latitude_deg"),
        ("cutoff_gv = 2.8", "cutoff_gv = 2.8\ngeomagnetic_latitude_deg = 40", "one of both"),
        ("hours = 6000", "hours = 0", "greater than 0"),
        ("hours = 6000", "hours = 6000\nhourz = 1", "hourz"),
        ("finfet-16nm", "vacuum-tube", "vacuum-tube"),
        ("[[phase]]", "[phase", "TOML"),
    ],
)
def test_what_is_wrong_is_named(said, old, new, words):
    assert words in said(PROFILE.replace(old, new, 1), 2)
