# SPDX-License-Identifier: Apache-2.0
import pytest

from resil.protection.options import ProtectionError, load_options
from testkit.errors import about

OWN = """
exclude = ["triplicate"]

[[cell]]
kind = "ff"
area = 3.1
unit = "um2"
status = "measured"
source = "our library"

[[option]]
name = "hardened_light"
title = "our hardened cell"
protects = ["ff"]
ff_area = 0.35
raw_factor = 0.02
coverage = 0.0
turns_into = "corrected"
status = "measured"
source = "our beam test"

[[option]]
name = "clip"
title = "activation clipping"
protects = ["ff", "sram"]
block_area = 0
raw_factor = 1.0
coverage = 0.2
turns_into = "corrected"
status = "modelled"
source = "our simulation"
"""


def test_every_shipped_figure_has_a_source_and_a_sane_value():
    shipped = load_options()
    assert list(shipped.options) == [
        *("none", "hardened_light", "hardened_leap_dice", "duplicate", "triplicate", "parity", "secded"),
        *("flop_parity", "flop_duplicate", "flop_triplicate", "lockstep", "watchdog", "error_flag"),
    ]
    for option in shipped.options.values():
        assert option.source
        assert 0 < option.raw_factor <= 1
        for kind in option.protects:
            assert option.residual_share(kind, ["sdc_critical"]) < 1
            assert option.area_added(100.0, 40.0, 30.0) + option.cells_area > 0 or option.name == "error_flag"
    assert {("ff", "GE"), ("sram", "GE")} <= set(shipped.cells)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (OWN.replace('"clip"', '"my+tmr"'), "name"),
        (OWN.replace('"clip"', '"a b"'), "name"),
        (
            OWN.replace("block_area = 0\n", 'block_area = 0.5\nunits = ["group"]\n'),
            "block_area",
        ),
    ],
)
def test_what_cannot_be_used_is_said_when_options_are_read(text, field, tmp_path):
    """The fault: an option my+tmr was chosen, and building it ended in a KeyError."""
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(ProtectionError, check=about(field)):
        load_options(tmp_path / "own.toml")


def test_residual_of_hardening_and_detection():
    options = load_options().options
    light, double = options["hardened_light"], options["duplicate"]
    assert light.residual_share("ff", ["hang"]) == light.raw_share("ff") == 0.25
    assert light.residual_share("sram", ["hang"]) == light.raw_share("sram") == 1.0
    assert double.residual_share("ff", ["hang"]) == pytest.approx(0.01)
    # Copies of registers are what is built: a memory in the block stays as it is.
    assert double.residual_share("sram", ["hang"]) == 1.0
    assert double.raw_share("sram") == 1.0


def test_detection_brings_nothing_where_detected_failures_are_hazardous():
    options = load_options().options
    assert options["duplicate"].residual_share("ff", ["sdc_critical", "due"]) == 1.0
    assert options["triplicate"].residual_share("ff", ["sdc_critical", "due"]) == pytest.approx(0.01)


def test_hardened_cells_cost_on_the_flip_flops_only():
    options = load_options().options
    assert options["hardened_leap_dice"].area_added(1000.0, 400.0, 300.0) == 400.0
    assert options["secded"].area_added(1000.0, 400.0, 300.0) == pytest.approx(0.602 * 300)
    assert options["duplicate"].area_added(1000.0, 400.0, 300.0) == pytest.approx(1030.0)


def test_a_users_file_replaces_adds_and_leaves_out(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    mine = load_options(file)
    assert mine.options["hardened_light"].raw_factor == 0.02
    assert mine.options["clip"].block_area == 0.0
    assert "triplicate" not in mine.options
    assert mine.cells["ff", "um2"].area == 3.1
    assert ("ff", "GE") in mine.cells


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "raw_factor = 0.02",
            "raw_factor = 1.2",
            "option hardened_light: raw_factor is a share from 0 to 1, found 1.2",
        ),
        (
            "raw_factor = 0.02",
            "raw_factor = 0.02\nraw_factor_high = 0.01",
            "expected raw_factor_low <= raw_factor <= raw_factor_high <= 1, found None, 0.02, 0.01",
        ),
        ("coverage = 0.0", "coverage = 0.0\ncoverage_low = 0.1", "expected coverage_low <= coverage"),
        ("raw_factor = 0.02", "raw_factor = -1", "raw_factor needs to be a number >= 0, found -1"),
        ("raw_factor = 0.02", "raw_factor = true", "raw_factor needs to be a number >= 0, found True"),
        ("raw_factor = 0.02", "", "option hardened_light: missing key raw_factor"),
        ("ff_area = 0.35", "ff_factor = 0.35", "unknown key ff_factor"),
        ("ff_area = 0.35", "", "option hardened_light: has no area, and would be free"),
        ("ff_area = 0.35", 'ff_area = 0.35\nunits = ["bit"]', "units needs to be a list of block, group"),
        ('protects = ["ff"]', 'protects = ["latch"]', "protects needs to be a list of ff, macro, sram"),
        (
            'protects = ["ff"]',
            'protects = ["ff", "macro"]',
            "option hardened_light: protects names macro, whose flip-flops lie inside SRAM macros",
        ),
        (
            'protects = ["ff"]',
            'protects = ["ff", "sram"]\nbuilds = "hardened"',
            "option hardened_light: protects names sram, and what it builds, hardened, reaches ff alone",
        ),
        (
            'turns_into = "corrected"',
            'turns_into = "gone"',
            "turns_into is one of due, corrected, found 'gone'",
        ),
        ('status = "measured"', 'status = "sure"', "status is one of"),
        ('source = "our beam test"', 'source = " "', "source needs to be a text that is not empty"),
        (
            'exclude = ["triplicate"]',
            'exclude = ["magic"]',
            "exclude names 'magic'; it may name any of",
        ),
        ('exclude = ["triplicate"]', 'exclude = ["none"]', "exclude names 'none'"),
        ('exclude = ["triplicate"]', "exclude = 3", "exclude needs to be a list"),
        ('exclude = ["triplicate"]', "leave_out = 3", "leave_out needs to be a list of paths"),
        ('exclude = ["triplicate"]', "budget = 3", "unknown key budget"),
        ('name = "clip"', 'name = "hardened_light"', "hardened_light is there twice"),
        ('name = "clip"', 'name = "none"', "the option none protects nothing"),
        ('kind = "ff"', 'kind = "latch"', "kind is one of ff, sram, found 'latch'"),
        ("[[cell]]", "[[cell]", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_told_where_and_why(tmp_path, old, new, message):
    file = tmp_path / "own.toml"
    assert old in OWN
    file.write_text(OWN.replace(old, new, 1))
    with pytest.raises(ProtectionError) as caught:
        load_options(file)
    assert message in str(caught.value)
    assert "own.toml" in str(caught.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(ProtectionError, check=about("file")):
        load_options(tmp_path / "absent.toml")
