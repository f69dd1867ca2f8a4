# SPDX-License-Identifier: Apache-2.0
"""The table [workload] of a recording: read, kept as text, and refused by key."""

from pathlib import Path

import pytest

from resil.campaign.campaign import load_campaign
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.text import campaign_text
from resil.errors import CampaignError
from resil.rtl_harness.replay.strobes import Strobe

HEAD = """\
[campaign]
name = "replayed"
seed = 1
[target]
name = "ethos-u55-32"
[faults]
injections = 10
[technology]
name = "finfet-16nm"
[workload]
"""
FULL = """\
waves = ["a.vcd", "b.fst"]
instance = "tb.u_dut"
from = "10 ns"
to = "20 us"
at_edge = ["rst_i"]
clocks = ["slow_i"]
parameters = { Width = 4 }
[[workload.strobes]]
outputs = ["data_*"]
when = ["valid_o", "!stall_i"]
stream = true
tolerance = 2
signed = true
[[workload.strobes]]
outputs = ["level_o"]
cycles = [3, [10, 20]]
[[workload.strobes]]
outputs = ["debug_o"]
compared = false
"""


@pytest.fixture
def written(tmp_path):
    for name in ("a.vcd", "b.fst", "c.txt"):
        (tmp_path / name).touch()

    def write(text):
        file = tmp_path / "campaign.toml"
        file.write_text(HEAD + text)
        return file

    return write


def test_all_keys(written, tmp_path):
    campaign = load_campaign(written(FULL))
    assert campaign.work == RecordingSettings(
        name="replayed",
        waves=(tmp_path / "a.vcd", tmp_path / "b.fst"),
        instance="tb.u_dut",
        begin="10 ns",
        end="20 us",
        at_edge=("rst_i",),
        clocks=("slow_i",),
        strobes=(
            Strobe(("data_*",), when=("valid_o", "!stall_i"), stream=True, tolerance=2, signed=True),
            Strobe(("level_o",), cycles=((3, 3), (10, 20))),
            Strobe(("debug_o",), compared=False),
        ),
        parameters={"Width": 4},
    )


@pytest.mark.parametrize(
    "text",
    [
        FULL,
        'waves = "a.vcd"\ninstance = "tb.u_dut"\n',
        'waves = "a.vcd"\ninstance = "tb.u_dut"\nsampled = "at"\n',
    ],
)
def test_its_text_is_read_back_as_the_same(written, text, tmp_path):
    campaign = load_campaign(written(text))
    again = tmp_path / "again.toml"
    again.write_text(campaign_text(campaign))
    assert load_campaign(again).work == campaign.work


SHORT = 'waves = "a.vcd"\ninstance = "tb.u_dut"\n'
ROW = SHORT + '[[workload.strobes]]\noutputs = ["a"]\n'
REFUSED = {
    'waves = "none.vcd"\ninstance = "t"\n': "waves",
    'waves = "c.txt"\ninstance = "t"\n': "waves",
    "waves = []\ninstance = 't'\n": "waves",
    'waves = "a.vcd"\n': "instance",
    SHORT + 'sampled = "after"\n': "sampled",
    SHORT + 'sampled = "at"\nclocks = ["slow_i"]\n': "sampled",
    SHORT + 'decision = "exact"\n': "decision",
    SHORT + "strobes = []\n": "strobes",
    ROW + "stream = true\n": "when",
    ROW + 'stream = true\nwhen = ["v"]\ncycles = [1]\n': "cycles",
    ROW + "cycles = [[5, 3]]\n": "cycles",
    ROW + "cycles = []\n": "cycles",
    ROW + "tolerance = -1\n": "tolerance",
    ROW + "rule = 1\n": "rule",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_wrong_is_named(written, text):
    with pytest.raises(CampaignError) as raised:
        load_campaign(written(text))
    assert REFUSED[text] in str(raised.value.field)


def test_paths_are_absolute(written):
    assert all(Path(file).is_absolute() for file in load_campaign(written(FULL)).work.waves)
