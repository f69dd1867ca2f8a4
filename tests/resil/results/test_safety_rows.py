# SPDX-License-Identifier: Apache-2.0
"""The safety verdict of campaigns, with the fake engine: every state that looks safe and is not."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from resil.campaign.campaign import parse_campaign
from resil.cli import main
from resil.errors import ExitCode
from resil.files import read_json
from resil.record.safety import Safety
from resil.record.summary import Summary, Verdict
from resil.results.evidence import Class, Hazards
from resil.results.grounds import Grounds
from resil.results.named_run import NamedRun
from resil.results.safety_grounds import rate_variations
from resil.results.safety_rows import predicted_verdict, safety_verdict
from resil.run.campaign import verdict_code
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.technology import load_technology
from testkit.campaigns import TEXT
from testkit.fake import install

HEAD = TEXT[: TEXT.index("[budget]")].replace('kinds = ["ff"]', 'kinds = ["ff", "sram"]')
SAFETY = """
[safety]
asil = "D"
claims = ["pmhf_share", "due_rate"]
pmhf_fit = 1.0
pmhf_rationale = "a tenth of the item's"
pmhf_covers = "transient"
due_fit = 1.0
due_rationale = "one restart in a hundred thousand years"
"""


def run(tmp_path: Path, monkeypatch, text: str) -> tuple[int, dict]:
    install(monkeypatch)
    file = tmp_path / "small.toml"
    file.write_text(text)
    code = main(["run", str(file), "--out", str(tmp_path / "run")])
    path = tmp_path / "run" / "summary.json"
    return code, read_json(path, "") if path.exists() else {}


def states(summary: dict) -> dict[str, str]:
    return {row["name"]: row["state"] for row in summary["safety"]["rows"]}


def test_exit_0_only_if_all_claimed_rows_are_met(tmp_path, monkeypatch):
    code, summary = run(tmp_path, monkeypatch, HEAD + SAFETY)
    assert code == 0
    assert summary["safety"]["result"] == "met"
    found = states(summary)
    assert found["pmhf_share"] == found["due_rate"] == "met"
    assert found["spfm_transient"] == "missed"
    assert found["spfm_permanent"] == found["lfm_permanent"] == "not assessed"


def test_a_missed_claim_is_exit_1_whatever_the_fit_budget_says(tmp_path, monkeypatch):
    text = HEAD + SAFETY.replace('"pmhf_share"', '"pmhf_share", "spfm_transient"')
    budget = '\n[budget]\nfit = 1.0\nrationale = "a tenth of the item\'s"\n'
    code, summary = run(tmp_path, monkeypatch, text + budget)
    assert summary["verdict"]["result"] == "met"
    assert summary["safety"]["result"] == "missed"
    assert code == 1


def test_a_claimed_row_that_is_not_assessed_is_exit_3(tmp_path, monkeypatch):
    text = HEAD + SAFETY.replace('"pmhf_share"', '"pmhf_share", "spfm_permanent"') + 'permanent = "nowhere"\n'
    code, summary = run(tmp_path, monkeypatch, text)
    assert states(summary)["spfm_permanent"] == "not assessed"
    assert code == 3


def test_storage_left_out_without_a_reason_is_refused_before_anything_is_injected(
    tmp_path, monkeypatch, capsys
):
    code, _ = run(tmp_path, monkeypatch, HEAD.replace('"ff", "sram"', '"ff"') + SAFETY)
    assert code == 2
    message = capsys.readouterr().err
    assert "expected all storage of fake-npu to be injected for pmhf_share, due_rate" in message
    assert "1,024 SRAM bits left out" in message
    assert not (tmp_path / "run").exists()


def test_storage_left_out_with_a_reason_is_named_in_the_rows(tmp_path, monkeypatch):
    text = HEAD.replace('"ff", "sram"', '"ff"') + SAFETY + 'left_out = "it has SECDED of its own"\n'
    _, summary = run(tmp_path, monkeypatch, text)
    row = next(row for row in summary["safety"]["rows"] if row["name"] == "pmhf_share")
    assert "Without 1,024 SRAM bits: it has SECDED of its own" in row["reason"]
    scope = next(a["text"] for a in summary["assumptions"] if a["topic"] == "scope")
    assert "Not in these figures: 1,024 SRAM bits (it has SECDED of its own)" in scope


TIMED = """
ftti_cycles = {}
[[safety.mechanism]]
alarm = "error"
coverage = 0.01
[[safety.mechanism]]
alarm = "parity"
"""


def test_an_alarm_after_the_fault_tolerant_time_is_none(tmp_path, monkeypatch):
    """The same injections judged again: parity tells of corruptions after 2 cycles, too late for 1."""
    text = HEAD.replace("injections = 200", "injections = 2000") + SAFETY
    text = text.replace('"due_rate"', '"due_rate", "coverage", "detection_time"')
    _, slow = run(tmp_path, monkeypatch, text + TIMED.format(1000))
    before = sorted((tmp_path / "run" / "injections").iterdir())
    _, fast = run(tmp_path, monkeypatch, text + TIMED.format(1))
    assert sorted((tmp_path / "run" / "injections").iterdir()) == before
    assert fast["total"]["injections"] == slow["total"]["injections"]
    assert fast["total"]["due"] < slow["total"]["due"]
    found, late = ({row["name"]: row for row in s["safety"]["rows"]} for s in (slow, fast))
    assert found["spfm_transient"]["value"] > late["spfm_transient"]["value"]
    assert found["detection_time"]["value"] == 1.0
    assert late["detection_time"]["value"] == 0.0
    assert late["detection_time"]["state"] == "missed"
    assert "0 alarms came within 1 cycles of the fault" in late["detection_time"]["reason"]
    assert late["coverage of parity"]["value"] == 0.0 < found["coverage of parity"]["value"]
    assert found["coverage of error"]["value"] == 0.0  # it tells of harmless faults alone
    assert main(["report", str(tmp_path / "run")]) == 0
    told = {a["topic"]: a["text"] for a in fast["assumptions"]}
    assert "an alarm later than 1 cycles after the fault does not count" in told["fault-tolerant time"]


def test_an_alarm_that_the_target_does_not_name_is_refused(tmp_path, monkeypatch, capsys):
    code, _ = run(tmp_path, monkeypatch, HEAD + SAFETY + '[[safety.mechanism]]\nalarm = "ecc"\n')
    assert code == 2
    assert "expected an alarm of fake-npu (error, parity), found ecc" in capsys.readouterr().err


def test_a_mechanism_of_a_block_that_is_not_there_is_refused(tmp_path, monkeypatch, capsys):
    mechanism = '[[safety.mechanism]]\nalarm = "error"\ncoverage = 0.9\nblocks = ["mca"]\n'
    code, _ = run(tmp_path, monkeypatch, HEAD + SAFETY + mechanism)
    assert code == 2
    assert "expected blocks out of cc, mac, sb, cpm, found mca" in capsys.readouterr().err


def test_storage_of_no_block_counts(tmp_path, monkeypatch):
    """One of 72 flip-flops belongs to no block: it is in the evidence and in the denominator."""
    _, summary = run(tmp_path, monkeypatch, HEAD + SAFETY)
    groups = summary["evidence"]["groups"]
    assert "" not in {group["block"] for group in groups}
    assert sum(group["fit_raw"] for group in groups) == pytest.approx(summary["total"]["fit_raw"])
    assert any(sum(g["counts"].values()) for g in groups if g["block"] == "(no block)")


def test_assumptions_tell_what_it_costs_if_nobody_reacts(tmp_path, monkeypatch):
    _, summary = run(tmp_path, monkeypatch, HEAD + SAFETY)
    told = {a["topic"]: a["text"] for a in summary["assumptions"]}
    assert "the host looks at the error status" in told["reaction to a detection"]
    assert "If nobody reacts" in told["reaction to a detection"]
    assert told["watchdog"].startswith("None is assumed")
    assert "2 times the one without a fault (at most 10,014 cycles)" in told["time-out"]
    assert "an alarm at any time before the end" in told["fault-tolerant time"]
    assert "20.2 FIT per 10^6 SRAM bits, no range given (measured)" in told["raw rates"]
    assert "transients in logic" in told["scope"]
    assert "The target is reset before every inference" in told["clock and operation"]
    assert '"top1"' in told["decision"]


def test_assumptions_tell_of_the_watchdog_that_operations_restart(tmp_path, monkeypatch):
    _, summary = run(tmp_path, monkeypatch, HEAD + SAFETY + '[execution]\ntimeout = "operation"\n')
    told = {a["topic"]: a["text"] for a in summary["assumptions"]}["time-out"]
    assert summary["campaign"]["timeout"] == "operation"
    assert "2 times the one without a fault (at most 10,014 cycles), or in which no operation ends" in told
    assert "2 times what the longest takes without a fault (at most 6,014 cycles)" in told


def test_assumptions_tell_the_time_out_that_engines_have(tmp_path, monkeypatch):
    """Engines round it up: 1.2 times 5,007 cycles are 6,009, not 6,008."""
    _, summary = run(tmp_path, monkeypatch, HEAD + SAFETY + "[execution]\ntimeout_factor = 1.2\n")
    told = {a["topic"]: a["text"] for a in summary["assumptions"]}["time-out"]
    assert "1.2 times the one without a fault (at most 6,009 cycles)" in told


def grounds(counts, settings_text="", permanent: NamedRun | str = "none", not_injected="", **more):
    campaign = parse_campaign(Path("c.toml"), tomllib.loads(HEAD + SAFETY + settings_text))
    assert campaign.safety is not None
    evidence = Evidence((PooledGroup("mac", "ff", 10.0, counts),))
    hazards = frozenset(more.pop("hazardous", campaign.hazardous))
    rates = more.pop("rates", {})
    return Grounds(campaign.safety, hazards, evidence, evidence, "tests", not_injected, permanent, rates)


def rows(found):
    return {row.name: row for row in found.rows}


def again(found, part):
    return {row.name: row for v in found.sensitivity if part in v.title for row in v.rows}


def test_late_alarms_are_missed_detections():
    counts = {"masked": 100, "due:sdc_critical:error": 90, "sdc_critical:late": 10, "masked:late": 50}
    text = 'ftti_cycles = 100\n[[safety.mechanism]]\nalarm = "error"\ncoverage = 0.5\n'
    found = rows(safety_verdict(grounds(counts, text)))
    assert found["detection_time"].value == pytest.approx(0.9)
    assert found["coverage of error"].value == pytest.approx(0.9)
    assert found["spfm_transient"].value == pytest.approx(1 - 10 / 250)
    none = rows(safety_verdict(grounds({"masked": 100, "due:masked:error": 9}, text)))
    assert none["detection_time"].state == "not assessed"


def test_no_injections_are_not_assessed():
    found = safety_verdict(grounds({}))
    assert found.result == "not assessed"
    assert {row.state for row in found.rows} == {"not assessed"}


def test_one_kind_of_storage_without_a_reason_is_not_assessed():
    found = safety_verdict(grounds({"masked": 10**6}, not_injected="1,024 SRAM bits"))
    assert found.result == "not assessed"
    assert "1,024 SRAM bits were not injected" in rows(found)["spfm_transient"].reason


def test_detection_without_credit_counts_what_is_seen():
    """Of 228 detected failures 225 carry a wrong decision: SPFM falls from 100 % to 97.75 %."""
    counts = {"masked": 9772, "due:sdc_critical:error": 225, "due:masked:error": 3}
    found = safety_verdict(grounds(counts))
    assert rows(found)["spfm_transient"].value == 1.0
    assert again(found, "detection not credited")["spfm_transient"].value == pytest.approx(0.9775)
    assert again(found, "detection not credited")["pmhf_share"].value == pytest.approx(0.225)


def test_a_detected_failure_of_unknown_effect_counts_as_the_worst():
    found = safety_verdict(grounds({"masked": 900, "due": 100}))
    assert again(found, "detection not credited")["spfm_transient"].value == pytest.approx(0.9)


def test_latent_state_and_hangs_are_counted_where_nothing_is_credited():
    counts = {"masked": 800, "latent": 100, "hang": 50, "due:hang:error": 50}
    found = safety_verdict(grounds(counts, hazardous={"sdc_critical"}))
    assert rows(found)["spfm_transient"].value == 1.0
    assert again(found, "latent state counted as hazardous")["spfm_transient"].value == pytest.approx(0.9)
    assert again(found, "hangs not credited")["spfm_transient"].value == pytest.approx(0.95)
    assert again(found, "nothing credited")["spfm_transient"].value == pytest.approx(0.8)


def test_coverage_is_a_mechanisms_own():
    mechanisms = '[[safety.mechanism]]\nalarm = "a"\ncoverage = 0.5\n[[safety.mechanism]]\nalarm = "b"\n'
    counts = {"masked": 1, "due:hang:a": 60, "due:hang:b": 30, "due:masked:b": 500, "sdc_critical": 10}
    found = rows(safety_verdict(grounds(counts, mechanisms)))
    assert found["coverage of a"].value == pytest.approx(0.6)
    assert found["coverage of a"].state == "inconclusive"
    assert found["coverage of b"].value == pytest.approx(0.3)
    assert found["coverage of b"].state == "not assessed"


def test_coverage_is_not_known_where_alarms_ended_injections():
    """The fault: every detection counts as one that was needed, and the coverage is met."""
    mechanism = '[[safety.mechanism]]\nalarm = "error"\ncoverage = 0.9\n'
    whole = {"masked": 8000, "sdc_critical": 20, "due:masked:error": 900, "due:sdc_critical:error": 100}
    found = rows(safety_verdict(grounds(whole, mechanism)))["coverage of error"]
    assert found.state == "missed"
    ended = {"masked": 8000, "sdc_critical": 20, "due::error": 1000}
    found = rows(safety_verdict(grounds(ended, mechanism)))["coverage of error"]
    assert found.state == "not assessed"
    assert "Alarms ended injections" in found.reason


def test_permanent_faults_join_the_share_of_pmhf():
    stuck = Evidence((PooledGroup("mac", "ff", 3.0, {"masked": 900, "hang": 100}),))
    text = 'permanent = "p"\n'
    without = grounds({"masked": 1000}, text).settings
    base = grounds({"masked": 900, "hang": 100}, text, NamedRun(stuck, None, "stuck"))
    base = replace(base, settings=replace(without, pmhf_covers="all"))
    found = rows(safety_verdict(base))
    assert found["pmhf_share"].value == pytest.approx(1.0 + 0.3)
    assert found["spfm_permanent"].value == pytest.approx(0.9)
    assert found["lfm_permanent"].state == "not assessed"
    assert "no reference" not in found["spfm_permanent"].reason
    said = NamedRun(stuck, None, "stuck", remark="It was compared with no reference.")
    remarked = rows(safety_verdict(replace(base, permanent=said)))
    for name in ("spfm_permanent", "pmhf_share", "safe_permanent", "dedicated_measures"):
        assert "It was compared with no reference." in remarked[name].reason
    assert "no reference" not in remarked["spfm_transient"].reason
    elsewhere = NamedRun(stuck, None, "stuck", same_inputs=False)
    apart = rows(safety_verdict(replace(base, permanent=elsewhere)))
    assert (apart["pmhf_share"].state, apart["pmhf_share"].value) == ("not assessed", None)
    assert "the same inputs, by content" in apart["pmhf_share"].reason
    assert apart["spfm_permanent"].value == pytest.approx(0.9)
    alone = rows(safety_verdict(replace(base, permanent="No stuck-at campaign was given.")))
    assert alone["pmhf_share"].state == "not assessed"


def test_raw_rates_enter_as_ranges():
    found = rate_variations(load_technology("finfet-16nm"), ("ff", "sram"))
    assert list(found) == ["raw rates of flip-flops lowest", "raw rates of flip-flops highest"]
    assert found["raw rates of flip-flops lowest"]["ff"] == pytest.approx(169 / 600)
    both = load_technology("finfet-16nm").with_overrides(5e-5, 20.0, "t", (1e-5, 1e-4), (10.0, 30.0))
    assert len(rate_variations(both, ("ff", "sram"))) == 4
    assert rate_variations(load_technology("finfet-16nm"), ("sram",)) == {}
    rates = {"raw rates of flip-flops highest": {"ff": 40.0}}
    varied = safety_verdict(grounds({"masked": 990, "hang": 10}, rates=rates))
    assert rows(varied)["pmhf_share"].centre_state == "met"
    assert again(varied, "highest")["pmhf_share"].state == "missed"
    assert rows(varied)["sensitivity"].state == "missed"


def test_classes_by_name():
    assert Class.of("due:sdc_critical:parity") == Class("due", "sdc_critical", "parity")
    assert Class.of("hang") == Class("hang", "hang", "")
    assert Class.of("hang:late") == Class("hang", "hang", "", late=True)
    assert Hazards(frozenset({"hang"})).holds("hang:late")
    assert Hazards(frozenset({"due"})).holds("due:masked:error")
    assert Hazards(frozenset({"due"}), due_credited=False).holds("due:masked:error")


def test_predictions_are_never_met():
    """`resil estimate` injects nothing: every row, claimed or not, is not assessed."""
    asked = grounds({}, '[[safety.mechanism]]\nalarm = "error"\ncoverage = 0.5\n').settings
    found = predicted_verdict(asked)
    assert found.result == "not assessed"
    assert {row.state for row in found.rows} == {"not assessed"}
    assert "coverage of error" in rows(found)
    assert all("predicted" in row.reason for row in found.rows)
    assert not any("however late" in row.reason for row in found.rows)
    met = Summary.model_construct(
        verdict=Verdict.model_construct(result="met"), safety=found, sanity=None, logic=()
    )
    assert verdict_code(met) == ExitCode.INCONCLUSIVE
    timed = predicted_verdict(grounds({}, "ftti_cycles = 5\n").settings)
    assert all("takes every alarm for a detection, however late" in row.reason for row in timed.rows)


@pytest.mark.parametrize("sampling", ['plan = "adaptive"', 'plan = "uniform"\ninputs = "like these"'])
def test_other_plans_give_the_rows_their_own_limits(tmp_path, monkeypatch, sampling):
    text = HEAD.replace("injections = 200", "injections = 900").replace("minimum_per_block = 10", "")
    _, summary = run(tmp_path, monkeypatch, f"{text}\n[sampling]\n{sampling}\n{SAFETY}")
    found = rows(Safety.model_validate_json(json.dumps(summary["safety"])))
    total = summary["total"]
    assert found["pmhf_share"].value == pytest.approx(total["fit"], rel=0.05)
    assert found["pmhf_share"].hi == pytest.approx(total["fit_hi"])
    assert found["pmhf_share"].confidence == pytest.approx(0.975)
