# SPDX-License-Identifier: Apache-2.0
"""No look is forgotten: the ledger notices what was done to it, and judges are known by their content."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from resil.campaign.network_settings import NetworkSettings
from resil.errors import StoreError
from resil.folder.looks import LEDGER, Judge, ProtectionLook
from resil.networks import zoo
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import serialise_network
from resil.progress import Progress
from resil.protection import judges
from resil.protection.confirm_runs import Sizes, by_raw_rate
from resil.protection.corners import Corner
from resil.protection.judges import (
    differing_share,
    judge_of,
    refuse_known_judges,
    refuse_near_copies,
    require_sensitive,
)
from resil.protection.ledger import LookLedger, shared_confidence
from resil.protection.observed import Observed, ObservedStratum, evidence_of
from resil.record.golden import GoldenComparison
from resil.results.summarise import upset_rates
from resil.stats.evidence import PooledGroup
from testkit.campaigns import TEXT, campaign
from testkit.errors import about
from testkit.fake import fake_bench
from tests.resil.protection.plans import plan_of

JUDGE = Judge(name="b", network="n1", content="c1", injections=100)


def look(number=1, rtl="r", **changes):
    given = {"rtl": rtl, "folder": "built", "runs": ("run",), "asked": "a", "seed": 10 + number}
    given |= {"number": number, "confidence": shared_confidence(0.95, number), "judges": (JUDGE,)}
    return ProtectionLook(**{**given, **changes})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A build whose ledger has two looks, one of them without an end."""
    monkeypatch.setenv("RESIL_DATA", str(tmp_path / "data"))
    build = tmp_path / "built"
    build.mkdir()
    ledger = LookLedger(build)
    ledger.register(look(1))
    ledger.finish(look(1), confirmed=True)
    ledger.register(look(2))
    return tmp_path


def test_a_look_without_an_end_is_remembered_wherever_the_build_lies(folder):
    expected = [(look(1), True), (look(2), None)]
    assert LookLedger().results() == LookLedger(folder / "built").results() == expected
    assert (folder / "data" / LEDGER).read_text() == (folder / "built" / LEDGER).read_text()
    # A copy of before a look is behind, and takes nothing away.
    (folder / "other").mkdir()
    assert LookLedger(folder / "other").results() == expected
    lines = (folder / "built" / LEDGER).read_text().splitlines(keepends=True)
    (folder / "other" / LEDGER).write_text(lines[0])
    assert LookLedger(folder / "other").results() == expected


def edited(lines):
    line = json.loads(lines[1])
    line["confirmed"] = False
    return [lines[0], json.dumps(line) + "\n", lines[2]]


DAMAGE = {
    "cut": (lambda lines: lines[:-1], "ledger.copy"),
    "emptied": (lambda lines: [], "ledger.copy"),
    "edited": (edited, "line 2"),
    "reordered": (lambda lines: [lines[0], lines[2], lines[1]], "line 2"),
    "a line gone": (lambda lines: [lines[0], lines[2]], "line 2"),
    "the first gone": (lambda lines: lines[1:], "line 1"),
    "no JSON": (lambda lines: [lines[0], "x\n"], "line 2"),
}


@pytest.mark.parametrize(("change", "field"), DAMAGE.values(), ids=DAMAGE)
def test_a_ledger_that_was_touched_is_refused(change, field, folder):
    file = folder / "data" / LEDGER
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))
    with pytest.raises(StoreError, check=about(field)):
        LookLedger(folder / "built")


def test_a_ledger_that_was_written_anew_as_a_whole_is_seen_in_the_build(folder):
    (folder / "data" / LEDGER).unlink()
    ledger = LookLedger()
    for number in range(1, 4):
        ledger.register(look(number, seed=99))
    with pytest.raises(StoreError, check=about("ledger.copy")):
        LookLedger(folder / "built")


def test_two_looks_at_one_rtl_do_not_begin_at_once(folder):
    one, other = LookLedger(), LookLedger(folder / "built")
    one.register(look(3))
    with pytest.raises(StoreError, check=about("another look")):
        other.register(look(3, seed=50))
    other.register(look(1, rtl="another"))


def test_all_looks_share_the_error():
    spent = [1.0 - shared_confidence(0.95, number) for number in range(1, 2000)]
    assert sum(spent) == pytest.approx(0.05, rel=1e-3)
    assert spent == sorted(spent, reverse=True)


