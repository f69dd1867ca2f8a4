# SPDX-License-Identifier: Apache-2.0
import copy
import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from resil.folder.finished import Finished
from resil.protection.basis import basis_of_summary
from resil.protection.choose import choose
from resil.protection.effects import Mechanisms
from resil.protection.items import menu_of_units, what_is_left
from resil.protection.options import OptionSet, ProtectionError, load_options
from resil.protection.risks import risks_at_limits
from resil.protection.targets import Targets
from resil.protection.unit_plan import Origin, unit_plan
from resil.protection.units import Granularity
from resil.record.blocks import Block, PartLimit, Total
from resil.record.campaign_facts import CampaignRecord, EstimateRecord, NetworkRecord, TargetRecord
from resil.record.interval import RecordedInterval
from resil.record.protection import Protection
from resil.record.protection_parts import ChoosingRun
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary, Verdict
from resil.reports.tables import protection_line
from resil.results.figures import rated_figures
from resil.results.limits import part_limits
from resil.stats.rates import OUTCOMES, StratumCounts, estimate_blocks
from testkit.errors import about

RATES = {"ff": 7.2e-5, "macro": 7.2e-5, "sram": 2e-5}
AREAS = {"cc": 30_000.0, "mac": 60_000.0, "sb": 90_000.0, "cpm": 700.0}
COUNTS = {
    ("cc", "ff", 2400): (200, 20, 10, 40, 20, 10),
    ("mac", "ff", 1300): (300, 20, 60, 6, 0, 0),
    ("sb", "ff", 900): (120, 5, 10, 3, 0, 2),
    ("cpm", "ff", 60): (60, 0, 0, 0, 0, 0),
}
MEMORY = {("sb", "sram", 65536): (500, 30, 60, 9, 1, 0)}
MACROS = {("sb", "macro", 2048): (150, 5, 10, 12, 0, 1)}
OPTIONS = load_options()
ORIGIN = Origin("made", (ChoosingRun(run="made", summary="", injections=300),))
SOURCE = ("ff_bits_source", "macro_bits_source", "sram_bits_source")


def summary_of(counts, rates=RATES, hazardous=("sdc_critical", "hang")):
    """The part of a summary that the planning reads, as plain values that tests alter."""
    strata = [StratumCounts(*key, dict(zip(OUTCOMES, row, strict=True))) for key, row in counts.items()]
    blocks, total = estimate_blocks(strata, rates, hazardous)
    none = dict.fromkeys(("weights_bits", "activations_bits", *SOURCE), 0)

    def row(own, area):
        bits = {f"{kind}_bits": own.bits.get(kind, 0) for kind in RATES}
        sram = bits["sram_bits"] * OPTIONS.cells["sram", "GE"].area
        areas = {"area": area, "sram_area": sram, "area_unit": "GE"}
        return {"block": own.block, **bits, **none, **areas, **rated_figures(own)}

    return {
        "predicted": False,
        "campaign": {
            "confidence": 0.95,
            "hazardous": hazardous,
            "kinds": tuple(sorted({key[1] for key in counts})),
            "clusters": (1.0,),
            "inputs": [0],
        },
        "target": {
            "ff_bits": 4660,
            "macro_bits": 2048 if MACROS.keys() <= counts.keys() else 0,
            "sram_bits": 65536,
        },
        "blocks": [row(b, AREAS[b.block]) for b in blocks],
        "limits": [dict(own) for own in part_limits(strata, None, rates, hazardous, 0.95)],
        "total": row(total, sum(AREAS.values()) + 500.0),
    }


def typed(document):
    """The part of a summary that planning reads, as it is read; whether it adds up is not looked at."""
    return Summary.model_construct(
        logic=(),
        estimate=EstimateRecord.model_construct() if document["predicted"] else None,
        campaign=CampaignRecord.model_construct(**document["campaign"]),
        target=TargetRecord.model_construct(**document["target"]),
        network=NetworkRecord.model_construct(name="made"),
        verdict=Verdict.model_construct(population="the network made"),
        blocks=tuple(map(Block.model_validate, document["blocks"])),
        limits=tuple(map(PartLimit.model_validate, document["limits"])),
        total=Total.model_validate(document["total"]),
    )


