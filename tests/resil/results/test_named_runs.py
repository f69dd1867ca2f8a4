# SPDX-License-Identifier: Apache-2.0
"""A verdict that joins a campaign of upsets with one of stuck bits and one of pulses, on a small design."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from resil.cli import main
from resil.errors import ExitCode, StoreError
from resil.record.blocks import NO_SITES
from resil.results import named_runs
from resil.stats.logic_rates import load_logic
from resil.stats.technology import load_technology

SAFETY = """
[safety]
asil = "B"
claims = ["spfm_transient", "spfm_permanent", "lfm_permanent", "pmhf_share", "sensitivity"]
pmhf_fit = 50.0
pmhf_rationale = "half of the item's, for the test"
permanent = "stuck"
lifetime_hours = 1e5
[[safety.mechanism]]
alarm = "error"
coverage = 0.5
storage = ["u_dut.u_control.round_q"]
"""


@pytest.fixture(scope="module")
def folder(repository, tmp_path_factory):
    """A folder with both campaigns, the one of stuck bits finished in `stuck`."""
    folder = tmp_path_factory.mktemp("joined")
    text = (repository / "examples" / "awkward" / "campaign.toml").read_text()
    for old, new in (
        ('"target.toml"', f'"{repository}/examples/awkward/target.toml"'),
        ('"source0.hex", "source1.hex"', f'"{repository}/examples/awkward/source0.hex"'),
    ):
        assert old in text
        text = text.replace(old, new)
    stuck = text.replace("injections = 400", 'injections = 400\nmodel = "stuck_at"')
    (folder / "stuck.toml").write_text(stuck)
    (folder / "upsets.toml").write_text(text + SAFETY)
    (folder / "ended.toml").write_text(stuck.replace("[execution]", '[execution]\nuntil = "detection"'))
    (folder / "other.toml").write_text(stuck.replace('"exact"', '"top1"'))
    assert main(["run", str(folder / "stuck.toml"), "--out", str(folder / "stuck")]) == 0
    return folder


def judge(folder, changes=None):
    text = (folder / "upsets.toml").read_text()
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new)
    file = folder / "judged.toml"
    file.write_text(text)
    code = main(["run", str(file), "--out", str(folder / "upsets")])
    summary = json.loads((folder / "upsets" / "summary.json").read_text())
    return code, summary, {row["name"]: row for row in summary["safety"]["rows"]}


def test_permanent_rows_come_from_the_other_folder(folder):
    code, summary, rows = judge(folder)
    stuck = json.loads((folder / "stuck" / "summary.json").read_text())
    expected = 1 - stuck["total"]["fit"] / stuck["total"]["fit_raw"]
    assert rows["spfm_permanent"]["value"] == pytest.approx(expected)
    assert rows["spfm_permanent"]["lo"] == pytest.approx(
        1 - stuck["total"]["fit_hi"] / stuck["total"]["fit_raw"]
    )
    assert "400 stuck bits of" in rows["spfm_permanent"]["origin"]
    both = summary["total"]["fit"] + stuck["total"]["fit"]
    assert rows["pmhf_share"]["value"] == pytest.approx(both)
    assert "dual-point term over 100,000 hours" in rows["pmhf_share"]["reason"]
    assert rows["lfm_permanent"]["value"] is not None
    assert code == {"met": 0, "missed": 1}.get(summary["safety"]["result"], 3)
    titles = [variation["title"] for variation in summary["safety"]["sensitivity"]]
    assert "base rates of permanent faults highest" in titles


def test_faults_of_the_mechanism_that_nothing_tells_of_are_latent(folder):
    """The storage of the mechanism is 8 of the design's bits; its quiet faults are all that is latent."""
    _, _, rows = judge(folder)
    stuck = json.loads((folder / "stuck" / "summary.json").read_text())
    per_bit = next(s["fit_raw"] / s["bits"] for s in stuck["strata"] if s["kind"] == "ff")
    most = 8 * per_bit / (stuck["total"]["fit_raw"] - stuck["total"]["fit"])
    assert "faults in their logic are not in it" in rows["lfm_permanent"]["reason"]
    assert 1 - most - 1e-12 <= rows["lfm_permanent"]["value"] <= 1.0


