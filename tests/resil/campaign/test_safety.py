# SPDX-License-Identifier: Apache-2.0
"""The table `[safety]`: what it defaults to, and what is refused before anything is injected."""

import tomllib
from pathlib import Path

import pytest

from resil.campaign.campaign import parse_campaign
from resil.campaign.text import campaign_text
from resil.errors import CampaignError
from testkit.campaigns import TEXT
from testkit.errors import about

BASE = TEXT[: TEXT.index("[budget]")]
SAFETY = """
[safety]
asil = "D"
claims = ["spfm_transient"]
"""
FULL = """
[safety]
asil = "C"
claims = ["spfm_transient", "spfm_permanent", "lfm_permanent", "pmhf_share", "coverage", "due_rate",
    "detection_time", "sensitivity"]
spfm = 0.98
pmhf_fit = 0.5
pmhf_rationale = "half of a FIT of the item's 100"
due_fit = 20
due_rationale = "one restart in five thousand years"
clock_mhz = 500
ftti_seconds = 1e-3
reaction_cycles = 1000
permanent = "runs/stuck"
logic = "runs/pulses"
permanent_logic = "runs/pins"
derated = true
lifetime_hours = 2e4
left_out = "the shared buffer has SECDED of its own"
[[safety.mechanism]]
alarm = "parity"
coverage = 0.9
blocks = ["mac"]
storage = ["u_npu.u_mac.par_q"]
[[safety.mechanism]]
alarm = "error"
"""


def parsed(text, file=Path("/campaigns/small.toml")):
    return parse_campaign(file, tomllib.loads(text))


@pytest.mark.parametrize(("level", "spfm", "lfm"), [("B", 0.90, 0.60), ("C", 0.97, 0.80), ("D", 0.99, 0.90)])
def test_targets_follow_from_the_level(level, spfm, lfm):
    safety = parsed(BASE + SAFETY.replace('"D"', f'"{level}"')).safety
    assert safety is not None
    assert (safety.spfm, safety.lfm) == (spfm, lfm)


def test_the_share_of_pmhf_has_no_default():
    safety = parsed(BASE + SAFETY).safety
    assert safety is not None
    assert safety.pmhf_fit is None


def test_everything_can_be_given_and_is_written_as_it_was_read():
    campaign = parsed(BASE + FULL)
    safety = campaign.safety
    assert safety is not None
    assert safety.ftti_cycles == 500_000
    assert safety.detection_cycles == 499_000
    assert safety.seconds(500_000) == pytest.approx(1e-3)
    assert safety.permanent == Path("/campaigns/runs/stuck")
    assert safety.logic == Path("/campaigns/runs/pulses")
    assert safety.permanent_logic == Path("/campaigns/runs/pins")
    assert safety.derated
    assert [m.alarm for m in safety.mechanisms] == ["parity", "error"]
    assert safety.mechanisms[0].storage == ("u_npu.u_mac.par_q",)
    assert parsed(campaign_text(campaign)).safety == safety


def test_a_campaign_without_the_table_has_none():
    assert parsed(TEXT).safety is None