@pytest.mark.parametrize("result", [False, None], ids=["failed", "not ended"])
def test_a_judge_is_known_under_any_name(result):
    again = JUDGE.changed(name="fresh", content="another rule")
    with pytest.raises(StoreError, check=about("--verify-network.looks")):
        refuse_known_judges([again], [(look(1), result)])
    refuse_known_judges([again], [(look(1), True)])
    refuse_known_judges([again.changed(network="n2")], [(look(1), result)])


def changed_weights(graph, change):
    """The network with other int8 weights in every constant of several."""
    tensors = [
        replace(own, data=change(own.data)) if own.data is not None and own.data.size > 8 else own
        for own in graph.tensors
    ]
    return replace(graph, tensors=tuple(tensors))


def one_bit(data):
    other = data.copy()
    other.view(np.uint8).reshape(-1)[3] ^= 1
    return other


def test_a_few_changed_bits_make_no_other_network(tmp_path):
    graph = read_network(zoo.load("digits").path)
    (tmp_path / "bit.tflite").write_bytes(serialise_network(changed_weights(graph, one_bit)))
    chose = campaign()
    work = replace(chose, work=NetworkSettings(str(tmp_path / "bit.tflite"), (0,)))
    assert differing_share(graph, read_network(tmp_path / "bit.tflite")) < 0.01
    with pytest.raises(StoreError, check=about("--verify-network.weights")):
        refuse_near_copies({"bit": work}, [chose])
    rng = np.random.default_rng(2)
    other = changed_weights(graph, lambda data: rng.permutation(data.reshape(-1)).reshape(data.shape))
    (tmp_path / "bit.tflite").write_bytes(serialise_network(other))
    refuse_near_copies({"bit": work}, [chose])
    assert differing_share(graph, read_network(zoo.load("mnist_vgg").path)) is None


def test_a_judge_is_its_weights_its_inputs_and_its_rule(monkeypatch):
    monkeypatch.setattr(judges, "prepare", fake_bench)

    def judged(name="a", path="zoo:digits", inputs=(0,), **rule):
        work = replace(campaign(), work=NetworkSettings(path, inputs, **rule), name=name)
        return judge_of(name, work, Progress())

    own = judged()
    assert judged("b").changed(name="a") == own
    # The same weights, judged otherwise: known by the weights, told apart by the content.
    for other in (
        judged(inputs=(1,)),
        judged(decision="exact"),
        judged(decision="reconstruction", threshold=1e9),
        judged(decision="reconstruction", threshold=1e9 + 1),
    ):
        assert other.network == own.network
        assert other.content != own.content
    assert judged(path="zoo:mnist_vgg").network != own.network


PLAN = plan_of(budget_fit=0.05)


def found(bad):
    group = PooledGroup("cc", "ff", 8.0, {"masked": 1000 - bad, "sdc_critical": bad})
    return Observed("lax", (ObservedStratum(group),), ())


def required(plan, *observed):
    require_sensitive(plan, observed, {"sdc_critical"}, 0.95, {})


def test_a_judge_that_calls_nothing_wrong_cannot_confirm():
    """As a threshold of 1e9 does: without protection, too, no injection is critical."""
    for bad in (0, 6):
        with pytest.raises(StoreError, check=about("--verify-network.refuses")):
            required(PLAN, found(300), found(bad))
    required(PLAN, found(300))
    with pytest.raises(StoreError, check=about("--verify-network.refuses")):
        required(PLAN.changed(spfm_target=0.99), found(0))
    required(PLAN.changed(budget_fit=None, spfm_target=0.99), found(300))
    required(PLAN.changed(budget_fit=None, fit_share_target=0.5), found(300))
    with pytest.raises(StoreError, check=about("--verify-network.refuses")):
        required(PLAN.changed(budget_fit=None, fit_share_target=0.5), found(0))


def test_a_limit_of_detected_failures_alone_needs_a_judge_that_detects_too_many():
    """The fault: nothing was injected without protection, and any network confirmed such a plan."""
    alone = PLAN.changed(budget_fit=None, due_fit_target=1.0)
    with pytest.raises(StoreError, check=about("--verify-network.refuses")):
        required(alone, found(300))
    group = PooledGroup("cc", "ff", 8.0, {"masked": 700, "due": 300})
    required(alone, Observed("loud", (ObservedStratum(group),), ()))