@pytest.mark.parametrize(
    ("permanent", "told"),
    [
        ("nowhere", "cannot be used"),
        ("unfinished", "expected a finished run"),
        ("failed", "failed"),
        ("altered", "altered"),
        ("fewer", "expected the 400 injections"),
        ("other", "expected a campaign on the same target and network, found another"),
        ("ended", 'expected a run with [execution] until = "end", found "detection"'),
        ("upsets", 'expected a campaign with [faults] model = "stuck_at", found "upset"'),
    ],
)
def test_a_folder_that_cannot_be_used_leaves_the_rows_unassessed(folder, permanent, told):
    _spoil(folder, permanent)
    code, summary, rows = judge(folder, {'permanent = "stuck"': f'permanent = "{permanent}"'})
    for name in ("spfm_permanent", "lfm_permanent", "pmhf_share"):
        assert rows[name]["state"] == "not assessed"
        assert told in rows[name]["reason"]
    assert summary["safety"]["result"] in ("not assessed", "missed")
    assert code in (1, 3)


def _spoil(folder, name):
    path = folder / name
    if name in ("nowhere", "upsets") or path.exists():
        return
    if name in ("other", "ended"):
        assert main(["run", str(folder / f"{name}.toml"), "--out", str(path)]) == 0
        return
    shutil.copytree(folder / "stuck", path)
    provenance = json.loads((path / "provenance.json").read_text())
    if name == "unfinished":
        provenance["finished"] = None
    elif name == "failed":
        provenance["failed"] = "an audit failed"
    elif name == "altered":
        text = (path / "summary.json").read_text()
        (path / "summary.json").write_text(text.replace('"hang": ', '"hang":  '))
    elif name == "fewer":
        next((path / "injections").glob("part-*.parquet")).unlink()
    (path / "provenance.json").write_text(json.dumps(provenance))


def test_storage_of_a_mechanism_that_is_not_there_is_refused(folder, capsys):
    text = (folder / "upsets.toml").read_text().replace("round_q", "rounds_q")
    (folder / "wrong.toml").write_text(text)
    assert main(["run", str(folder / "wrong.toml"), "--out", str(folder / "wrong")]) == 2
    assert "found none below u_dut.u_control.rounds_q" in capsys.readouterr().err


def test_a_mechanism_that_synthesis_merges_away_is_refused(folder, capsys):
    """The twin of a register that always holds the same is one flip-flop in hardware, and guards nothing."""
    text = (folder / "upsets.toml").read_text().replace("round_q", "twin_q")
    (folder / "wrong.toml").write_text(text)
    assert main(["run", str(folder / "wrong.toml"), "--out", str(folder / "wrong")]) == 2
    assert "synthesis leaves nothing of u_dut.u_control.twin_q" in capsys.readouterr().err


def test_upsets_cannot_be_judged_by_a_campaign_of_stuck_bits(folder, capsys):
    text = (
        (folder / "upsets.toml")
        .read_text()
        .replace("injections = 400", 'injections = 400\nmodel = "stuck_at"')
    )
    (folder / "wrong.toml").write_text(text)
    assert main(["run", str(folder / "wrong.toml"), "--out", str(folder / "wrong")]) == 2
    assert "stuck_at" in capsys.readouterr().err


PULSES = 'kinds = ["logic"]\nmodel = "set"'


