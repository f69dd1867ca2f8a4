# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.npu.work import operation_work
from resil.sensitivity.coverage import QUANTITIES, held
from resil.sensitivity.intervals import TOTAL, ModelError, block_estimates
from resil.sensitivity.left_out import Prediction, fit_severity, left_out_rows, without
from resil.sensitivity.model import SHIPPED, load_model
from resil.sensitivity.observations import START, START_KIND, ObservedRun, SensitivityCell
from resil.sensitivity.predict import PartPrediction, part_rates, predict_parts
from resil.sensitivity.severity import (
    Severity,
    critical_share,
    log_odds,
    references,
    shifted,
)
from resil.stats.intervals import clopper_pearson
from resil.stats.rates import OUTCOMES
from resil.work.inference import Inference

PART = ("ao", "ff")
CELL = SensitivityCell("ff", "ao", "data", "u.q", 0)
LEARNT = np.array([0.5, 0.2, 0.2, 0.05, 0.02, 0.03])
T, C = OUTCOMES.index("sdc_tolerable"), OUTCOMES.index("sdc_critical")


def run_with(network, share):
    counts = np.round(LEARNT * 20_000)
    corrupted = counts[T] + counts[C]
    counts[T], counts[C] = corrupted * (1 - share), corrupted * share
    summary = SimpleNamespace(
        network=SimpleNamespace(sha256=network, operations=()), target=SimpleNamespace(name="t")
    )
    return ObservedRun(
        Path(network), summary, {}, {CELL: 8}, (), {(CELL, 0): tuple(counts.astype(int).tolist())}, ()
    )


def predictions(true, drawn):
    """Networks with these shares of critical ones, in truth and among 10,000 drawn corruptions."""
    found = []
    for number, (share, own) in enumerate(zip(true, drawn, strict=True)):
        part = PartPrediction(8, LEARNT, np.ones(1), (round(own * 10_000), 10_000))
        found.append(Prediction(run_with(f"n{number}", share), {PART: part}))
    return found


def test_a_difference_to_other_networks_moves_the_learnt_share():
    severity = Severity({"ff": 0.5}, {PART: log_odds(0.1)})
    assert severity.share(PART, 0.2, (10_000, 100_000)) == pytest.approx(0.2, abs=1e-3)
    more, fewer = (severity.share(PART, 0.2, (drawn, 100_000)) for drawn in (30_000, 3_000))
    assert log_odds(more) - log_odds(0.2) == pytest.approx(0.5 * (log_odds(0.3) - log_odds(0.1)), abs=1e-3)
    assert fewer < 0.2


@pytest.mark.parametrize("drawn", [(0, 0), (1, 1)])
def test_few_draws_move_little(drawn):
    severity = Severity({"ff": 1.0}, {PART: log_odds(0.1)})
    few = severity.share(PART, 0.2, drawn)
    assert few == pytest.approx(0.2) if not drawn[1] else 0.2 < few < severity.share(PART, 0.2, (50, 50))


def test_what_nothing_is_known_of_keeps_the_learnt_share():
    assert Severity({"ff": 1.0}, {}).share(PART, 0.2, (90, 100)) == 0.2
    assert Severity({}, {PART: log_odds(0.1)}).share(PART, 0.2, (90, 100)) == 0.2


def test_the_reference_counts_networks_not_runs():
    low, high = {PART: (100, 1000)}, {PART: (500, 1000)}
    even = references({"a": [low], "b": [high]})[PART]
    assert references({"a": [low] * 5, "b": [high]})[PART] == pytest.approx(even, abs=0.01)
    assert references({"a": [{PART: (0, 0)}], "b": [high]})[PART] == pytest.approx(log_odds(0.5), abs=0.01)
    assert references({"a": [{PART: (0, 0)}]}) == {}


def test_draws_that_tell_are_trusted_and_noise_is_not():
    true = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    mild = [shifted(share, -1.5) for share in true]
    assert fit_severity(predictions(true, mild)).trust["ff"] >= 0.8
    wrong = [mild[i] for i in (5, 0, 3, 1, 4, 2)]
    assert fit_severity(predictions(true, wrong)).trust["ff"] <= 0.2


def test_a_network_left_out_is_predicted_from_the_draws_of_others():
    true = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    known = predictions(true, [shifted(share, -1.5) for share in true])
    last = known[-1]
    rows = left_out_rows(last, fit_severity(without(known, "n5")))
    part = next(row for row in rows if row.block == "ao")
    assert critical_share(np.array(part.expected)) == pytest.approx(0.35, abs=0.05)
    assert critical_share(LEARNT) == pytest.approx(0.2)


def test_the_start_has_rates_of_its_own():
    model = load_model(SHIPPED)
    cells = [cell for cell in model.accelerators["ethos-u55-32"].bits if cell.kind == "ff"]
    hazards = {
        kind: np.mean([model.outcomes(cell, kind)[[C, OUTCOMES.index("hang")]].sum() for cell in cells])
        for kind in (START_KIND, "conv")
    }
    assert hazards[START_KIND] < 0.8 * hazards["conv"]
    assert run_with("n", 0.1).kind_of(START) == START_KIND


