# SPDX-License-Identifier: Apache-2.0
"""Recordings as work: what is never compared, what counts twice, and what a verdict has to say of cycles."""

import pytest

from resil.campaign.campaign import load_campaign
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from resil.work.recording import close_target, recorded_work

DESIGN = """
module own(input logic clk, rst_n, input logic [3:0] data, output logic [3:0] sum, other);
  always_ff @(posedge clk)
    if (!rst_n) begin sum <= '0; other <= '0; end
    else begin sum <= sum + data; other <= data; end
endmodule
"""
TARGET = (
    'name = "own"\ntop = "own"\nsources = ["own.sv"]\nclock = "clk"\nreset = "rst_n"\n[blocks]\ntop = "."\n'
)
CAMPAIGN = """
[campaign]
name = "own"
seed = 1
[target]
file = "target.toml"
[workload]
waves = WAVES
instance = "tb.u"
STROBES
[faults]
kinds = ["ff"]
injections = 20
[technology]
name = "finfet-16nm"
"""


def recording(file, *, data=None, other="known", first=1, periods=None, reset=2):
    """Write a recording: in reset for its first cycles; `other` is X throughout if it is not known."""
    periods = periods or (10,) * (12 if data is None else len(data))
    data = data or [(first + 3 * cycle) & 15 for cycle in range(len(periods))]
    lines = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u $end"]
    variables = ((1, "c", "clk"), (1, "r", "rst_n"), (4, "d", "data"), (4, "s", "sum"), (4, "o", "other"))
    lines += [f"$var wire {width} {code} {name} $end" for width, code, name in variables]
    lines += [
        "$upscope $end",
        "$upscope $end",
        "$enddefinitions $end",
        "#0",
        "0c",
        "0r",
        "b0 d",
        "b0 s",
        "bx o",
    ]
    time, total, last = 0, 0, 0
    for cycle, (period, word) in enumerate(zip(periods, data, strict=True)):
        lines += [f"#{time + 1}", f"b{word:b} d", *(["1r"] if cycle == reset else [])]
        lines += [f"#{time + period // 2}", "1c"]
        total, last = ((total + word) & 15, word) if cycle >= reset else (0, 0)
        lines += [f"b{total:b} s", *([f"b{last:b} o"] if other == "known" else [])]
        time += period
        lines += [f"#{time}", "0c"]
    file.write_text("\n".join(lines) + "\n")


@pytest.fixture
def work(tmp_path):
    (tmp_path / "own.sv").write_text(DESIGN)
    (tmp_path / "target.toml").write_text(TARGET)

    def made(*names, strobes=""):
        waves = "[" + ", ".join(f'"{name}"' for name in names) + "]"
        file = tmp_path / "campaign.toml"
        file.write_text(CAMPAIGN.replace("WAVES", waves).replace("STROBES", strobes))
        campaign = load_campaign(file)
        closed = close_target(campaign, campaign.work, load_target(tmp_path / "target.toml"))
        return recorded_work(campaign, campaign.work, closed)

    made.folder = tmp_path
    return made


def test_an_output_that_is_unknown_throughout_is_in_what_every_verdict_says(work):
    recording(work.folder / "x.vcd", other="x")
    recording(work.folder / "known.vcd")
    assert "Never compared, as X or Z or not valid throughout: other." in work("x.vcd").facts.remarks[0]
    assert "Never compared" not in work("known.vcd").facts.remarks[0]
    # One recording in which it is known is enough.
    recording(work.folder / "more.vcd", first=2)
    assert "Never compared" not in work("x.vcd", "more.vcd").facts.remarks[0]


@pytest.mark.parametrize(
    "strobe",
    [
        'outputs = ["other"]\ncycles = [[500, 900]]',
        'outputs = ["other"]\nwhen = ["!rst_n"]\ncycles = [[9, 11]]',
    ],
)
def test_a_strobe_that_never_compares_an_output_is_refused(work, strobe):
    """The fault: others were compared, so a design met its budget with no fault seen in this one."""
    recording(work.folder / "a.vcd")
    with pytest.raises(
        HarnessError, match=r"expected known values of other where its strobe.*compared = false"
    ):
        work("a.vcd", strobes=f"[[workload.strobes]]\n{strobe}\n")
    work("a.vcd", strobes='[[workload.strobes]]\noutputs = ["other"]\ncycles = [[5, 900]]\n')


@pytest.mark.parametrize("more", ["", "stream = true\n"])
def test_what_is_valid_nowhere_is_in_what_every_verdict_says(work, more):
    """A bus that a recording does not use."""
    recording(work.folder / "a.vcd")
    strobe = f'[[workload.strobes]]\noutputs = ["other"]\n{more}when = ["rst_n", "!rst_n"]\n'
    assert "not valid throughout: other." in work("a.vcd", strobes=strobe).facts.remarks[0]


def test_one_recording_twice_is_refused(work):
    recording(work.folder / "a.vcd")
    recording(work.folder / "b.vcd", first=2)
    (work.folder / "c.vcd").write_text("$comment again $end\n" + (work.folder / "a.vcd").read_text())
    work("a.vcd", "b.vcd")
    with pytest.raises(HarnessError, match=r"found .*c\.vcd, which is .*a\.vcd cycle by cycle"):
        work("a.vcd", "b.vcd", "c.vcd")


def test_cycles_of_different_length_and_those_in_reset_are_said(work):
    recording(work.folder / "even.vcd")
    recording(work.folder / "uneven.vcd", periods=(10,) * 9 + (1000,) * 3, reset=0)
    even, uneven = (work(name).facts.remarks[0] for name in ("even.vcd", "uneven.vcd"))
    assert "times their median" not in even
    assert "In 1 of 12 cycles a fault finds the design in reset." in even
    assert "to 100 times their median: faults are drawn evenly over cycles, not over time." in uneven
    assert "in reset" not in uneven