@pytest.fixture(scope="module")
def pulses(folder):
    """A campaign of pulses on the same design, finished in `pulses`."""
    text = (folder / "stuck.toml").read_text()
    for old, new in (
        ('kinds = ["ff", "sram"]', PULSES),
        ('\nmodel = "stuck_at"', ""),
        ("injections = 400", "injections = 300"),
        ("minimum_per_block = 40", "minimum_per_block = 20"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "pulses.toml").write_text(text)
    assert main(["run", str(folder / "pulses.toml"), "--out", str(folder / "pulses")]) == 0
    return json.loads((folder / "pulses" / "summary.json").read_text())


def test_transient_rows_take_the_pulses_of_the_other_folder(folder, pulses, capsys):
    _, alone, _ = judge(folder)
    _, summary, rows = judge(folder, {'permanent = "stuck"': 'permanent = "stuck"\nlogic = "pulses"'})
    figures = {own["quantity"]: own["value"] for own in pulses["technology"]["entries"]}
    derating = figures["survival"] * (figures["pulse_ps"] + figures["window_ps"]) * figures["clock_mhz"] / 1e6
    raw = summary["total"]["fit_raw"] + pulses["total"]["fit_raw"] / derating
    bad = summary["total"]["fit"] + pulses["total"]["fit"] / derating
    assert rows["spfm_transient"]["value"] == pytest.approx(1 - bad / raw)
    assert "pulses of" in rows["spfm_transient"]["origin"]
    assert "not derated" in rows["spfm_transient"]["origin"]
    assert "transients in logic" not in rows["spfm_transient"]["reason"]
    stuck = json.loads((folder / "stuck" / "summary.json").read_text())
    assert rows["pmhf_share"]["value"] == pytest.approx(bad + stuck["total"]["fit"])
    assert "Without permanent faults of logic" in rows["pmhf_share"]["reason"]
    scope = {a["topic"]: a["text"] for a in summary["assumptions"]}["scope"]
    assert "The safety rows take transients in logic, too" in scope
    assert "Not assessed: transients in clock and reset trees but clock gates" in scope
    before = {a["topic"]: a["text"] for a in alone["assumptions"]}["scope"]
    assert "Not assessed: transients in logic" in before
    shares = {own["block"]: own for own in summary["logic"]}
    struck = {own["block"] for run in (summary, pulses) for own in run["blocks"] if own["injections"]}
    assert set(shares) == {*struck, "total"}
    assert shares["total"]["share"] == pytest.approx(pulses["total"]["fit"] / derating / bad)
    assert "Hazardous FIT in logic" in capsys.readouterr().out
    assert alone["logic"] == []


def test_a_budget_that_storage_alone_keeps_is_kept_with_logic(folder, pulses, capsys):
    """The fault: PROTECTED and exit code 0, with a remark that logic is above the budget."""
    _, summary, _ = judge(folder, {'permanent = "stuck"': 'permanent = "stuck"\nlogic = "pulses"'})
    storage, total = summary["verdict"]["corner_fit"][2], summary["logic"][-1]
    assert total["logic_highest"] > 1.0
    logic = total["logic_hi"] * total["logic_highest"]
    asked = storage + 0.5 * logic
    wanted = ["protect", str(folder / "upsets"), "--budget-fit", str(asked), "--waive", "spfm", "--json"]
    capsys.readouterr()
    main(wanted)
    found = json.loads(capsys.readouterr().out)
    assert found["result"] == "optimal"
    assert found["logic"]["with_storage_hi"] <= asked
    judge(folder)
    capsys.readouterr()
    assert main(wanted) == ExitCode.MET
    assert json.loads(capsys.readouterr().out)["area_added"] < found["area_added"]


PERMANENT = {'permanent = "stuck"': 'permanent = "stuck"\npermanent_logic = "pins"'}


def chosen(folder, capsys, *asked):
    capsys.readouterr()
    code = main(["protect", str(folder / "upsets"), *asked, "--json", "--quiet"])
    out = capsys.readouterr()
    return code, json.loads(out.out) if out.out else out.err


def test_a_claimed_limit_of_permanent_faults_is_one_of_the_choice(folder, pins, capsys):
    """The fault: storage was chosen for upsets, and the SPFM of permanent faults was no target of it."""
    _, summary, rows = judge(folder, {**PERMANENT, 'asil = "B"': "spfm = 0.4\nlfm = 0.1"})
    before = rows["spfm_permanent"]
    assert before["lo"] < 0.4
    code, plan = chosen(folder, capsys, "--budget-fit", "1e9")
    assert code == ExitCode.MET
    assert plan["permanent_spfm_target"] == 0.4
    (own,) = plan["networks"]
    assert own["permanent"]["corner_spfm_lo"] >= 0.4
    assert own["permanent"]["copied"]
    shares = {o["block"]: o for o in summary["logic"] if o["faults"] == "permanent"}
    left = sum(
        o["logic_fit"] * (0.02 if name in own["permanent"]["copied"] else 1.0)
        for name, o in shares.items()
        if name != "total"
    )
    assert own["permanent"]["logic_fit"] == pytest.approx(left)
    code, waived = chosen(folder, capsys, "--budget-fit", "1e9", "--waive", "spfm_permanent")
    assert (code, waived["networks"][0]["permanent"]) == (ExitCode.MET, None)
    assert waived["area_added"] < plan["area_added"]
    assert "SPFM of permanent faults of at least 0.4 is waived" in waived["waived"][0]
    assert "Not chosen against permanent faults" in "".join(waived["assumptions"])


def test_without_stuck_pins_permanent_faults_are_those_of_storage_and_it_is_said(folder, pins, capsys):
    judge(folder, {'asil = "B"': "spfm = 0.4\nlfm = 0.1"})
    waived = ("--waive", "spfm", "--waive", "spfm_permanent")
    code, plan = chosen(folder, capsys, "--permanent-fit", "0.01", *waived)
    assert code == ExitCode.MET
    (own,) = plan["networks"]
    assert own["permanent"]["logic_fit"] is None
    assert own["permanent"]["corner_fit_hi"] <= 0.01
    assert any("No run of stuck pins is named" in text for text in plan["assumptions"])


def test_a_limit_of_permanent_faults_without_a_run_of_them_is_refused(folder, pins, capsys):
    """The faults: a limit was kept by a set of which nothing is known, or by another run than was judged."""
    judge(folder, PERMANENT)
    kept = folder / "stuck"
    aside = folder / "aside"
    kept.rename(aside)
    text = (folder / "stuck.toml").read_text().replace("injections = 400", "injections = 700")
    (folder / "more.toml").write_text(text)
    assert main(["run", str(folder / "more.toml"), "--out", str(kept), "--quiet"]) == 0
    try:
        code, said = chosen(folder, capsys, "--budget-fit", "1e9", "--permanent-fit", "1")
        assert code == 2
        assert "that run has changed since" in said
    finally:
        shutil.rmtree(kept)
        aside.rename(kept)
    judge(folder, {'permanent = "stuck"': 'permanent = "nowhere"'})
    code, said = chosen(folder, capsys, "--budget-fit", "1e9", "--permanent-fit", "1")
    assert code == 2
    assert "expected what its [safety] permanent says of stuck bits, found nothing" in said
    lines = {'permanent = "stuck"\n': "", '"spfm_permanent", "lfm_permanent", "pmhf_share", ': ""}
    judge(folder, lines)
    code, said = chosen(folder, capsys, "--budget-fit", "1e9", "--permanent-fit", "1")
    assert code == 2
    assert "names one of stuck bits, found none" in said


def test_derated_rates_are_taken_if_they_are_asked_for(folder, pulses):
    named = {'permanent = "stuck"': 'permanent = "stuck"\nlogic = "pulses"\nderated = true'}
    _, summary, rows = judge(folder, named)
    bad = summary["total"]["fit"] + pulses["total"]["fit"]
    assert rows["spfm_transient"]["value"] == pytest.approx(
        1 - bad / (summary["total"]["fit_raw"] + pulses["total"]["fit_raw"])
    )
    assert "derated to 0.02 by timing and attenuation" in rows["spfm_transient"]["origin"]


@pytest.mark.parametrize(
    ("line", "rows_lost", "told"),
    [
        ('logic = "stuck"', "spfm_transient", 'expected a campaign with [faults] model = "set"'),
        ('logic = "nowhere"', "spfm_transient", "[safety] logic cannot be used"),
        (
            'permanent_logic = "pulses"',
            "spfm_permanent",
            'model = "stuck_at" and kinds = ["logic"], found "set"',
        ),
        ('permanent_logic = "stuck"', "spfm_permanent", 'found "stuck_at" of ff, macro, sram'),
    ],
)
def test_a_run_of_other_faults_is_refused(folder, pulses, line, rows_lost, told):
    _, summary, rows = judge(folder, {'permanent = "stuck"': f'permanent = "stuck"\n{line}'})
    for name in (rows_lost, "pmhf_share"):
        assert (rows[name]["state"], rows[name]["value"]) == ("not assessed", None)
        assert told in rows[name]["reason"]
    assert summary["safety"]["result"] in ("not assessed", "missed")
    assert [own for own in summary["logic"] if own["faults"] == rows_lost.removeprefix("spfm_")] == []


def test_pulses_are_no_permanent_faults_of_storage(folder, pulses):
    _, _, rows = judge(folder, {'permanent = "stuck"': 'permanent = "pulses"'})
    assert rows["spfm_permanent"]["state"] == "not assessed"
    assert (
        'expected a campaign with [faults] model = "stuck_at", found "set"'
        in rows["spfm_permanent"]["reason"]
    )


@pytest.fixture(scope="module")
def pins(folder):
    """Summaries of a run of stuck pins, and of one of stuck bits and pins together."""
    found = []
    for name, kinds, injections in (("pins", '["logic"]', 300), ("both", '["ff", "sram", "logic"]', 500)):
        text = (folder / "stuck.toml").read_text().replace('["ff", "sram"]', kinds)
        text = text.replace("injections = 400", f"injections = {injections}")
        (folder / f"{name}.toml").write_text(text)
        assert main(["run", str(folder / f"{name}.toml"), "--out", str(folder / name)]) in (0, 1, 3)
        found.append(json.loads((folder / name / "summary.json").read_text()))
    return found


def test_stuck_pins_are_added_to_stuck_bits_and_no_longer_said_to_be_missing(folder, pins):
    stuck = json.loads((folder / "stuck" / "summary.json").read_text())
    named = {'permanent = "stuck"': 'permanent = "stuck"\npermanent_logic = "pins"'}
    _, summary, rows = judge(folder, named)
    runs = (stuck["total"], pins[0]["total"])
    expected = 1 - sum(own["fit"] for own in runs) / sum(own["fit_raw"] for own in runs)
    assert rows["spfm_permanent"]["value"] == pytest.approx(expected)
    assert "300 stuck pins of 10,066 of" in rows["spfm_permanent"]["origin"]
    assert "permanent faults of logic" not in json.dumps(summary["safety"]["rows"])
    # The mechanism names a register: the pins of its flip-flops are no comparator.
    bare = "no gate lies below the storage of error: faults in its logic are not in it"
    assert bare in rows["lfm_permanent"]["reason"]
    assert bare in rows["pmhf_share"]["reason"]
    whole = {**named, '["u_dut.u_control.round_q"]': '["u_dut.u_control"]'}
    _, _, rows = judge(folder, whole)
    assert "faults in its logic" not in rows["lfm_permanent"]["reason"] + rows["pmhf_share"]["reason"]
    _, summary, rows = judge(folder, named)
    titles = [variation["title"] for variation in summary["safety"]["sensitivity"]]
    assert "base rates of permanent faults highest and of logic highest" in titles
    share = next(own for own in summary["logic"] if (own["faults"], own["block"]) == ("permanent", "total"))
    assert share["share"] == pytest.approx(runs[1]["fit"] / sum(own["fit"] for own in runs))


def test_faults_in_logic_are_counted_before_and_after_equal_ones_are_joined(folder, pulses, pins, capsys):
    """The fault: how many faults there are, and how many a run has to simulate, was in a benchmark alone."""
    stuck = json.loads((folder / "stuck" / "summary.json").read_text())
    assert stuck["target"]["logic_faults"] is None
    held, both = (own["target"]["logic_faults"] for own in pins)
    assert held == both
    assert held["faults"] == 2 * 10_066
    assert held["faults"] / 3 < held["classes"] < held["faults"]
    struck = pulses["target"]["logic_faults"]
    assert struck["faults"] == sum({own["block"]: own["bits"] for own in pulses["strata"]}.values())
    assert struck["faults"] / 3 < struck["classes"] < struck["faults"]
    for name, what, own in (("pins", "stuck pins", held), ("pulses", "pulses of a cycle", struck)):
        said = f"{own['faults']:,} {what} in {own['classes']:,} classes of equal faults"
        assert said in (folder / name / "report.html").read_text()
        capsys.readouterr()
        main(["run", str(folder / f"{name}.toml"), "--out", str(folder / name), "--resume"])
        assert said in capsys.readouterr().out


def test_one_run_of_stuck_bits_and_pins_stands_for_both(folder, pins):
    _, summary, rows = judge(folder, {'permanent = "stuck"': 'permanent = "both"'})
    total = pins[1]["total"]
    assert rows["spfm_permanent"]["value"] == pytest.approx(1 - total["fit"] / total["fit_raw"])
    assert "500 stuck bits and pins of" in rows["spfm_permanent"]["origin"]
    assert "permanent faults of logic" not in json.dumps(summary["safety"]["rows"])
    assert rows["lfm_permanent"]["value"] is not None


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ('permanent = "pins"', 'found "stuck_at" of logic'),
        ('permanent = "stuck"\npermanent_logic = "both"', 'found "stuck_at" of ff, macro, sram, logic'),
        ('permanent = "both"\npermanent_logic = "pins"', "remove permanent_logic"),
    ],
)
def test_no_fault_is_counted_twice_or_left_out_unsaid(folder, pins, named, told):
    _, _, rows = judge(folder, {'permanent = "stuck"': named})
    assert (rows["spfm_permanent"]["state"], rows["spfm_permanent"]["value"]) == ("not assessed", None)
    assert told in rows["spfm_permanent"]["reason"]