def design_of(summary, options):
    basis = basis_of_summary(Finished(Path(), "run", {}, typed(summary), ""), options)
    return basis.design(options, Granularity.BLOCK), basis.networks


def plan_of(summary, options, budget, spfm=None):
    """The plan by blocks and their limits."""
    design, networks = design_of(summary, options)
    targets = Targets(budget, spfm)
    choice = choose(design, networks, targets)
    (plan,) = unit_plan(design, networks, targets, choice, Granularity.BLOCK, [typed(summary)], ORIGIN)
    return plan.plain()


def read(plan):
    return Protection.read(json.dumps(plan))


def without(*names):
    gone = (*names, "flop_parity", "flop_duplicate", "flop_triplicate", "lockstep")
    known = {name: option for name, option in OPTIONS.options.items() if name not in gone}
    return OptionSet(known, OPTIONS.cells)


FF = summary_of(COUNTS)
BOTH = summary_of(COUNTS | MEMORY)


def choice(plan, block):
    return next(c for c in plan["choices"] if c["block"] == block)


@pytest.mark.parametrize("summary", [FF, BOTH], ids=["ff", "both"])
@pytest.mark.parametrize("budget", [1.0, 0.03, 0.01, 0.003, 0.0])
def test_the_document_keeps_its_contract(summary, budget):
    plan = json.loads(json.dumps(plan_of(summary, OPTIONS, budget)))
    parsed = read(plan)
    assert parsed.result == {1.0: "not_needed", 0.0: "infeasible"}.get(budget, "optimal")
    areas = [p.area_added for p in parsed.pareto]
    fits = [p.fit_hi for p in parsed.pareto]
    assert areas == sorted(set(areas))
    assert fits == sorted(set(fits), reverse=True)
    assert parsed.pareto[0].fit_hi == parsed.fit_hi_unprotected
    if parsed.result == "optimal":
        assert parsed.fit_hi <= budget
        assert parsed.gap == 0.0
        assert parsed.bound == pytest.approx(parsed.area_added, rel=1e-12)
        assert parsed.area_added == pytest.approx(sum(c.area_added for c in parsed.choices))
        assert parsed.fit_hi == pytest.approx(sum(c.fit_hi_after for c in parsed.choices))
        assert parsed.fit <= parsed.fit_hi
        cheapest = next(p for p in parsed.pareto if p.fit_hi <= budget)
        assert cheapest.area_added == pytest.approx(parsed.area_added)
        assert parsed.area_overhead == pytest.approx(parsed.area_added / parsed.area_unprotected)
        for c in parsed.choices:
            left = cheapest.blocks[c.block]
            assert (left.fit_before, left.fit_after) == pytest.approx((c.fit_before, c.fit_after))
            assert (left.fit_hi_before, left.fit_hi_after) == pytest.approx((c.fit_hi_before, c.fit_hi_after))
        bare = parsed.pareto[0].blocks.values()
        assert all(left.fit_hi_before == left.fit_hi_after for left in bare)
        assert all(c.source for c in parsed.choices)


def test_within_budget_nothing_is_needed():
    plan = plan_of(FF, OPTIONS, FF["total"]["fit_hi"])
    assert plan["result"] == "not_needed"
    assert plan["choices"] == plan["groups"] == []
    assert plan["area_added"] == plan["bound"] == plan["gap"] == 0.0
    assert plan["fit_hi"] == plan["fit_hi_unprotected"] == FF["total"]["fit_hi"]
    assert plan["fit"] == pytest.approx(FF["total"]["fit"])


def test_out_of_reach_is_an_answer():
    plan = plan_of(FF, OPTIONS, 1e-12)
    assert plan["result"] == "infeasible"
    assert plan["choices"] == []
    assert plan["area_added"] is plan["fit_hi"] is plan["gap"] is None
    assert plan["pareto"][-1]["fit_hi"] > 1e-12


def test_hardened_flip_flops_cost_on_flip_flops_only():
    plan = plan_of(FF, without("duplicate", "triplicate", "hardened_light"), 0.001)
    cc = choice(plan, "cc")
    assert cc["option"] == "hardened_leap_dice"
    assert cc["area_added"] == pytest.approx(2400 * OPTIONS.cells["ff", "GE"].area)
    assert cc["fit_after"] == pytest.approx(cc["fit_before"] * 2e-2)


