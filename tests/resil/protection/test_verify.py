# SPDX-License-Identifier: Apache-2.0
"""`--verify`: what was built is confirmed by new injections, and a broken mechanism is not."""

from __future__ import annotations

import json
import shutil

import pytest

from resil.cli import main
from resil.errors import StoreError
from resil.folder.kept_plans import state_of
from resil.progress import Progress
from resil.protection import verify
from resil.protection.confirm_runs import Sizes
from resil.protection.verify import verify_build
from resil.protection.wanted import ProtectionRequest
from resil.record.fields import json_schema
from resil.record.protection import Protection
from resil.record.protection_build import BitExact, Build
from resil.record.protection_confirmation import Confirmation
from resil.record.protection_state import confirmation_line
from resil.trace.run import Run
from testkit.errors import about

SIZES = Sizes(spread=1500, redundant=600, stuck=60, unprotected=1000)
FEW = Sizes(spread=300, redundant=500, stuck=20, unprotected=300)
OPTIONS = (
    'exclude = ["duplicate", "secded", "parity", "flop_parity", "flop_duplicate", "flop_triplicate", '
    '"lockstep"]'
)


def words(seed):
    return "".join(f"{(seed * 2654435761 + i * 40503 * (seed + i)) % 2**32:08x}\n" for i in range(64))


@pytest.fixture(scope="module")
def made(tmp_path_factory, repository):
    """A run, a plan that triplicates, its RTL, and a workload that took no part."""
    folder = tmp_path_factory.mktemp("verify")
    example = repository / "examples" / "awkward"
    text = (example / "campaign.toml").read_text().replace('"target.toml"', f'"{example / "target.toml"}"')
    text = text.replace('"source0.hex", "source1.hex"', '"a.hex"').replace('["ff", "sram"]', '["ff"]')
    text = text.replace("= 400", "= 1500")
    for number, name in enumerate("abc", start=1):
        (folder / f"{name}.hex").write_text(words(number))
        (folder / f"{name}.toml").write_text(text.replace("a.hex", f"{name}.hex"))
    (folder / "options.toml").write_text(OPTIONS)
    assert main(["run", str(folder / "a.toml"), "--out", str(folder / "run"), "--quiet"]) == 0
    assert main([*arguments(folder), "--build", str(folder / "built"), "--quiet"]) == 0
    return folder


def arguments(folder):
    own = ["--budget-fit", "0.0055", "--options", str(folder / "options.toml")]
    return ["protect", str(folder / "run"), *own]


@pytest.fixture
def again(made, tmp_path, monkeypatch):
    """A copy of the run and of the build, in which all may be changed, and a ledger that is empty."""
    monkeypatch.setenv("RESIL_DATA", str(tmp_path / "data"))
    for name in ("run", "built"):
        shutil.copytree(made / name, tmp_path / name)
    for name in ("options.toml", "a.toml", "b.toml", "c.toml", "a.hex", "b.hex", "c.hex"):
        shutil.copy(made / name, tmp_path)
    return tmp_path


def plan_of(folder):
    return Protection.read((folder / "run" / "protection.json").read_text())


def state(folder):
    """The plan as the run knows it."""
    return state_of(folder / "run", plan_of(folder))


def verified(folder, networks=("b.toml",), sizes=SIZES, plan=None, seed=None):
    asked = tuple(str(folder / name) for name in networks)
    wanted = ProtectionRequest(options=folder / "options.toml", networks=asked, seed=seed)
    plan = plan or plan_of(folder)
    return verify_build([folder / "run"], plan, folder / "built", wanted, Progress(), sizes=sizes)


