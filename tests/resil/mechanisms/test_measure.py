# SPDX-License-Identifier: Apache-2.0
"""Permanent faults in a protected design: which cells are mechanisms, and what faults in them do."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter

import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.mechanisms.marks import NO_PART, marked_design, storage_without_cells
from resil.mechanisms.measure import Measurement, MechanismSizes, measure_mechanisms
from resil.mechanisms.text import mechanism_faults_text
from resil.prepare.netlist import logic_design
from resil.progress import Progress
from resil.record.errors import ReportError
from resil.record.fields import json_schema
from resil.record.mechanism_faults import MechanismFaults
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.synthesis import design_under_test
from resil.rtl_harness.faults import Fault, Reported, Seen
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup, build_protection
from resil.rtl_harness.redundancy.parts import mechanism_parts
from testkit.once import made_once
from tests.rtl_harness.redundancy.stepping import stepper, stepper_campaign

GROUPS = {
    "state_q": Mechanism.TRIPLICATION,
    "count_q": Mechanism.DUPLICATION,
    "round_q": Mechanism.PARITY,
    "sum_q[7:0]": Mechanism.PARITY,
}
EVERYTHING = MechanismSizes(10**6, 10**6, 8)
HARM = {Seen.HANG, Seen.SDC_CRITICAL}


def built_campaign(folder):
    """Write the stepper with protected registers, and a campaign on it, to a folder."""
    target = stepper(folder)
    groups = [ProtectionGroup(f"u_dut.{name}", mechanism) for name, mechanism in GROUPS.items()]
    build_protection(target, elaborate(target), groups, folder / "out")
    file = stepper_campaign(folder, "built", 1)
    text = file.read_text().replace('"stepper.toml"', '"out/target.toml"')
    file.write_text(text.replace('hazardous = ["hang"]', 'hazardous = ["hang", "sdc_critical"]'))


@pytest.fixture
def campaign_file(tmp_path_factory, tmp_path):
    made = made_once(tmp_path_factory, "built-stepper-for-pins", built_campaign)
    # Beside it: what is built names its sources from where it lies.
    copy = made.with_name(f"{made.name}-{tmp_path.parent.name}-{tmp_path.name}")
    shutil.copytree(made, copy)
    return copy / "built.toml"


@pytest.fixture
def measured(campaign_file):
    """The measurement of all faults, before it has begun."""
    campaign = load_campaign(campaign_file)
    design = logic_design(campaign, Progress())
    instances = design_under_test(design.target, design.elaboration).instances
    marked = marked_design(
        design.netlist,
        storage_without_cells(design.target, design.elaboration, design.netlist),
        mechanism_parts(instances),
        (),
        "here",
    )
    made = Measurement(campaign, design, marked, EVERYTHING, 1, Progress())
    with made.engine:
        yield made


def kind_by_name(name):
    """What a cell is, from its name alone; None where that does not say it."""
    if ".u_resil_alert" in name:
        return "alarms"
    found = re.match(r"u_dut\.u_(state_q|count_q|round_q|sum_q_7_0)\.(.*)", name)
    if found is None:
        return None
    if re.match(r"u_(copy_a|data)\.", found[2]):
        return ""
    return {"state_q": "triplication", "count_q": "duplication"}.get(found[1], "parity")


def test_cells_belong_to_mechanisms_by_their_instances_and_trees_of_alarms_by_where_they_lead(measured):
    marked, netlist = measured.marked, measured.design.netlist
    for cell, name in enumerate(netlist.names):
        assert kind_by_name(name) in (None, marked.kinds[cell]), name
    rest = {name for cell, name in enumerate(netlist.names) if kind_by_name(name) is None}
    trees = {name for name in rest if marked.kinds[netlist.number[name]] == "alarms"}
    # Four alarms are joined into two; nothing else does nothing but that.
    assert 1 <= len(trees) <= 4
    assert {marked.kinds[netlist.number[name]] for name in rest - trees} == {""}
    pins = netlist.pins
    driven = {
        n: {int(p["net"]) for p in pins[pins["cell"] == netlist.number[n]] if p["output"]} for n in rest
    }
    taken = {
        name: {
            int(p["net"])
            for cell, other in enumerate(netlist.names)
            if other not in trees and kind_by_name(other) != "alarms"
            for p in pins[pins["cell"] == cell]
            if not p["output"]
        }
        for name in list(trees)[:1]
    }
    for name in trees:
        assert not driven[name] & next(iter(taken.values())), name
    assert measured.marked.part_of.min() == NO_PART


def test_all_faults_are_classed_as_the_engine_answers_them(measured):
    engine, netlist, sites = measured.engine, measured.design.netlist, measured.sites
    found = measured.measured()
    assert (found.whole.simulated, found.whole.faults) == (2 * len(netlist.pins), 2 * len(netlist.pins))
    counts: dict[str, Counter[str]] = {}
    every = [Fault(site, 0, held=v) for site in range(sites.first, sites.table.size) for v in (0, 1)]
    for own in engine.run(every):
        kind = measured.marked.kinds[int(netlist.pins["cell"][sites.pin(own.fault.site)])]
        name = "quiet" if own.reported is Reported.NOTHING else "corrected"
        if own.reported is Reported.DETECTED:
            name = "detected" if own.seen in HARM else "false_alarm"
        elif own.seen in HARM:
            name = "hazardous"
        counts.setdefault(kind, Counter())[name] += 1
    for row in found.mechanisms[1:]:
        assert dict(row.counts) == dict(counts.pop(row.name)), row.name
    assert dict(found.blocks[0].counts) == dict(counts.pop("")), found.blocks[0].name
    assert not counts
    # What triplicates corrects, what compares raises alarms; a voter is in the way of what it votes on.
    rows = {row.name: row for row in found.mechanisms}
    assert rows["duplication"].counts["false_alarm"] > 0
    assert "hazardous" not in rows["duplication"].counts
    assert rows["triplication"].counts["corrected"] > 0
    assert rows["triplication"].counts["hazardous"] > 0
    whole = found.whole
    assert whole.coverage[0] == whole.coverage[1] == whole.coverage[2]
    detected, bad = whole.counts["detected"], whole.counts["hazardous"]
    assert whole.coverage[0] == pytest.approx(detected / (detected + bad))


def test_latent_faults_are_those_that_a_second_one_shows(measured):
    found = measured.measured()
    rows = {row.kind: row for row in found.latent}
    whole = rows.pop("all")
    assert whole.quiet == sum(row.quiet for row in rows.values()) == whole.explored
    assert whole.pairs == sum(row.pairs for row in rows.values())
    for kind in ("duplication", "triplication", "parity", "alarms"):
        assert 0 < rows[kind].latent < rows[kind].quiet, kind
    assert found.latent_share.lo == pytest.approx(whole.latent / whole.explored)
    assert found.latent_share.hi == pytest.approx((whole.latent + whole.open) / whole.explored)
    # A comparator that never differs: the pair is a fault of the register that nothing reports.
    pair = next(own for own in found.examples if own.kind == "duplication")
    assert re.search(r"u_count_q\.U\d+/|u_copy_b", pair.first)
    assert "u_copy_a" in pair.second
    engine, netlist, sites = measured.engine, measured.design.netlist, measured.sites
    names = {netlist.pin_name(pin): pin for pin in range(len(netlist.pins))}
    shown = 0
    for pair in found.examples:
        places = [re.match(r"(.*) held at (\d)", text) for text in (pair.first, pair.second)]
        if None in places:
            continue
        one, other = (Fault(sites.first + names[at[1]], 0, held=int(at[2])) for at in places)
        (both,) = engine.together([(other, (*engine.held(one), *engine.held(other)))])
        (alone,) = engine.run([other])
        assert both.seen in HARM
        assert both.detected is None
        assert alone.detected is not None or alone.seen not in HARM
        shown += 1
    assert shown > 3


def test_a_fault_all_of_whose_second_faults_do_nothing_is_safe_and_only_then(measured):
    measured.sizes = MechanismSizes(1, 10**6, 10**6)
    found = measured.measured()
    whole = found.latent[0]
    assert (whole.open, whole.explored) == (0, whole.quiet)
    assert whole.safe > 0
    assert whole.latent > 0
    few = found.latent_share.estimate
    assert few == pytest.approx(whole.latent / whole.quiet)
    assert few < 1.0


def test_samples_are_drawn_without_repetition_and_have_exact_limits(campaign_file, tmp_path):
    campaign = load_campaign(campaign_file)
    sizes = MechanismSizes(300, 120, 5)
    found = measure_mechanisms(campaign, tmp_path / "one", sizes, seed=3)
    again = measure_mechanisms(campaign, tmp_path / "two", sizes, seed=3)
    other = measure_mechanisms(campaign, tmp_path / "three", sizes, seed=4)
    assert found.changed(made="") == again.changed(made="") != other.changed(made="")
    whole = found.mechanisms[0]
    assert (whole.simulated, found.blocks[0].simulated) == (120, 300)
    assert whole.hazardous.lo < whole.hazardous.estimate < whole.hazardous.hi
    assert found.whole.coverage.lo < found.whole.coverage.estimate < found.whole.coverage.hi
    row = found.latent[0]
    assert row.pairs <= 10 * row.quiet
    assert row.held <= 5 * row.quiet
    assert row.share.hi - row.share.lo > 0.05
    text = (tmp_path / "one" / MechanismFaults.FILE).read_text()
    assert MechanismFaults.read(text).text() == text
    assert json_schema(MechanismFaults)["required"] == list(json.loads(text))
    plain = json.loads(text)
    plain["latent"][0]["safe"] = plain["latent"][0]["explored"] + 1
    with pytest.raises(ReportError, match="explored"):
        MechanismFaults.read(json.dumps(plain))


def test_the_command_says_it_and_keeps_it(campaign_file, tmp_path, capsys):
    out = tmp_path / "faults"
    asked = ["--faults", "50", "--own", "40", "--seconds", "3", "--quiet"]
    assert main(["mechanisms", str(campaign_file), "--out", str(out), *asked]) == 0
    said = capsys.readouterr().out
    kept = MechanismFaults.read((out / MechanismFaults.FILE).read_text())
    assert said == mechanism_faults_text(kept, None)
    assert "count as latent" in said
    assert "triplication" in said


def test_a_design_without_mechanisms_is_refused(tmp_path, capsys):
    file = stepper_campaign(tmp_path, "bare", 1)
    assert main(["mechanisms", str(file), "--out", str(tmp_path / "faults"), "--quiet"]) == 2
    assert "expected a design with mechanisms, found none" in capsys.readouterr().err
    text = file.read_text().replace('hazardous = ["hang"]', 'hazardous = ["hang", "due"]')
    file.write_text(text)
    assert main(["mechanisms", str(file), "--out", str(tmp_path / "faults"), "--quiet"]) == 2
    assert "expected detected failures not to be hazardous" in capsys.readouterr().err
    assert not (tmp_path / "faults").exists()