def test_duplicating_everything_is_the_npu_and_its_comparator():
    assert plan_of(FF, OPTIONS, 0.01)["area_overhead_lockstep"] == pytest.approx(1.03)
    none = {name: option for name, option in OPTIONS.options.items() if name != "lockstep"}
    assert plan_of(FF, OptionSet(none, OPTIONS.cells), 0.01)["area_overhead_lockstep"] is None


def test_unknown_cell_areas_leave_hardening_out_and_say_so():
    summary = copy.deepcopy(FF)
    for row in (*summary["blocks"], summary["total"]):
        row["area_unit"] = "um2"
    plan = plan_of(summary, OPTIONS, 0.002)
    assert {c["option"] for c in plan["choices"]} <= {"none", "duplicate", "triplicate", "lockstep"}
    assert any("The area of flip-flops in um2 is not known" in a for a in plan["assumptions"])


def test_memories_and_flip_flops_of_a_block_are_protected_apart():
    plan = plan_of(BOTH, without("duplicate", "triplicate", "hardened_light"), 0.003)
    sb = choice(plan, "sb")
    assert sb["option"] == "hardened_leap_dice+secded"
    assert sb["option_title"] == "LEAP-DICE flip-flops (900 bits), SECDED on memories (65,536 bits)"
    cells = OPTIONS.cells
    assert sb["area_added"] == pytest.approx(
        900 * cells["ff", "GE"].area + 0.602 * 65536 * cells["sram", "GE"].area
    )
    ff, sram = 900 * 7.2e-5 * 5 / 140, 65536 * 2e-5 * 9 / 600
    assert sb["fit_before"] == pytest.approx(ff + sram)
    assert sb["fit_after"] == pytest.approx(ff * 2e-2 + sram * 0.01 * 1.21875)
    assert {o["option"] for o in plan["choices"] if o["block"] == "cc"}.isdisjoint({"secded", "parity"})


def test_storage_of_unknown_risk_is_refused():
    for summary in (FF, BOTH):
        for place in range(len(summary["limits"])):
            lacking = copy.deepcopy(summary)
            del lacking["limits"][place]
            with pytest.raises(ProtectionError, check=about("blocks")):
                plan_of(lacking, OPTIONS, 1e6)
    with pytest.raises(ProtectionError, check=about("blocks")):
        plan_of({**FF, "limits": []}, OPTIONS, 1e6)


def test_limits_of_zero_under_a_total_above_it_are_refused():
    summary = copy.deepcopy(FF)
    for entry in summary["limits"]:
        entry.update(fit=RecordedInterval(0.0, 0.0, 0.0), fit_hi_joint=0.0)
    with pytest.raises(ProtectionError, check=about("total.fit")):
        plan_of(summary, OPTIONS, 1e6)


@pytest.mark.parametrize("seed", range(40))
def test_no_plan_is_narrower_than_the_run(seed):
    """Whatever the total: for inputs like these, or of a model, it need not follow from the parts."""
    rng = np.random.default_rng(seed)
    counts = {key: tuple(rng.integers(0, 60, 6).tolist()) for key in COUNTS | (MEMORY if seed % 2 else {})}
    summary = summary_of({key: row if sum(row) else (1, 0, 0, 0, 0, 0) for key, row in counts.items()})
    summary["total"]["fit_hi"] *= float(rng.choice([1.0, 1.7, 10.0]))
    whole = summary["total"]["fit_hi"]
    for budget in (whole * 0.5, whole, whole * 2.0):
        plan = plan_of(summary, OPTIONS, budget)
        assert plan["fit_hi_unprotected"] == whole
        assert plan["pareto"][0]["fit_hi"] == whole
        assert plan["result"] == ("not_needed" if budget >= whole else plan["result"])
        assert (plan["result"] == "not_needed") == (budget >= whole)
        if plan["choices"]:
            assert sum(c["fit_hi_before"] for c in plan["choices"]) >= whole * (1 - 1e-12)


