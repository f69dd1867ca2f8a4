# SPDX-License-Identifier: Apache-2.0
"""A claim about inputs like those that were run: one input decides nothing, and all rows keep the inputs."""

from __future__ import annotations

from resil.cli import main
from resil.files import read_json
from testkit.campaigns import TEXT
from testkit.fake import install
from tests.resil.results.test_safety_rows import HEAD, SAFETY

BUDGET = TEXT[TEXT.index("[budget]") :].replace("fit = 0.01", "fit = 1000.0")
LIKE = '[sampling]\ninputs = "like these"\n'


def run(folder, monkeypatch, text, out="run"):
    install(monkeypatch)
    file = folder / f"{out}.toml"
    file.write_text(text)
    code = main(["run", str(file), "--out", str(folder / out)])
    return code, read_json(folder / out / "summary.json", "")


def test_one_input_meets_no_claim_about_others(tmp_path, monkeypatch, capsys):
    text = (HEAD + LIKE + BUDGET).replace("[0, 3]", "[0]")
    code, summary = run(tmp_path, monkeypatch, text)
    assert (code, summary["verdict"]["result"]) == (3, "not assessed")
    assert "one, which says nothing of others" in " ".join(capsys.readouterr().out.split())
    assert not summary["sanity"]["failed"]
    assert "decide nothing of what is asked" in (tmp_path / "run" / "report.html").read_text()


def test_one_input_meets_no_row_about_others(tmp_path, monkeypatch):
    code, summary = run(tmp_path, monkeypatch, (HEAD + LIKE + SAFETY).replace("[0, 3]", "[0]"))
    assert code == 3
    assert {row["state"] for row in summary["safety"]["rows"]} == {"not assessed"}


def test_one_input_may_meet_a_claim_about_itself(tmp_path, monkeypatch):
    code, summary = run(tmp_path, monkeypatch, (HEAD + BUDGET).replace("[0, 3]", "[0]"))
    assert (code, summary["verdict"]["result"]) == (0, "met")


def test_rows_of_permanent_faults_keep_the_inputs(tmp_path, monkeypatch):
    stuck = HEAD.replace('kinds = ["ff", "sram"]', 'kinds = ["ff", "sram"]\nmodel = "stuck_at"')
    assert run(tmp_path, monkeypatch, stuck + LIKE, "stuck")[0] == 0
    asked = SAFETY.replace('"due_rate"]', '"due_rate", "spfm_permanent"]') + 'permanent = "stuck"\n'
    widths = {}
    for name, sampling in {"these": "", "like": LIKE}.items():
        _, summary = run(tmp_path, monkeypatch, HEAD + sampling + asked, name)
        rows = {row["name"]: row for row in summary["safety"]["rows"]}
        widths[name] = rows["spfm_permanent"]["hi"] - rows["spfm_permanent"]["lo"]
    assert widths["like"] > 1.5 * widths["these"]


def test_upsets_and_permanent_faults_are_summed_for_the_same_inputs(tmp_path, monkeypatch):
    stuck = HEAD.replace('kinds = ["ff", "sram"]', 'kinds = ["ff", "sram"]\nmodel = "stuck_at"')
    other = stuck.replace("[0, 3]", "[0, 4]")
    for name, text in {"stuck": stuck + LIKE, "other": other + LIKE}.items():
        assert run(tmp_path, monkeypatch, text, name)[0] == 0
    states = {}
    for name in ("stuck", "other"):
        asked = SAFETY.replace('"transient"', '"all"') + f'permanent = "{name}"\n'
        _, summary = run(tmp_path, monkeypatch, HEAD + LIKE + asked, f"like-{name}")
        states[name] = {row["name"]: row for row in summary["safety"]["rows"]}["pmhf_share"]
    assert states["stuck"]["state"] != "not assessed"
    assert states["other"]["state"] == "not assessed"
    assert "draw, the same in both" in states["other"]["reason"]


def test_listed_stuck_inputs_say_nothing_of_others(tmp_path, monkeypatch):
    """The claim is about inputs like these; the stuck-at run says that its inputs stand for no others."""
    stuck = HEAD.replace('kinds = ["ff", "sram"]', 'kinds = ["ff", "sram"]\nmodel = "stuck_at"')
    assert run(tmp_path, monkeypatch, stuck, "stuck")[0] == 0
    asked = SAFETY.replace('"transient"', '"all"') + 'permanent = "stuck"\n'
    found = {}
    for name, sampling in {"these": "", "like": LIKE}.items():
        _, summary = run(tmp_path, monkeypatch, HEAD + sampling + asked, name)
        found[name] = {row["name"]: row for row in summary["safety"]["rows"]}
    for name in ("spfm_permanent", "pmhf_share", "safe_permanent"):
        assert found["these"][name]["value"] is not None
        assert found["like"][name]["state"] == "not assessed"
        assert found["like"][name]["value"] is None
        assert 'stand for inputs "like these"' in found["like"][name]["reason"]
    assert "compared with no independent reference" in found["these"]["spfm_permanent"]["reason"]
