# SPDX-License-Identifier: Apache-2.0
"""`resil protect --build`: from a run to RTL that is proven, measured, and said not to be confirmed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.errors import ConsistencyError
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.protection.build_rtl import longest_of, require_same_runs, runs_without_fault
from resil.protection.groups_to_build import groups_of
from resil.protection.options import ProtectionError, load_options
from resil.record.protection_build import Build
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Reported, Rise
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup
from tests.resil.protection.plans import group, plan_of

FLOPS = '"flop_parity", "flop_duplicate", "flop_triplicate", "lockstep"'


@pytest.fixture(scope="module")
def run(tmp_path_factory, repository):
    folder = tmp_path_factory.mktemp("awkward")
    example = repository / "examples" / "awkward"
    text = (example / "campaign.toml").read_text()
    for name in ("target.toml", "source0.hex", "source1.hex"):
        text = text.replace(f'"{name}"', f'"{example / name}"')
    text = text.replace("= 400", "= 60").replace("minimum_per_block = 40", "minimum_per_block = 10")
    (folder / "campaign.toml").write_text(text.replace('["ff", "sram"]', '["ff"]'))
    assert main(["run", str(folder / "campaign.toml"), "--out", str(folder / "run"), "--quiet"]) == 0
    return folder / "run"


def test_a_plan_becomes_rtl(run, tmp_path, capsys):
    capsys.readouterr()
    options = tmp_path / "options.toml"
    options.write_text(f'exclude = ["triplicate", {FLOPS}]')
    arguments = ["protect", str(run), "--budget-fit", "0.006", "--options", str(options)]
    assert main([*arguments, "--build", str(tmp_path / "made"), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    record = json.loads((tmp_path / "made" / "build.json").read_text())
    chosen = {c["block"]: c["option"] for c in plan["choices"]}
    assert "duplicate" in chosen.values()
    assert "confirmed" not in record
    assert plan["built"] == record
    kept = json.loads((run / "protection.json").read_text())
    assert (run / kept["build"]).resolve() == (tmp_path / "made").resolve()
    assert Build.read((tmp_path / "made" / "build.json").read_text()).choice == record["choice"]
    page = (run / "report.html").read_text()
    assert "NOT CONFIRMED by injection" in page
    assert record["bit_exact"] == {"networks": ["two pages of words"], "inputs": 2, "equal": True}
    assert record["area_predicted"]["added"] == plan["area_added"]
    blocks = record["area_measured"]["blocks"]
    added = sum(b["after"] - b["before"] for b in blocks.values())
    assert record["area_measured"]["added"] == pytest.approx(added)
    assert added > 0
    assert record["proofs"] > 0
    # What the option was reckoned to protect and the RTL does not is said by name.
    left = {found["path"]: found["bits"] for found in record["left_out"]}
    assert left == ({"u_dut.u_history.past_q": 1152} if chosen["history"] == "duplicate" else {})
    protected = load_target(tmp_path / "made" / "target.toml")
    copies = [e.path for e in elaborate(protected).sites.elements if "u_copy_b" in e.path]
    assert copies
    assert sorted(p.name for p in tmp_path.iterdir()) == ["made", "options.toml"]
    # The folder is there: another one is not written over it.
    before = (tmp_path / "made" / "build.json").read_bytes()
    assert main([*arguments, "--build", str(tmp_path / "made")]) == 2
    assert "found content" in capsys.readouterr().err
    assert (tmp_path / "made" / "build.json").read_bytes() == before


def test_what_cannot_be_built_is_not_offered_for_building(run, tmp_path, capsys):
    capsys.readouterr()
    options = tmp_path / "options.toml"
    options.write_text(
        f'exclude = ["triplicate", "duplicate", {FLOPS}]\n'
        '[[option]]\nname = "magic"\ntitle = "magic"\nprotects = ["ff"]\nblock_area = 0.1\n'
        "raw_factor = 0.001\ncoverage = 0.0\n"
        'turns_into = "corrected"\nstatus = "assumed"\nsource = "none"\n'
    )
    made = tmp_path / "made"
    arguments = [
        "protect",
        str(run),
        "--budget-fit",
        "0.002",
        "--options",
        str(options),
        "--build",
        str(made),
    ]
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "has no set that reaches its target" in said
    assert [p.name for p in tmp_path.iterdir()] == ["options.toml"]


def plan(result, **chosen):
    groups = tuple(group(block, option) for block, own in chosen.items() for option in own.split())
    return plan_of(result=result, granularity="block", groups=groups)


def test_choices_become_groups():
    groups = groups_of(
        plan("optimal", cc="triplicate", ao="hardened_light"),
        load_options(),
        {"cc": (), "ao": ()},
    )
    assert groups == [
        ProtectionGroup("cc", Mechanism.TRIPLICATION),
        ProtectionGroup("ao", Mechanism.HARDENED),
    ]
    both = groups_of(plan("optimal", sb="duplicate secded"), load_options(), {"sb": ()})
    assert both == [ProtectionGroup("sb", Mechanism.DUPLICATION), ProtectionGroup("sb", Mechanism.SECDED)]


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        (plan("not_needed"), "needs no protection"),
        (plan("infeasible"), "has no set that reaches its target"),
        (plan("optimal", sb="duplicate error_flag"), r"\(error_flag\) was chosen for it and cannot"),
        (plan("optimal", glue="duplicate"), "glue: is no block"),
    ],
)
def test_plans_that_cannot_be_built(chosen, why):
    with pytest.raises(ProtectionError, match=why):
        groups_of(chosen, load_options(), {"sb": ()})


def test_groups_of_registers_become_rtl(run, tmp_path, capsys):
    text = (run.parent / "campaign.toml").read_text().replace("= 60", "= 3000")
    (tmp_path / "campaign.toml").write_text(text)
    assert main(["run", str(tmp_path / "campaign.toml"), "--out", str(tmp_path / "run"), "--quiet"]) in (
        0,
        1,
        3,
    )
    capsys.readouterr()
    made = tmp_path / "made"
    (tmp_path / "own.toml").write_text('exclude = ["hardened_light", "hardened_leap_dice"]')
    arguments = ["protect", str(tmp_path / "run"), "--granularity", "group", "--fit-share", "0.5"]
    arguments += ["--options", str(tmp_path / "own.toml"), "--build", str(made), "--json"]
    code = main(arguments)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    plan = json.loads(printed.out)
    assert plan["result"] == "optimal"
    bits = sum(group["bits"] for group in plan["groups"])
    assert sum(plan["built"]["bits"].values()) == bits > 0
    assert plan["built"]["bit_exact"]["equal"]
    assert all(group["parts"] for group in plan["groups"])
    assert load_target(made / "target.toml").alarms


@pytest.mark.parametrize("workers", [1, 2])
def test_runs_without_a_fault_are_in_the_order_of_inputs_and_of_the_design_that_is_asked(run, workers):
    bench = prepare(load_campaign(run / "campaign.toml"), Progress())
    found = runs_without_fault(
        replace(bench, inputs=(0, 1, 0), engine=lambda k: bench.engine(k % 2)), Progress(), workers
    )
    expected = []
    for position in (0, 1, 0):
        with bench.engine(position) as engine:
            expected.append(engine.golden())
    assert found == expected
    assert found[0] != found[1]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    ("what", "end"),
    [
        ("output", {"output": b"other"}),
        ("cycles", {"end_cycle": 1}),
        ("status", {"status": 77}),
        ("alarms", {"alarms": (Rise("parity", Reported.DETECTED, 3),)}),
    ],
)
def test_a_protected_design_that_does_something_else_on_any_input_is_not_written(run, place, what, end):
    bench = prepare(load_campaign(run / "campaign.toml"), Progress())
    runs = runs_without_fault(bench, Progress(), 1)
    require_same_runs(bench, runs, runs)
    other = [replace(own, end=replace(own.end, **end)) if k == place else own for k, own in enumerate(runs)]
    with pytest.raises(ConsistencyError, match=f"input {place}: .* the same {what} "):
        require_same_runs(bench, runs, other)
    longest = longest_of(runs)
    require_same_runs(bench, runs, runs, longest + 1)
    with pytest.raises(HarnessError, match="false alarm"):
        require_same_runs(bench, runs, runs, longest)