def test_limits_stand_for_the_whole_error_of_the_parts():
    one, four = summary_of({("cc", "ff", 2400): COUNTS["cc", "ff", 2400]}), FF
    assert one["limits"][0]["fit_hi_joint"] == pytest.approx(one["total"]["fit_hi"])
    assert four["limits"][0]["fit_hi_joint"] > one["limits"][0]["fit_hi_joint"]


def test_a_plan_for_an_estimate_is_called_predicted():
    plan = read(plan_of({**FF, "predicted": True}, OPTIONS, 1e6))
    assert plan.from_estimate
    assert plan.assumptions[0].startswith("PREDICTED: nothing was injected")
    assert protection_line(ProtectionState(plan)).startswith("PREDICTED, NOT MEASURED: NO PROTECTION NEEDED")
    assert not read(plan_of(FF, OPTIONS, 1e6)).from_estimate


def test_bounds_hold_for_whichever_set_is_chosen(monkeypatch):
    """The truth of the set chosen from sampled campaigns exceeds its bound no more often than claimed."""
    monkeypatch.setattr("resil.protection.choose._FRONT", ())
    rng, p = np.random.default_rng(4), {"cc": 0.04, "mac": 0.01, "sb": 0.02, "cpm": 0.05}
    n, bits = {"cc": 60, "mac": 60, "sb": 60, "cpm": 60}, {"cc": 2400, "mac": 1300, "sb": 900, "cpm": 60}
    wrong = tried = 0
    for _ in range(150):
        counts = {}
        for block in p:
            x = int(rng.binomial(n[block], p[block]))
            counts[block, "ff", bits[block]] = (n[block] - x, 0, 0, x, 0, 0)
        plan = plan_of(summary_of(counts), OPTIONS, 0.008)
        if plan["result"] != "optimal":
            continue
        tried += 1
        truth = sum(
            bits[c["block"]]
            * 7.2e-5
            * p[c["block"]]
            * OPTIONS.options[c["option"]].residual_share("ff", ["sdc_critical"])
            for c in plan["choices"]
        )
        wrong += truth > plan["fit_hi"]
    assert tried > 100
    assert wrong <= 0.025 * tried + 3 * np.sqrt(0.025 * tried)


def test_spfm_is_asked_of_the_lower_limit():
    plan = plan_of(FF, OPTIONS, None, 0.99)
    assert plan["result"] == "optimal"
    assert plan["spfm_lo"] >= 0.99
    unasked = plan_of(FF, OPTIONS, 0.05)
    assert unasked["spfm_lo"] < 0.99


def test_bounds_hold_over_the_ranges_of_the_figures():
    """At most 2 % of the upsets are left, not the 0.02 % of the figure itself."""
    plan = plan_of(FF, without("duplicate", "triplicate", "hardened_light"), 0.001)
    assert plan["fit_hi"] == pytest.approx(sum(0.02 * c["fit_hi_before"] for c in plan["choices"]))
    assert plan["fit"] == pytest.approx(0.02 * FF["total"]["fit"], rel=0.05)
    hardened = choice(plan, "cc")
    assert hardened["base_factor"] == pytest.approx(2e-4)
    assert hardened["coverage"] == 0.0


def test_spfm_before_and_after_are_those_of_the_summary_and_of_the_sums():
    plan = plan_of(FF, OPTIONS, 0.01)
    total = FF["total"]
    assert plan["spfm_before"] == pytest.approx(1 - total["fit"] / total["fit_raw"])
    assert plan["spfm_lo_before"] == pytest.approx(1 - total["fit_hi"] / total["fit_raw"])
    raw = sum(c["fit_raw_after"] for c in plan["choices"])
    assert plan["fit_raw_after"] == pytest.approx(raw)
    assert plan["spfm"] == pytest.approx(1 - plan["fit"] / raw)
    assert plan["spfm_lo"] <= plan["spfm"]
    assert any("the denominator of SPFM at its least" in text for text in plan["assumptions"])


def test_hardening_alone_does_not_raise_spfm():
    assert plan_of(FF, without("duplicate", "triplicate"), None, 0.99)["result"] == "infeasible"