def test_a_sound_build_is_confirmed(again):
    found = verified(again)
    assert found.reasons == ()
    assert found.confirmed is True
    assert found.seed not in (found.seed_of_choice,)
    assert found.copies.injections >= SIZES.redundant
    assert found.copies.hazardous == 0
    assert found.latent.injections >= SIZES.stuck
    assert found.bit_exact == BitExact(networks=("awkward", "b"), inputs=2, equal=True)
    for document in (Build, Confirmation):
        text = (again / "built" / document.FILE).read_text()
        assert document.read(text).text() == text
        assert json_schema(document)["required"] == list(json.loads(text))
    known = state(again)
    assert known.confirmation == found
    assert known.area_added == known.build.area_measured.added > 0
    rows = [choice.area_added for choice in known.choices]
    assert known.beside["alerts"] > 0
    assert sum(rows) + sum(known.beside.values()) == pytest.approx(known.area_added)
    assert all(command.startswith("resil run ") for command in found.commands)
    # One file says it.
    said = [file for file in again.rglob("*.json") if '"confirmed"' in file.read_text()]
    assert said == [again / "built" / "confirmation.json"]
    # The same seed for the same RTL is refused, and what took part in the choice.
    with pytest.raises(StoreError, check=about("--verify-seed.rtl")):
        verified(again, seed=found.seed)
    with pytest.raises(StoreError, check=about("--verify-seed.used")):
        verified(again, seed=found.seed_of_choice)
    with pytest.raises(StoreError, check=about("--verify-network.choice")):
        verified(again, networks=["a.toml"])


def test_upsets_end_at_detection_with_the_outcomes_of_whole_runs(again):
    """The fault: what ends a run early changes what a confirmation counts."""
    verified(again, sizes=FEW)
    upsets = again / "built" / "confirmation" / "b" / "upsets"
    ended = Run(upsets)
    reported = ended.summary.detection.blocks[-1]
    assert ended.summary.campaign.until == "detection"
    assert reported.due_unseen == ended.summary.total.due > 0
    text = (upsets / "campaign.toml").read_text()
    assert text.count('until = "detection"') == 1
    (again / "whole.toml").write_text(text.replace('until = "detection"', 'until = "end"'))
    assert main(["run", str(again / "whole.toml"), "--out", str(again / "whole"), "--quiet"]) in (0, 1, 3)
    whole = Run(again / "whole")
    columns = ["injection", "site", "cycle", "outcome", "reported", "alarm", "alarm_cycle"]
    assert whole.injections()[columns].equals(ended.injections()[columns])
    assert "due" in set(ended.injections()["seen"]) - set(whole.injections()["seen"])
    # What such faults would have done is asked by a choice, and by a model.
    for words in (["--granularity", "register"], []):
        assert main(["protect", str(upsets), *words, "--budget-fit", "1"]) == 2
    assert main(["run", str(again / "whole.toml"), "--out", str(upsets), "--resume"]) == 2


def test_memories_and_registers_in_one_block_are_both_injected_into(made, tmp_path):
    """Copies in two kinds of storage, each with its own fewest; what is not built is not credited."""
    for number, name in enumerate("ab", start=4):
        shutil.copy(made / f"{name}.hex", tmp_path)
        (tmp_path / f"{name}2.hex").write_text(words(number))
        text = (made / f"{name}.toml").read_text().replace('kinds = ["ff"]', 'kinds = ["ff", "sram"]')
        # Of two inputs there are twice as many stuck bits.
        text = text.replace(f'["{name}.hex"]', f'["{name}.hex", "{name}2.hex"]')
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "options.toml").write_text(OPTIONS.replace('"secded", ', ""))
    assert main(["run", str(tmp_path / "a.toml"), "--out", str(tmp_path / "run"), "--quiet"]) == 0
    own = ["--options", str(tmp_path / "options.toml"), "--build", str(tmp_path / "built")]
    assert main(["protect", str(tmp_path / "run"), "--budget-fit", "0.005", *own, "--quiet"]) == 0
    chosen = {choice.block: choice.option for choice in plan_of(tmp_path).choices}
    assert set(chosen["history"].split("+")) == {"triplicate", "secded"}
    assert json.loads((tmp_path / "built" / "build.json").read_text())["left_out"] == []
    found = verified(tmp_path, sizes=FEW)
    rows = Run(tmp_path / "built" / "confirmation" / "b" / "upsets").injections()
    struck = rows[rows["block"] == "redundant"].groupby("kind").size().to_dict()
    assert set(struck) == {"ff", "sram"}
    assert min(struck.values()) >= FEW.redundant
    assert found.confirmed is True, found.reasons