def test_a_campaign_of_pulses_is_judged_by_that_of_upsets(folder, pulses, capsys):
    text = (folder / "pulses.toml").read_text() + SAFETY
    (folder / "wrong.toml").write_text(text)
    assert main(["run", str(folder / "wrong.toml"), "--out", str(folder / "wrong")]) == 2
    assert "whose key logic names this one's run" in capsys.readouterr().err


HERE = {"target": "t", "rtl": "r", "network": "n", "sites": "s", "decision": "exact", "resil": "1"}


def _finished(monkeypatch, counts=None, **definition):
    """A finished run with this definition, and the bench of another campaign."""
    here = {**HERE, "workloads": "w"}
    recorded = {**here, "sites": "with cells", "netlist": "n", **definition}
    monkeypatch.setattr(named_runs, "recorded_definition", lambda path: recorded)
    monkeypatch.setattr(named_runs, "read_strata", lambda path: SimpleNamespace(rated=False))
    strata = [
        SimpleNamespace(block=block, kind="logic", counts={"masked": number})
        for block, number in (counts or {"a": 9, "b": 9}).items()
    ]
    summary = SimpleNamespace(
        campaign=SimpleNamespace(fault_model="set", kinds=("logic",), until="end"),
        sampling=SimpleNamespace(looks=(1,), pilot=0),
        strata=strata,
    )
    hashes = {"target": "t", "rtl": "r", "network": "n"}
    bench = SimpleNamespace(hashes=hashes, identity=SimpleNamespace(definition=here))
    return SimpleNamespace(path=Path("runs/pulses"), summary=summary), bench