def test_where_detection_is_hazardous_duplication_is_never_chosen():
    summary = summary_of(COUNTS, hazardous=("sdc_critical", "due", "hang"))
    plan = plan_of(summary, OPTIONS, 0.0005)
    assert "duplicate" not in {c["option"] for c in plan["choices"]}
    assert any("Detected failures count as hazardous" in a for a in plan["assumptions"])


def test_what_was_not_injected_is_said():
    assert any(
        "Failures from memories are not counted" in a for a in plan_of(FF, OPTIONS, 0.01)["assumptions"]
    )
    assert not any("are not counted" in a for a in plan_of(BOTH, OPTIONS, 0.01)["assumptions"])


def test_a_block_without_storage_needs_nothing():
    summary = copy.deepcopy(FF)
    empty = {
        **summary["blocks"][0],
        "block": "glue",
        "ff_bits": 0,
        "area": 50.0,
        **dict.fromkeys((*OUTCOMES, "injections"), 0),
    }
    summary["blocks"].append(empty)
    plan = plan_of(summary, OPTIONS, 0.001)
    assert plan["result"] == "optimal"
    assert "glue" not in {c["block"] for c in plan["choices"]}


def offered(summary, options, block):
    """Names of what is offered in a block, with the kinds of storage that the units have which it covers."""
    design, networks = design_of(summary, options)
    found = {}
    for item in menu_of_units(design, networks[0].hazardous).items:
        if item.option and design.units[item.units[0]].block == block:
            kinds = {kind for unit in item.units for kind, _ in design.units[unit].bits}
            found[item.option.name] = kinds
    return found


def test_no_cell_is_offered_for_flip_flops_inside_macros():
    """What acts on them is what acts on memories; a hardened cell leaves their rate as it is."""
    summary = summary_of(COUNTS | MEMORY | MACROS)
    found = offered(summary, OPTIONS, "sb")
    assert found["hardened_light"] == found["duplicate"] == {"ff"}
    assert found["secded"] == found["parity"] == {"macro", "sram"}
    assert found["lockstep"] == {"ff", "macro", "sram"}
    text = " ".join(plan_of(summary, OPTIONS, 0.01)["assumptions"])
    assert "2,048 flip-flops lie inside SRAM macros" in text
    assert "SECDED on memories" in text
    assert "lie inside SRAM macros" not in " ".join(plan_of(BOTH, OPTIONS, 0.01)["assumptions"])


def test_macros_alone_get_the_codes_of_memories_or_nothing():
    summary = summary_of(COUNTS | MACROS)
    assert {n for n, kinds in offered(summary, OPTIONS, "sb").items() if kinds == {"macro"}} == {
        "parity",
        "secded",
    }
    codes = {name for name, option in OPTIONS.options.items() if "macro" in option.protects}
    none = OptionSet({n: o for n, o in OPTIONS.options.items() if n not in codes}, OPTIONS.cells)
    assert all(kinds == {"ff"} for kinds in offered(summary, none, "sb").values())


def test_an_option_of_flip_flops_and_memories_is_paid_for_once(tmp_path):
    (tmp_path / "own.toml").write_text(
        '[[option]]\nname = "shield"\ntitle = "shield"\nprotects = ["ff", "sram"]\nblock_area = 0.1\n'
        'raw_factor = 1.0\ncoverage = 0.999\nturns_into = "due"\nstatus = "assumed"\nsource = "made"\n'
    )
    own = load_options(tmp_path / "own.toml")
    plan = plan_of(BOTH, own, 0.004)
    assert choice(plan, "sb")["option"] == "shield"
    assert choice(plan, "sb")["area_added"] == pytest.approx(0.1 * AREAS["sb"])


def test_what_has_no_area_is_not_free():
    """A block whose logic is counted elsewhere: a copy of it takes at least the area of its storage."""
    summary = copy.deepcopy(FF)
    for row in summary["blocks"]:
        row["area"] = 0.0
    only = OptionSet({n: OPTIONS.options[n] for n in ("none", "duplicate", "error_flag")}, OPTIONS.cells)
    cc = choice(plan_of(summary, only, 0.002), "cc")
    assert cc["option"] == "duplicate"
    assert cc["area_added"] == pytest.approx(1.03 * 2400 * OPTIONS.cells["ff", "GE"].area)