def test_a_block_in_lockstep_is_built_and_confirmed(made, tmp_path):
    """The fault: what a copy of a block belongs to was not recorded, KeyError: 'u_dut'."""
    every = OPTIONS.replace(', "lockstep"', ', "triplicate", "hardened_light", "hardened_leap_dice"')
    (tmp_path / "options.toml").write_text(every)
    for name in ("run", "b.toml", "b.hex"):
        (shutil.copytree if name == "run" else shutil.copy)(made / name, tmp_path / name)
    own = ["--options", str(tmp_path / "options.toml"), "--build", str(tmp_path / "built")]
    assert main(["protect", str(tmp_path / "run"), "--budget-fit", "0.02", *own, "--quiet"]) == 0
    record = Build.read((tmp_path / "built" / "build.json").read_text())
    assert {one.mechanism for one in record.redundant} == {"lockstep"}
    found = verified(tmp_path, sizes=FEW)
    assert found.confirmed is True, found.reasons
    (copies,) = found.copies.mechanisms
    assert copies.mechanism == "lockstep"
    assert copies.injections >= FEW.redundant
    # Nothing that a copy holds reaches an output; what it is told by is the comparison.
    assert (copies.hazardous, copies.unreported, copies.wrong) == (0, 0, 0)
    rows = Run(tmp_path / "built" / "confirmation" / "b" / "upsets").injections()
    assert (rows[rows["block"] == "redundant"]["outcome"] == "due").any()


VOTE = "(a_i & b_i) | (a_i & c_i) | (b_i & c_i)"
REPORT = "|((a_i ^ b_i) | (b_i ^ c_i))"


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        ("resil_voter.sv", VOTE, "a_i", "said to be corrected and showed"),
        ("resil_voter.sv", REPORT, "1'b0", "raised no alarm"),
        # What synthesis would make of two copies that it takes for one.
        (
            "resil_flop_tmr.sv",
            ".b_i             (b)",
            ".b_i             (a)",
            "said to be corrected and showed",
        ),
    ],
    ids=["voter votes wrong", "alarm open", "copies merged"],
)
def test_a_broken_mechanism_is_not_confirmed(file, old, new, why, again):
    source = again / "built" / "rtl" / file
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    found = verified(again, sizes=FEW)
    assert found.confirmed is False
    assert any(why in reason for reason in found.reasons), found.reasons
    assert state(again).confirmation == found
    # One look: neither this RTL again, nor what it failed on.
    with pytest.raises(StoreError, check=about("rtl.refused")):
        verified(again, networks=["c.toml"])
    source.write_text(text)
    with pytest.raises(StoreError, check=about("--verify-network.looks")):
        verified(again)


def test_logic_that_a_mechanism_adds_is_seen_by_pulses_alone(made, tmp_path, monkeypatch):
    """The fault: a set was confirmed by upsets, beside the limit that logic had before there were voters."""
    monkeypatch.setenv("RESIL_DATA", str(tmp_path / "data"))
    for name in ("a.hex", "b.hex", "b.toml", "options.toml"):
        shutil.copy(made / name, tmp_path)
    text = (made / "a.toml").read_text()
    pulses = text.replace('["ff"]', '["logic"]\nmodel = "set"').replace("= 1500", "= 3000")
    (tmp_path / "pulses.toml").write_text(pulses)
    named = '[safety]\nclaims = ["spfm_transient"]\nspfm = 0.5\nlogic = "pulses"\nleft_out = "a test"\n'
    (tmp_path / "a.toml").write_text(f"{text}\n{named}")
    for file, out in (("pulses.toml", "pulses"), ("a.toml", "run")):
        main(["run", str(tmp_path / file), "--out", str(tmp_path / out), "--quiet"])
    (total,) = [own for own in Run(tmp_path / "run").summary.logic if own.block == "total"]
    budget = total.logic_joint * total.logic_highest + 0.008
    asked = ["--budget-fit", str(budget), "--waive", "spfm", "--options", str(tmp_path / "options.toml")]
    assert (
        main(["protect", str(tmp_path / "run"), *asked, "--build", str(tmp_path / "built"), "--quiet"]) == 0
    )
    plan = plan_of(tmp_path)
    found = verified(tmp_path, sizes=FEW)
    (row,) = found.networks
    assert plan.networks[0].corner_fit_hi <= budget
    assert row.logic_fit_hi > plan.logic.fit_hi
    assert any(reason.endswith(f"asked: {budget:g} FIT or less") for reason in found.reasons)
    runs = {path.name for path in (tmp_path / "built" / "confirmation" / "b").iterdir()}
    assert runs == {"upsets", "stuck-at", "logic"}
    assert "in storage, and at most" in confirmation_line(state(tmp_path))


