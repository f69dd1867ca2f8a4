# SPDX-License-Identifier: Apache-2.0
"""A campaign of stuck bits from file to verdict, on a small design of another kind."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from resil.cli import main
from resil.results.summary_parts import technology_record
from resil.stats.permanent import load_permanent

INJECTIONS = 60


@pytest.fixture(scope="module")
def text(repository):
    """The example on awkward RTL with stuck bits, few of them."""
    text = (repository / "examples" / "awkward" / "campaign.toml").read_text()
    for old, new in (
        ('"target.toml"', f'"{repository}/examples/awkward/target.toml"'),
        ('"source0.hex", "source1.hex"', f'"{repository}/examples/awkward/source0.hex"'),
        ("injections = 400", f'injections = {INJECTIONS}\nmodel = "stuck_at"'),
        ("minimum_per_block = 40", "minimum_per_block = 10"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def runs(text, tmp_path_factory):
    """The campaign on both engines."""
    folder = tmp_path_factory.mktemp("stuck")
    (folder / "campaign.toml").write_text(text)
    for engine in ("verilator", "cocotb"):
        out = str(folder / engine)
        assert main(["run", str(folder / "campaign.toml"), "--out", out, "--engine", engine]) == 0
    return folder


def rows(folder):
    tables = [pq.read_table(path).to_pylist() for path in (folder / "injections").glob("part-*.parquet")]
    return {row["injection"]: row for table in tables for row in table}


def test_both_engines_leave_the_same_injections(runs):
    fast, reference = rows(runs / "verilator"), rows(runs / "cocotb")
    assert fast == reference
    assert len(fast) == INJECTIONS
    assert {row["fault"] for row in fast.values()} == {"stuck_at_0", "stuck_at_1"}
    assert {(row["cycle"], row["bits"], row["operation"]) for row in fast.values()} == {(0, 1, -1)}
    assert len({row["outcome"] for row in fast.values()}) > 2


def test_fit_is_that_of_permanent_faults(runs):
    summary = json.loads((runs / "verilator" / "summary.json").read_text())
    rates, target = load_permanent("finfet-16nm"), summary["target"]
    raw = sum(target[f"{kind}_bits"] * rates.fit_per_bit(kind) for kind in ("ff", "sram"))
    assert summary["campaign"]["fault_model"] == "stuck_at"
    assert summary["total"]["fit_raw"] == pytest.approx(raw)
    assert 0 < summary["total"]["fit"] < raw
    assert summary["technology"] == technology_record(rates.of_pins()).plain()
    notes = " ".join(summary["notes"])
    assert "held at 0 or at 1 from reset on" in notes
    assert "upset" not in notes
    assumed = next(a["text"] for a in summary["assumptions"] if a["topic"] == "raw rates")
    assert "81.6 FIT per 10^6 flip-flops, 0.213 to 288 (assumed)" in assumed


def test_verdict_and_assumptions_speak_of_stuck_bits(runs):
    summary = json.loads((runs / "verilator" / "summary.json").read_text())
    assert summary["verdict"]["scope"].startswith("permanent faults alone; all storage: 337 flip-flops")
    told = {a["topic"]: a["text"] for a in summary["assumptions"]}
    assert "held at 0 or at 1 from reset on; upsets are not in these figures" in told["scope"]
    assert "permanent faults of logic" in told["scope"]
    assert "multi-cell" not in told["scope"]
    assert "a permanent fault is there in each" in told["clock and operation"]
    assert "inferences = 2" not in told["clock and operation"]


def test_what_is_lost_is_made_again_the_same(runs, capsys):
    folder = runs / "verilator"
    before = rows(folder)
    for part in (folder / "injections").glob("part-*.parquet"):
        part.unlink()
    (folder / "summary.json").unlink()
    assert main(["run", str(runs / "campaign.toml"), "--out", str(folder), "--resume"]) == 0
    assert rows(folder) == before


def test_an_injection_is_replayed_on_either_engine(runs, capsys):
    folder = runs / "verilator"
    worst = next(n for n, row in sorted(rows(folder).items()) if row["outcome"] != "masked")
    for engine in ("verilator", "cocotb"):
        capsys.readouterr()
        assert main(["replay", str(folder), str(worst), "--engine", engine]) == 0
        out = capsys.readouterr().out
        assert out.endswith("equal\n")
        assert "from reset on" in out


def test_a_folder_of_upsets_is_another_campaign(runs, text, capsys):
    other = runs / "upsets.toml"
    other.write_text(text.replace('model = "stuck_at"', ""))
    assert main(["run", str(other), "--out", str(runs / "verilator")]) == 2
    assert "fault model (stuck_at there, upset here)" in capsys.readouterr().err


def test_what_is_predicted_is_about_upsets(tmp_path, repository, capsys):
    campaign = str(repository / "examples" / "stuck_at.toml")
    assert main(["estimate", campaign, "--out", str(tmp_path / "estimate")]) == 2
    assert "know nothing of permanent faults" in capsys.readouterr().err