@pytest.mark.parametrize("seed", range(12))
def test_the_set_of_least_area_is_that_of_brute_force(seed):
    """Whole flip-flops, whole memories and copies of blocks, by joint limits, within a budget and SPFM."""
    rng = np.random.default_rng(seed)
    counts = {key: (200, 0, 0, int(rng.integers(1, 60)), 0, 0) for key in list(COUNTS)[:2]} | MEMORY
    summary = summary_of(counts)
    names = rng.choice([n for n in OPTIONS.options if n not in ("none", "watchdog", "error_flag")], 5, False)
    own = {n: OPTIONS.options[n] for n in ("none", "error_flag", *names)}
    options = OptionSet(own, OPTIONS.cells)
    budget = summary["total"]["fit_hi"] * float(rng.choice([0.02, 0.1, 0.5]))
    spfm = float(rng.choice([0.9, 0.97])) if seed % 2 else None
    plan = plan_of(summary, options, budget, spfm)
    design, networks = design_of(summary, options)
    menu = menu_of_units(design, networks[0].hazardous)
    keys = zip(design.cells.block, design.cells.kind, strict=True)
    hi = dict(zip(keys, networks[0].limits.fit_hi, strict=True))
    raw = {key: networks[0].fit_per_bit[key] * n for key, n in zip(hi, design.cells.bits, strict=True)}
    best = np.inf
    sets = [[i for i in menu.items if n in i.units] for n in range(len(design.units))]
    for picked in product(*sets):
        taken = dict.fromkeys(picked)
        if sum(len(item.units) for item in taken) != len(design.units):
            continue
        fit = left = 0.0
        for item in taken:
            for n in item.units:
                for kind, _ in design.units[n].bits:
                    key = design.units[n].block, kind
                    grown = 1.0 if item.option is None else 1.0 + item.option.added_bits
                    covered = item.option is not None and kind in item.option.protects
                    weak = item.option.worst_residual_share(kind, ()) * grown if covered else 1.0
                    fit += hi[key] * weak
                    left += raw[key] * (item.option.raw_share_at(kind, weak=False) if covered else 1.0)
        if fit <= budget and (spfm is None or 1.0 - fit / left >= spfm):
            best = min(best, sum(float(menu.cost[list(menu.items).index(item)]) for item in taken))
    copied = [1.03 * design.area] if "lockstep" in own else []
    kept = [c for c in copied if 0.01 * 2.0 * sum(hi.values()) <= budget]
    best = min([best, *kept])
    assert plan["result"] == ("infeasible" if best == np.inf else "optimal")
    if best < np.inf:
        assert plan["area_added"] == pytest.approx(best)
        assert plan["gap"] == 0.0


def test_codes_on_memories_meet_clusters():
    def said(clusters):
        campaign = BOTH["campaign"] | ({"clusters": clusters} if clusters else {})
        return plan_of({**BOTH, "campaign": campaign}, OPTIONS, 0.01)["assumptions"]

    assert any("flip up to 3 bits of a word" in text for text in said([0.9, 0.08, 0.02]))
    assert not any("bits of a word" in text for text in said([1.0]))


def test_limits_keep_what_a_code_misses_of_the_clusters():
    """By blocks of one run: parity keeps the third of the limit that pairs stand for."""
    only = without("secded", "duplicate", "triplicate", "hardened_light", "hardened_leap_dice")
    summary = summary_of(MEMORY)

    def left(clusters):
        campaign = summary["campaign"] | {"clusters": clusters}
        design, (network,) = design_of({**summary, "campaign": campaign}, only)
        coded = [item for item in menu_of_units(design, network.hazardous).items if item.option]
        risks = risks_at_limits(network, design.cells)
        return what_is_left(design, coded, network, risks, Mechanisms()).fit

    assert left((0.8, 0.2)) == pytest.approx(left((1.0,)) * (2 / 3 * 0.4 + 1 / 3) / 0.4)
    assert plan_of(summary, only, 0.5 * summary["total"]["fit_hi"])["result"] == "optimal"
    pairs = {**summary, "campaign": summary["campaign"] | {"clusters": (0.8, 0.2)}}
    assert plan_of(pairs, only, 0.5 * summary["total"]["fit_hi"])["result"] == "infeasible"