def test_limits_of_permanent_faults_are_confirmed_by_stuck_bits_in_what_was_built(
    made, tmp_path, monkeypatch
):
    """The fault: a set that was chosen against permanent faults was confirmed by upsets alone."""
    monkeypatch.setenv("RESIL_DATA", str(tmp_path / "data"))
    for name in ("a.hex", "b.hex", "b.toml", "options.toml"):
        shutil.copy(made / name, tmp_path)
    text = (made / "a.toml").read_text()
    stuck = text.replace('["ff"]', '["ff"]\nmodel = "stuck_at"').replace("= 1500", "= 600")
    (tmp_path / "stuck.toml").write_text(stuck)
    named = '[safety]\nclaims = ["spfm_transient"]\nspfm = 0.1\npermanent = "stuck"\nleft_out = "a test"\n'
    (tmp_path / "a.toml").write_text(f"{text}\n{named}")
    for file, out in (("stuck.toml", "stuck"), ("a.toml", "run")):
        main(["run", str(tmp_path / file), "--out", str(tmp_path / out), "--quiet"])
    asked = ["--budget-fit", "0.0055", "--waive", "spfm", "--options", str(tmp_path / "options.toml")]
    asked += [
        "--granularity",
        "block",
        "--permanent-fit",
        "0.02",
        "--build",
        str(tmp_path / "built"),
        "--quiet",
    ]
    assert main(["protect", str(tmp_path / "run"), *asked]) == 0
    plan = plan_of(tmp_path)
    assert plan.networks[0].permanent.corner_fit_hi <= 0.02 < plan.networks[0].permanent.fit_before
    only = plan.changed(budget_fit=None)
    with pytest.raises(StoreError, match="limits of permanent faults alone"):
        verified(tmp_path, sizes=FEW, plan=only)
    found = verified(tmp_path, sizes=FEW)
    (row,) = found.networks
    assert row.permanent_spfm_lo < 1.0
    assert row.permanent_fit_hi > 0.0
    lost = [reason for reason in found.reasons if "permanent" in reason]
    assert bool(lost) == (row.permanent_fit_hi > 0.02)


def elsewhere(folder):
    """All of it under another name, as it was before it was looked at."""
    other = folder.with_name(f"{folder.name}-elsewhere")
    other.mkdir()
    for name in ("run", "built"):
        skipped = shutil.ignore_patterns("confirm*", "unprotected")
        shutil.copytree(folder / name, other / name, ignore=skipped)
    for file in (*folder.glob("*.toml"), *folder.glob("*.hex")):
        shutil.copy(file, other)
    return other


def test_a_refused_set_is_refused_under_another_folder_name_too(again):
    found = verified(again, sizes=FEW, plan=plan_of(again).changed(fit=1e-4))
    assert found.confirmed is False
    other = elsewhere(again)
    shutil.rmtree(other / "run" / "protection")
    shutil.copytree(again / "run" / "protection", other / "run" / "protection")
    with pytest.raises(StoreError, check=about("rtl.refused")):
        verified(other, sizes=FEW, networks=["c.toml"])


def test_a_look_that_was_killed_is_remembered(again, monkeypatch):
    """Its networks are known, whatever they are called, and its part of the error is spent."""
    real, struck = verify.inject_upsets, []

    def upsets(*given):
        struck.append(real(*given))
        raise KeyboardInterrupt

    monkeypatch.setattr(verify, "inject_upsets", upsets)
    with pytest.raises(KeyboardInterrupt):
        verified(again, sizes=FEW)
    assert len(struck) == 1
    other = elsewhere(again)
    (other / "fresh.toml").write_text((again / "b.toml").read_text())
    monkeypatch.setattr(verify, "inject_upsets", real)
    with pytest.raises(StoreError, check=about("--verify-network.looks")):
        verified(other, sizes=FEW, networks=["fresh.toml"], seed=99)
    second = verified(other, sizes=FEW, networks=["c.toml"])
    assert (second.look.number, second.look.confidence) == (2, pytest.approx(1 - 0.05 / 6))
    assert second.networks[0].confidence == pytest.approx(1 - 0.05 / 6)
    # Cut to what it was before the looks: the build has them still.
    (again / "data" / "confirmations.jsonl").write_text("")
    with pytest.raises(StoreError, check=about("ledger.copy")):
        verified(other, sizes=FEW, networks=["c.toml"])