def test_predicted_outcomes_sum_to_one():
    known = zoo.load("digits")
    compiled = compile_network(known.path, "ethos-u55-32")
    inferences = [Inference(compiled, known.heldout_inputs[0])]
    work = operation_work(compiled)
    parts = predict_parts(load_model(SHIPPED), "ethos-u55-32", work, inferences, ("ff", "sram"), 1)
    assert {part[1] for part in parts} == {"ff", "sram"}
    for own in parts.values():
        assert own.outcomes.sum() == pytest.approx(1.0)
    draws = {part: own.drawn[1] for part, own in parts.items()}
    assert draws["cc", "ff"] > draws["mac", "ff"] > 0


def test_a_block_that_was_not_struck_does_not_spoil_the_trust():
    true = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    known = predictions(true, [shifted(share, -1.5) for share in true])
    unstruck = PartPrediction(8, LEARNT, np.ones(1), (50, 100))
    more = [
        Prediction(
            replace(own.run, bits={**own.run.bits, replace(CELL, block="wd"): 8}),
            {**own.parts, ("wd", "ff"): unstruck},
        )
        for own in known
    ]
    assert fit_severity(more).trust == fit_severity(known).trust


def test_a_decision_far_from_its_threshold_is_hardly_ever_critical():
    """No drawn corruption changes it: the trust that was learnt near thresholds must not hold it up."""
    severity = Severity({"ff": 0.4}, {PART: log_odds(0.2)})
    far = {PART: PartPrediction(8, LEARNT, np.ones(1), (0, 2_000))}
    near = {PART: PartPrediction(8, LEARNT, np.ones(1), (300, 2_000))}
    assert severity.beyond({PART: (300, 2_000)}) == 0.0
    share = part_rates(far, severity)[PART][C] / LEARNT[[T, C]].sum()
    assert share < 0.2 * critical_share(part_rates(near, severity)[PART])
    half = part_rates(far, severity, 0.5)[PART][C]
    assert part_rates(far, severity)[PART][C] < half < part_rates(near, severity)[PART][C]


def test_few_draws_say_nothing_of_a_margin():
    severity = Severity({"ff": 0.4}, {PART: log_odds(0.2)})
    assert severity.beyond({PART: (0, 10)}) == 0.0
    assert severity.beyond({}) == severity.beyond({("wd", "ff"): (0, 1000)}) == 0.0


def test_limits_of_a_far_margin_reach_what_is_half_believed():
    severity = Severity({"ff": 0.4}, {PART: log_odds(0.2)})
    far = {PART: PartPrediction(8, LEARNT, np.ones(1), (0, 2_000))}
    error = ModelError(load_model(SHIPPED).left_out)
    blocks, _ = block_estimates(far, severity, error, {"ff": 1e-6}, ("sdc_critical",), 0.95)
    assert blocks[0].rates["sdc_critical"].hi > part_rates(far, severity, 0.5)[PART][C]
    assert blocks[0].rates["sdc_critical"].lo < part_rates(far, severity, 1.5)[PART][C]


def test_intervals_of_the_shipped_model_hold_for_networks_left_out():
    model = load_model(SHIPPED)
    judged = {(own.network, own.accelerator, own.block, own.quantity) for own in model.judged}
    rows = {(row.network, row.accelerator, row.block) for row in model.left_out}
    assert judged == {(*row, quantity) for row in rows for quantity in QUANTITIES}
    for name, (inside, of) in held(model.judged, 0.95).items():
        assert inside >= 0.9 * of, name
    assert sum(inside for inside, _ in held(model.judged, 0.95).values()) >= 0.95 * len(model.judged)


def test_what_is_called_a_total_has_all_storage_that_is_printed():
    """Totals of flip-flops, of macros and of SRAM, each for itself, were counted as 84 totals."""
    model = load_model(SHIPPED)
    totals = [own for own in model.judged if own.block == TOTAL]
    assert {own.kinds for own in totals} == {("ff", "macro", "sram")}
    runs = {(row.network, row.accelerator) for row in model.left_out}
    assert held(model.judged, 0.95)["FIT of totals"][1] == len(runs)
    part = replace(totals[0], kinds=("ff",))
    assert held([*totals, part], 0.95)["FIT of totals"][1] == len(runs)


def test_a_rate_near_zero_has_an_interval_that_reaches_what_was_observed():
    """Latches of the shared buffer: hardly an event in 7,000 injections is no proof of a rate of 1e-6."""
    rows = load_model(SHIPPED).left_out
    own = [row for row in rows if (row.block, row.kind) == ("sb", "macro")]
    found = ModelError(rows).interval("sb", "macro", ("sdc_critical", "hang"), 1e-5, 0.95)
    injections = sum(row.trials for row in own)
    events = sum(row.observed(("sdc_critical", "hang")) for row in own)
    assert found.hi >= clopper_pearson(round(events), round(injections)).hi
    assert found.lo < 1e-6