@pytest.mark.parametrize("name", ["target", "rtl", "network", "decision", "resil"])
def test_a_run_on_something_else_is_refused(monkeypatch, name):
    found, bench = _finished(monkeypatch)
    named_runs._check(found, bench, named_runs._LOGIC)
    found, bench = _finished(monkeypatch, **{name: "another"})
    with pytest.raises(StoreError, match=f"found another {name}"):
        named_runs._check(found, bench, named_runs._LOGIC)


@pytest.mark.parametrize(
    ("counts", "changed", "netlists", "told"),
    [
        (None, {"workloads": "others"}, {}, "expected a campaign on the same inputs"),
        (None, {}, {"pins": "of another library"}, "expected the netlist of pins, found another one"),
        ({"a": 9, "b": 0}, {}, {}, "found none into b"),
        ({"a": 0}, {}, {}, "found none into a"),
    ],
)
def test_rates_in_logic_are_added_only_to_those_of_the_same(monkeypatch, counts, changed, netlists, told):
    found, bench = _finished(monkeypatch)
    named_runs._check_logic(found, bench, {"pins": "n"})
    found, bench = _finished(monkeypatch, counts, **changed)
    with pytest.raises(StoreError, match=re.escape(told)):
        named_runs._check_logic(found, bench, netlists)