BUDGET = '[budget]\nfit = 0.2\nrationale = "r"\n'
CLAIMED = SAFETY.replace("spfm_transient", "{}")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (SAFETY.replace('["spfm_transient"]', "[]"), "safety.claims"),
        (SAFETY.replace("spfm_transient", "spfm"), "safety.claims"),
        (SAFETY.replace('asil = "D"', ""), "safety.claims"),
        (SAFETY.replace('"D"', '"A"'), "safety.asil"),
        (
            SAFETY + "spfm = 0.95",
            "safety.spfm",
        ),
        (SAFETY + "spmf = 0.995", "safety.spmf"),
        (CLAIMED.format("pmhf_share"), "safety.claims"),
        (SAFETY + "pmhf_fit = 0.5", "safety.pmhf_rationale"),
        (SAFETY + 'pmhf_fit = 11\npmhf_rationale = "r"', "safety.pmhf_fit"),
        (
            BUDGET + SAFETY + 'pmhf_fit = 0.5\npmhf_rationale = "r"',
            "safety.pmhf_fit",
        ),
        (
            CLAIMED.format("pmhf_share") + 'pmhf_fit = 0.5\npmhf_rationale = "r"',
            "safety.claims",
        ),
        (CLAIMED.format("spfm_permanent"), "safety.claims"),
        (CLAIMED.format("lfm_permanent") + 'permanent = "p"', "safety.claims"),
        (CLAIMED.format("coverage"), "safety.claims"),
        (CLAIMED.format("due_rate"), "safety.claims"),
        (CLAIMED.format("detection_time"), "safety.claims"),
        (CLAIMED.format("sensitivity"), "safety.claims"),
        (
            SAFETY + "ftti_cycles = 5\nftti_seconds = 1.0\nclock_mhz = 1.0",
            "safety.ftti_cycles",
        ),
        (SAFETY + "ftti_seconds = 1.0", "safety.clock_mhz"),
        (SAFETY + "ftti_cycles = 5\nreaction_cycles = 5", "safety.reaction_cycles"),
        (SAFETY + "reaction_cycles = 5", "safety.reaction_cycles"),
        (BUDGET + 'hazardous = ["hang"]' + SAFETY, "safety.claims"),
        (BUDGET + 'hazardous = ["sdc_critical"]' + SAFETY, "safety.watchdog"),
        (SAFETY + 'watchdog = "host timer"', "safety.watchdog"),
        (SAFETY + 'permanent_logic = "p"', "safety.permanent_logic"),
        (SAFETY + "derated = true", "safety.derated"),
        (
            BUDGET
            + 'hazardous = ["sdc_critical", "hang", "due"]'
            + CLAIMED.format("coverage")
            + 'mechanism = [{ alarm = "error", coverage = 0.9 }]',
            "safety.claims",
        ),
        (SAFETY + 'mechanism = [{ alarm = "a" }, { alarm = "a" }]', "safety.mechanism[1].alarm"),
        (SAFETY + 'mechanism = [{ alarm = "a", cover = 1 }]', "safety.mechanism[0].cover"),
    ],
)
def test_contradictions_and_claims_that_nothing_can_decide_are_refused(text, field):
    with pytest.raises(CampaignError, check=about(field)):
        parsed(BASE + text)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (
            "flip_flop_fit = 600",
            "technology.flip_flop_fit",
        ),
        ("sram_fit_per_mbit = 2e-5", "technology.sram_fit_per_mbit"),
        ("flip_flop_range = [1e-5, 1e-4]", "technology.flip_flop_range"),
        ("flip_flop_fit = 1e-3\nflip_flop_range = [1e-5, 1e-4]", "technology.flip_flop_range"),
        ("flip_flop_fit = 5e-5\nflip_flop_range = [1e-5]", "technology.flip_flop_range"),
        ("sram_fit_per_mbit = 20\nsram_range = [1e-5, 25]", "technology.sram_range"),
    ],
)
def test_raw_rates_in_a_wrong_unit_are_refused(line, field):
    with pytest.raises(CampaignError, check=about(field)):
        parsed(BASE.replace('name = "finfet-16nm"', f'name = "finfet-16nm"\n{line}'))


def test_ranges_of_raw_rates_are_written_as_they_were_read():
    text = BASE.replace(
        'name = "finfet-16nm"',
        'name = "finfet-16nm"\nflip_flop_fit = 5e-5\nflip_flop_range = [1e-5, 1e-4]\n'
        "sram_fit_per_mbit = 20\nsram_range = [15, 25]",
    )
    technology = parsed(text).technology
    assert technology.flip_flop_range == (1e-5, 1e-4)
    assert technology.sram_range == (15.0, 25.0)
    assert parsed(campaign_text(parsed(text))).technology == technology
