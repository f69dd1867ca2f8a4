# SPDX-License-Identifier: Apache-2.0
"""Campaigns on a design that a test of cocotb drives: with each fault, or once and replayed."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter

import pyarrow.parquet as pq
import pytest

from resil.campaign.campaign import load_campaign
from resil.campaign.text import resolved_text
from resil.cli import main
from resil.errors import CampaignError
from resil.prepare.bench import prepare
from resil.prepare.targets import target_of
from resil.progress import Progress
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from testkit.recorded import copied_example

FAULTS = 200


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return copied_example("recording", tmp_path_factory.mktemp("example"))


@pytest.fixture
def written(example):
    """Write the campaign with other lines; return its file."""

    def write(*lines, name="own.toml", text=""):
        file = example / name
        given = text or (example / "cocotb.toml").read_text()
        for line in lines:
            table, _, rest = line.partition(".")
            given = given.replace(f"[{table}]\n", f"[{table}]\n{rest}\n", 1)
            if f"[{table}]\n" not in given:
                given += f"\n[{table}]\n{rest}\n"
        file.write_text(given)
        return file

    return write


def bench_of(file):
    return prepare(load_campaign(file), Progress(io.StringIO()))


@pytest.fixture(scope="module")
def both(example):
    """The same faults with the test reacting to them, and in the replay of what it drove without them."""
    text = (example / "cocotb.toml").read_text()
    bare = text[: text.index("[[workload.strobes]]")] + text[text.index("[faults]") :]
    found = {}
    ways = (("reacting", "cocotb", text), ("replayed", "verilator", text), ("each cycle", "verilator", bare))
    for name, engine, given in ways:
        file = example / f"{name.replace(' ', '_')}.toml"
        file.write_text(f'{given}\n[execution]\nengine = "{engine}"\n')
        bench = bench_of(file)
        if not found:
            draw = random.Random(7)
            with bench.engine(0) as engine_made:
                cycles = engine_made.golden().cycles
            faults = set()
            while len(faults) < FAULTS:
                faults.add(Fault(draw.randrange(bench.sites.size), draw.randrange(cycles)))
        with bench.engine(0) as engine_made:
            answers = {own.fault: own for own in engine_made.run(sorted(faults))}
        found[name] = {(bench.sites[fault.site].name, fault.cycle): own for fault, own in answers.items()}
    return found


def compared(one, other):
    """Count faults by whether they are wrong for one and for the other."""
    wrong = (Seen.SDC_CRITICAL, Seen.HANG)
    return Counter((own.seen in wrong, other[fault].seen in wrong) for fault, own in one.items())


def test_both_ways_say_the_same_of_an_environment_that_a_fault_does_not_make_react(both):
    """What the test calls wrong, or waits for in vain, differs in the replay, and nothing else does."""
    reacting, replayed = both["reacting"], both["replayed"]
    assert reacting.keys() == replayed.keys()
    assert len(reacting) == FAULTS
    pairs = compared(reacting, replayed)
    print("wrong for the test, wrong in the replay:", sorted(pairs.items()))
    assert (pairs[True, False], pairs[False, True]) == (0, 0)
    assert pairs[True, True] > 60
    assert pairs[False, False] > 60
    # A recording always ends.
    assert any(own.seen is Seen.HANG for own in reacting.values())
    assert not any(own.seen is Seen.HANG for own in replayed.values())


def test_a_replay_that_compares_each_cycle_sees_what_the_test_does_not_look_at(both):
    pairs = compared(both["reacting"], both["each cycle"])
    print("wrong for the test, wrong in a replay that compares each cycle:", sorted(pairs.items()))
    assert pairs[True, False] == 0
    assert 5 < pairs[False, True] < FAULTS // 2


def test_alarms_are_those_of_the_same_cycle(both):
    for fault, own in both["reacting"].items():
        other = both["replayed"][fault]
        assert (own.detected is None) == (other.detected is None), fault
        if own.detected is not None and fault[0].startswith("u_dut.u_taps.parity_q"):
            assert own.detected.cycle == other.detected.cycle == fault[1]


def test_a_list_is_injected_into_a_design_that_a_test_drives(both, example, tmp_path):
    """`--faults` on two real engines; and what one has written is what `import` counts."""
    chosen = random.Random(2).sample(sorted(both["reacting"]), 24)
    lines = ["site,type,time", *(f"{name},upset,{cycle}" for name, cycle in chosen)]
    (tmp_path / "list.csv").write_text("\n".join(lines) + "\n")
    for name in ("reacting", "replayed"):
        out = tmp_path / name
        asked = [str(example / f"{name}.toml"), "--faults", str(tmp_path / "list.csv"), "--out", str(out)]
        assert main(["run", *asked, "--quiet"]) == 0
        with (out / "faults.csv").open() as file:
            rows = [*csv.DictReader(file)]
        for row, fault in zip(rows, chosen, strict=True):
            own = both[name][fault]
            assert row["outcome"] == own.outcome.value
            assert row["end_cycle"] == str(own.end_cycle)
            assert (row["site"], int(row["time"])) == fault
    theirs = tmp_path / "theirs"
    asked = [str(tmp_path / "reacting" / "faults.csv"), "--campaign", str(example / "reacting.toml")]
    assert main(["import", *asked, "--out", str(theirs), "--quiet"]) == 0
    folders = (tmp_path / "reacting", theirs)
    one, other = (json.loads((folder / "listed.json").read_text()) for folder in folders)
    assert one["blocks"] == other["blocks"]
    assert (one["origin"], other["origin"]) == ("simulated", "imported")
    assert sum(one["blocks"][-1]["statuses"].values()) == 24


def test_a_list_with_a_site_that_the_design_does_not_have_is_refused(example, both, tmp_path, capsys):
    (tmp_path / "list.csv").write_text("site,type,time\nu_dut.u_taps.tap_q[0][9],upset,3\n")
    for name in ("reacting", "replayed"):
        asked = [str(example / f"{name}.toml"), "--faults", str(tmp_path / "list.csv")]
        assert main(["run", *asked, "--out", str(tmp_path / "out"), "--quiet"]) == 2
        assert "tap_q[0][9]" in capsys.readouterr().err


def test_a_run_belongs_to_its_test(example, written, tmp_path, monkeypatch, capsys):
    """Another test, or another module beside it, is another campaign; the words of the report say which."""
    monkeypatch.chdir(tmp_path)
    text = (example / "cocotb.toml").read_text().replace("minimum_per_block = 40", "")
    text = text.replace("injections = 400", "injections = 12")
    file = written(text=f'{text}\n[execution]\nengine = "cocotb"\n')
    assert main(["run", str(file), "--out", "run", "--quiet"]) == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert "test test_smooth:streams_words" in json.dumps(summary["verdict"])
    number = pq.read_table(next((tmp_path / "run" / "injections").glob("*.parquet")))["injection"][0]
    assert main(["replay", "run", str(number), "--quiet"]) == 0
    assert main(["run", str(file), "--out", "run", "--quiet"]) == 0
    # An engine that would replay a recording in its place cannot audit it.
    capsys.readouterr()
    assert main(["audit", "run", "-n", "5", "--quiet"]) == 2
    assert "record = false" in capsys.readouterr().err
    test = example / "test_smooth.py"
    before = test.read_text()
    try:
        test.write_text(before.replace("WORDS = 120", "WORDS = 119"))
        assert main(["run", str(file), "--out", "run", "--quiet"]) == 2
        assert "test" in capsys.readouterr().err
    finally:
        test.write_text(before)
    assert main(["run", str(file), "--out", "run", "--quiet"]) == 0


def test_a_recorded_run_stays_one_under_the_engine_that_could_run_the_test(
    example, written, tmp_path, monkeypatch, capsys
):
    """A waveform is written by the reference engine, which would let the test react."""
    monkeypatch.chdir(tmp_path)
    text = (example / "cocotb.toml").read_text().replace("minimum_per_block = 40", "")
    file = written(text=text.replace("injections = 400", "injections = 12"))
    assert main(["run", str(file), "--out", "run", "--quiet"]) == 0
    number = pq.read_table(next((tmp_path / "run" / "injections").glob("*.parquet")))["injection"][0]
    assert main(["replay", "run", str(number), "--waves", "fault.vcd", "--quiet"]) == 0
    assert "resil_replay" in (tmp_path / "fault.vcd").read_text()


def test_the_resolved_campaign_is_the_campaign(written):
    lines = [
        'workload.plusargs = ["a=1"]\nenv = { B = "2" }\nfailures = ["IndexError"]\nfiles = ["rtl.f"]',
        'workload.record = true\npython_path = [".", "rtl"]',
    ]
    campaign = load_campaign(written(*lines))
    again = campaign.file.with_name("again.toml")
    again.write_text(resolved_text(campaign))
    other = load_campaign(again)
    assert other.work == campaign.work
    assert campaign.work.files == {"rtl.f": campaign.file.parent / "rtl.f"}
    assert campaign.replays


@pytest.mark.parametrize(
    ("lines", "field", "says"),
    [
        (["workload.record = false"], "workload.record", "record = true"),
        (['faults.model = "stuck_at"', 'execution.engine = "cocotb"'], "faults.model", "record = true"),
        (["campaign.inferences = 2"], "campaign.inferences", "expected 1"),
        (["workload.env = { A = 1 }"], "workload.env", "quotes"),
        (['workload.files = ["../x"]'], "workload.files", "no file"),
        (['workload.python_path = ["nowhere"]'], "workload.python_path", "correct the path"),
        (['workload.instance = "top"'], "workload.instance", "unknown key"),
    ],
)
def test_what_a_test_cannot_be_asked_is_refused(lines, field, says, written):
    with pytest.raises(CampaignError, match=says) as raised:
        load_campaign(written(*lines))
    assert raised.value.field == field


@pytest.mark.parametrize("label", ["test_smooth", "test_smooth:", "test-smooth:a", ":streams_words"])
def test_a_test_has_a_module_and_a_name(label, example, written):
    text = (example / "cocotb.toml").read_text().replace("test_smooth:streams_words", label)
    with pytest.raises(CampaignError, match="a module and a test"):
        load_campaign(written(text=text))


def test_a_recording_of_a_campaign_with_two_inferences_is_refused(example):
    text = (example / "campaign.toml").read_text().replace("seed = 5", "seed = 5\ninferences = 2")
    (example / "twice.toml").write_text(text)
    with pytest.raises(CampaignError, match="expected 1"):
        load_campaign(example / "twice.toml")


def test_protection_asks_for_a_recording(written):
    file = written('execution.engine = "cocotb"')
    with pytest.raises(HarnessError, match="record = true"):
        target_of(load_campaign(file))
    replayed = load_campaign(written('execution.engine = "cocotb"', "workload.record = true"))
    assert target_of(replayed).dut == "u_dut"


def test_a_test_that_fails_without_a_fault_is_refused_on_both_ways(example, written, tmp_path, capsys):
    broken = example / "test_broken.py"
    broken.write_text((example / "test_smooth.py").read_text().replace(">> gain for i", ">> gain + 1 for i"))
    text = (example / "cocotb.toml").read_text().replace("test_smooth:", "test_broken:")
    try:
        for engine in ("cocotb", "verilator"):
            file = written(text=f'{text}\n[execution]\nengine = "{engine}"\n')
            assert main(["run", str(file), "--out", str(tmp_path / engine), "--quiet"]) == 2
            assert "expected the test to pass without a fault" in capsys.readouterr().err
    finally:
        broken.unlink()