def test_a_run_without_strata_has_injected_nothing(monkeypatch):
    found, bench = _finished(monkeypatch)
    found.summary.strata = []
    with pytest.raises(StoreError, match="found none into any"):
        named_runs._check_logic(found, bench, {})


def test_storage_that_was_struck_does_not_stand_for_the_logic_of_its_block(monkeypatch):
    """The fault: in a run of both a block passed though none of its cells was struck."""
    found, bench = _finished(monkeypatch)
    one = SimpleNamespace(block="b", kind="ff", counts={"masked": 9})
    found.summary.strata = [
        *found.summary.strata[:1],
        one,
        SimpleNamespace(block="b", kind="logic", counts={}),
    ]
    with pytest.raises(StoreError, match="found none into b"):
        named_runs._check_logic(found, bench, {})


def test_cells_without_sites_are_said_to_be_in_no_row(folder, pulses, monkeypatch):
    """The fault: what a run of logic could not strike was said in its own report alone."""
    note = f"3 {NO_SITES}, as it drives a clock: u_a.U1"
    monkeypatch.setattr(named_runs, "_without_sites", lambda found: [f"{note}."])
    _, _, rows = judge(folder, {'permanent = "stuck"': 'permanent = "stuck"\nlogic = "pulses"'})
    for name in ("spfm_transient", "due_rate"):
        assert f"{note}." in rows[name]["reason"]
    monkeypatch.undo()
    summary = SimpleNamespace(notes=("another", note))
    assert named_runs._without_sites(SimpleNamespace(summary=summary)) == [f"{note}."]