def test_each_kind_of_storage_counts_at_the_rates_of_one_corner():
    """The fault: the highest factor of any kind, 3 of SRAM, raised the FIT of flip-flops, whose is 1."""
    groups = (
        PooledGroup("cc", "ff", 8.0, {"masked": 990, "sdc_critical": 10}),
        PooledGroup("sb", "sram", 8.0, {"masked": 1000}),
    )
    judge = Observed("lax", tuple(map(ObservedStratum, groups)), ())
    corners = {f"SRAM {own}": Corner({"ff": 1.0, "sram": own}) for own in (0.3, 3.0)}
    lowest = evidence_of(judge.strata, 1, 0.95).rate({"sdc_critical"}).lo
    asked = PLAN.changed(budget_fit=2.0 * lowest)
    with pytest.raises(StoreError, check=about("--verify-network.refuses")):
        require_sensitive(asked, [judge], {"sdc_critical"}, 0.95, corners)
    raised = {"both highest": Corner({"ff": 3.0, "sram": 3.0})}
    require_sensitive(asked, [judge], {"sdc_critical"}, 0.95, raised)


def test_a_judge_that_fails_by_hangs_alone_judges_no_outputs():
    """On the NPU with a threshold of 1e9: 177 wrong outputs were tolerable, 19 hangs missed the budget."""
    counts = {"masked": 600, "sdc_tolerable": 177, "hang": 300}
    hangs = Observed("lax", (ObservedStratum(PooledGroup("cc", "ff", 8.0, counts)),), ())
    with pytest.raises(StoreError, check=about("--verify-network.refuses")):
        require_sensitive(PLAN, [hangs], {"sdc_critical", "hang"}, 0.95, {})
    # Where hangs alone are hazardous nothing is asked of outputs.
    require_sensitive(PLAN, [hangs], {"hang"}, 0.95, {})


def test_a_network_whose_golden_output_is_another_s_judges_nothing():
    """The fault: with accept_golden a hold-out network confirmed, and nothing said so."""
    differs = {"reference": "TFLM", "inputs": 1, "elements": 9, "differing": 2, "text": "of input 0 all"}
    other = replace(found(300), golden=GoldenComparison(state="differs", **differs))
    with pytest.raises(StoreError, check=about("--verify-network.golden")):
        required(PLAN, other)


def test_a_network_that_misses_is_shown_to_miss():
    """As `digits_separable`: 3.9 % of upsets in flip-flops fail, of nine bits in ten that are SRAM none does.

    The fault: 1,000 upsets by bits leave 130 to the flip-flops, and a sound network is refused as lax.
    """
    asked = campaign(TEXT.replace('["ff"]', '["ff", "sram"]'))
    bits = {"ff": 19_660, "macro": 0, "sram": 131_072}
    block = SimpleNamespace(name="cc", **{f"{kind}_bits": n for kind, n in bits.items()})
    run = SimpleNamespace(summary=SimpleNamespace(blocks=(block,)))
    counts = by_raw_rate(run, asked, Sizes().unprotected, 10_000)["cc"]
    technology = upset_rates(asked)
    draws = np.random.default_rng(1).binomial(counts["ff"], 0.039, 100)
    shown = 0
    for bad in draws.tolist():
        groups = [
            PooledGroup(
                "cc", kind, bits[kind] * technology.fit_per_bit(kind), {"masked": n - lost, "hang": lost}
            )
            for kind, n in counts.items()
            for lost in (bad if kind == "ff" else 0,)
        ]
        seen = Observed("separable", tuple(map(ObservedStratum, groups)), ())
        with suppress(StoreError):
            plan = PLAN.changed(budget_fit=None, spfm_target=0.99)
            require_sensitive(plan, [seen], {"hang"}, 0.95, {})
            shown += 1
    assert shown >= 90
    # Of a run that is soon over there are fewer faults.
    few = by_raw_rate(run, asked, Sizes().unprotected, 1)["cc"]
    assert sum(few.values()) == 12_000
    block.ff_bits, block.sram_bits = 30, 100
    assert by_raw_rate(run, asked, Sizes().unprotected, 20) == {"cc": {"ff": 600, "sram": 2000}}