def test_the_same_look_is_gone_on_with_after_it_was_killed(again, monkeypatch):
    def killed(*given):
        raise KeyboardInterrupt

    real = verify.inject_upsets
    monkeypatch.setattr(verify, "inject_upsets", killed)
    with pytest.raises(KeyboardInterrupt):
        verified(again, sizes=FEW)
    monkeypatch.setattr(verify, "inject_upsets", real)
    found = verified(again, sizes=FEW)
    assert found.look.number == 1
    lines = (again / "data" / "confirmations.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["registered", "finished"]


def test_a_network_that_keeps_the_target_without_protection_judges_nothing(again):
    with pytest.raises(StoreError, check=about("--verify-network.refuses")):
        verified(again, sizes=FEW, plan=plan_of(again).changed(budget_fit=1.0))
    assert not (again / "data" / "confirmations.jsonl").exists()


def test_rtl_that_was_changed_is_not_confirmed_though_it_does_the_same(again):
    """Proofs and area in build.json are those of what was built."""
    source = again / "built" / "rtl" / "resil_voter.sv"
    source.write_text(source.read_text() + "// the same\n")
    found = verified(again)
    assert found.confirmed is False
    assert [reason for reason in found.reasons if "was changed since" not in reason] == []


def test_a_run_on_other_rtl_than_the_one_that_is_judged_confirms_nothing(tmp_path, monkeypatch):
    (tmp_path / "b" / "upsets").mkdir(parents=True)
    (tmp_path / "b" / "upsets" / "campaign.toml").touch()
    monkeypatch.setattr(verify, "recorded_definition", lambda run: {"rtl": "other"})
    verify._require_one_rtl([tmp_path / "b"], "other")
    with pytest.raises(StoreError, check=about("rtl")):
        verify._require_one_rtl([tmp_path / "b"], "mine")


def test_a_copy_that_is_gone_is_no_confirmation(again):
    source = again / "built" / "rtl" / "resil_flop_tmr.sv"
    text = source.read_text()
    source.write_text(text.replace("u_copy_c", "u_other"))
    with pytest.raises(StoreError, check=about("copies")):
        verified(again, sizes=FEW)


def test_a_prediction_that_is_too_low_is_not_confirmed(again):
    found = verified(again, sizes=FEW, plan=plan_of(again).changed(fit=1e-4))
    assert found.confirmed is False
    assert any("predicted 0.0001 FIT is too low" in reason for reason in found.reasons)
    report = (again / "run" / "report.html").read_text()
    assert "CONFIRMED by injection: " not in report.replace("NOT CONFIRMED", "")


def test_the_command_ends_with_0_only_if_confirmed(again, capsys):
    """On a build that is there already, with the usual numbers of injections; then not confirmed."""
    asked = [*arguments(again), "--build", str(again / "built"), "--verify"]
    built = (again / "built" / "build.json").stat().st_mtime_ns
    capsys.readouterr()
    assert main([*asked, "--verify-network", str(again / "b.toml")]) == 0
    out = capsys.readouterr().out
    assert out.count("CONFIRMED") == 1
    *_, answer, report = out.splitlines()
    assert "CONFIRMED by injection, seed 12: " in answer
    assert report == f"report: {again / 'run' / 'report.html'}"
    assert "CONFIRMED by injection" in (again / "run" / "report.html").read_text()
    assert (again / "built" / "build.json").stat().st_mtime_ns >= built
    assert main([*asked, "--verify-network", "nothing"]) == 2
    assert "expected a zoo network" in capsys.readouterr().err
    assert main([*asked[:-3], "--verify"]) == 2
    assert main(asked) == 2
    assert "its workload is its own" in capsys.readouterr().err
    voter = again / "built" / "rtl" / "resil_voter.sv"
    voter.write_text(voter.read_text().replace(VOTE, "a_i"))
    assert main([*asked, "--verify-network", str(again / "c.toml")]) == 1
    out = capsys.readouterr().out
    assert out.count("CONFIRMED") == 1
    assert "NOT CONFIRMED by injection, seed 13: " in out.splitlines()[-2]
    assert "the RTL was changed since it was built" in out.splitlines()[-2]