def test_pulses_in_one_block_do_not_stand_for_all(folder, pulses, monkeypatch):
    """The fault: a block without a stratum was in no sum, and nothing said so."""
    whole = named_runs._pins

    def more(settings, bench, found):
        cells, gates, below = whole(settings, bench, found)
        return {**cells, ("elsewhere", "logic", False): 5}, gates, below

    monkeypatch.setattr(named_runs, "_pins", more)
    _, summary, rows = judge(folder, {'permanent = "stuck"': 'permanent = "stuck"\nlogic = "pulses"'})
    assert rows["spfm_transient"]["state"] == "not assessed"
    assert "found none into elsewhere" in rows["spfm_transient"]["reason"]
    assert summary["logic"] == []


def test_a_choice_is_refused_where_the_named_run_of_pulses_says_nothing(folder, pulses, capsys):
    """The fault: a set was chosen for storage alone, and nothing told of the run that could not be used."""
    judge(folder, {'permanent = "stuck"': 'permanent = "stuck"\nlogic = "nowhere"'})
    capsys.readouterr()
    for granularity in ("block", "register"):
        wanted = ["--budget-fit", "0.02", "--waive", "spfm", "--granularity", granularity]
        assert main(["protect", str(folder / "upsets"), *wanted]) == ExitCode.USAGE
        assert "[safety] logic cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize("derated", [False, True])
def test_rates_of_pulses_go_from_the_lowest_derated_to_the_highest_raw_one(derated):
    rates = load_logic(load_technology("finfet-16nm"))
    technology = SimpleNamespace(name=rates.name, node=rates.node, entries=rates.entries)
    found = named_runs._rates(SimpleNamespace(technology=technology), named_runs._LOGIC, derated=derated)
    taken = found.factor * rates.fit_per_bit("logic")
    assert taken == pytest.approx(rates.fit_per_bit("logic") if derated else rates.raw)
    assert found.derating == rates.derating
    lowest, highest = (found.variations[f"logic {end}"]["logic"] * taken for end in ("lowest", "highest"))
    assert lowest == pytest.approx(rates.range_of("logic")[0])
    assert highest == pytest.approx(rates.raw_range[1])
