# SPDX-License-Identifier: Apache-2.0
"""What codes are credited with where upsets flip several bits: what they miss of these stays."""

from dataclasses import replace

import numpy as np
import pytest

from resil.protection.assumptions import assumptions
from resil.protection.choose import choose
from resil.protection.effects import Effect, Mechanisms
from resil.protection.judge import judge
from resil.protection.options import load_options
from resil.protection.targets import Targets
from resil.protection.units import Granularity
from tests.resil.protection.designs import SUMMARY, design_of, network_of, rates_of, storage_of

OPTIONS = load_options().options
PAIRS, TRIPLES = (0.8, 0.2), (0.8, 0.15, 0.05)
STORAGE = storage_of([("u.u_a.x_q", 16, "ff", "a", "control"), ("u.u_b.y_q", 16, "ff", "b", "data")])
OTHERS = tuple(name for name in OPTIONS if name not in ("none", "flop_parity", "error_flag"))


def clustered(network, clusters, rng, harmful=None):
    """Sizes for the injections of a network; with `harmful` only upsets of these sizes do harm."""
    size = rng.choice(np.arange(1, len(clusters) + 1), len(network.bit), p=clusters)
    outcome = network.outcome if harmful is None else np.where(np.isin(size, harmful), network.outcome, 0)
    return replace(network, clusters=clusters, size=size, outcome=outcome)


@pytest.mark.parametrize("name", ["flop_parity", "parity"])
def test_parity_leaves_pairs_as_they_are(name):
    option = OPTIONS[name]
    kind, grown = option.protects[0], 1.0 + option.added_bits
    single = Effect.of(option, kind, ("hang",))
    found = Effect.of(option, kind, ("hang",), PAIRS)
    assert found.by_size == pytest.approx((single.residual, grown))
    # A pair counts as twice as dangerous: a third of the harm.
    assert found.residual == pytest.approx(2 / 3 * single.residual + 1 / 3 * grown)
    assert (found.raw, found.due_of_raw, found.due_kept) == (
        *(single.raw, single.due_of_raw, single.due_kept),
    )
    triples = Effect.of(option, kind, ("hang",), (0.9, 0.0, 0.1))
    assert triples.residual == pytest.approx(single.residual)
    # One that is cut off at the end of its word may be a pair.
    assert triples.by_size == pytest.approx((single.residual, grown, single.residual))


def test_secded_reports_pairs_and_misses_triples():
    option = OPTIONS["secded"]
    single = Effect.of(option, "sram", ("hang",))
    pairs = Effect.of(option, "sram", ("hang",), PAIRS)
    assert (pairs.residual, pairs.by_size) == (single.residual, ())
    assert (single.due_of_raw, pairs.due_of_raw) == (0.0, pytest.approx(0.2 * (1.0 + option.added_bits)))
    triples = Effect.of(option, "sram", ("hang",), TRIPLES)
    assert triples.by_size == pytest.approx((single.residual, single.residual, 1.0 + option.added_bits))


@pytest.mark.parametrize("name", ["flop_duplicate", "flop_triplicate", "lockstep", "hardened_light"])
def test_copies_and_cells_are_credited_as_before(name):
    assert Effect.of(OPTIONS[name], "ff", ("hang",), TRIPLES) == Effect.of(OPTIONS[name], "ff", ("hang",))


def test_without_clusters_all_is_as_it_was():
    for option in OPTIONS.values():
        for kind in option.protects:
            assert Effect.of(option, kind, ("hang",), (1.0,)) == Effect.of(option, kind, ("hang",))
            assert Effect.of(option, kind, ("hang",)).by_size == ()


def test_the_judge_counts_injections_of_each_size():
    """Against the sum injection by injection: equal parts of two blocks, one with parity."""
    rng = np.random.default_rng(1)
    network = clustered(network_of(STORAGE, rates_of(STORAGE, 0.2), 20_000, rng), TRIPLES, rng)
    design = design_of(STORAGE)
    guarded = Effect.of(OPTIONS["flop_parity"], "ff", network.hazardous, TRIPLES)
    effects = [guarded if block == "a" else Effect() for block in design.cells.block]
    found = judge(network, design.cells, effects, Mechanisms())
    expected = 0.0
    for block in "ab":
        here = STORAGE.block[network.bit] == block
        sizes = network.size[here & (network.outcome == 1)]
        kept = [guarded.by_size[size - 1] if block == "a" else 1.0 for size in sizes]
        expected += 16e-4 * sum(kept) / here.sum()
    assert found.fit.estimate == pytest.approx(expected)
    assert found.fit.lo < expected < found.fit.hi


def test_pairs_that_alone_do_harm_are_not_predicted_away():
    """The fault: at most 0.00244 FIT were promised, and 0.00588 measured, of pairs under one parity bit."""
    rng = np.random.default_rng(2)
    network = network_of(STORAGE, rates_of(STORAGE, 0.3), 20_000, rng)
    network = clustered(network, PAIRS, rng, harmful=(2,))
    design = design_of(STORAGE)
    effects = [Effect.of(OPTIONS["flop_parity"], "ff", network.hazardous, PAIRS)] * len(design.cells.bits)
    found = judge(network, design.cells, effects, Mechanisms())
    bare = judge(network, design.cells, [Effect()] * len(effects), Mechanisms())
    assert found.fit.estimate == pytest.approx(1.125 * bare.fit.estimate)


def test_what_is_declared_and_was_not_drawn_is_in_the_limit():
    rng = np.random.default_rng(3)
    network = network_of(STORAGE, rates_of(STORAGE, 0.0), 1000, rng)
    design = design_of(STORAGE)

    def most(clusters):
        own = replace(network, clusters=clusters, size=np.ones(1000, dtype=np.int64))
        effects = [Effect.of(OPTIONS["flop_parity"], "ff", own.hazardous, clusters)] * len(design.cells.bits)
        return judge(own, design.cells, effects, Mechanisms()).fit.hi

    assert most((0.999, 0.001)) > 10 * most((1.0,))


def test_a_budget_that_parity_met_by_that_credit_alone_is_met_no_more():
    rng = np.random.default_rng(4)
    network = network_of(STORAGE, rates_of(STORAGE, 0.3), 40_000, rng)
    design = design_of(STORAGE, exclude=OTHERS)
    targets = Targets(fit_share=0.1)
    assert choose(design, [network], targets).chosen is not None
    for clusters, kept in ((PAIRS, False), ((0.99, 0.01), True)):
        found = choose(design, [clustered(network, clusters, rng)], targets)
        assert (found.chosen is not None) == kept
        assert found.needed
    with_copies = design_of(STORAGE, exclude=[name for name in OTHERS if name != "flop_duplicate"])
    chosen = choose(with_copies, [clustered(network, PAIRS, rng)], targets).chosen
    assert {item.option.name for item in chosen.items if item.option} == {"flop_duplicate"}


def test_where_detected_failures_are_hazardous_pairs_under_secded_are():
    rng = np.random.default_rng(5)
    memory = storage_of([("u.mem", 64, "sram", "b", "memory")])
    hazardous = ("sdc_critical", "due")
    network = network_of(memory, rates_of(memory, 0.0), 5000, rng, hazardous=hazardous)
    network = clustered(network, PAIRS, rng)
    design = design_of(memory)
    effects = [Effect.of(OPTIONS["secded"], "sram", hazardous, PAIRS)] * len(design.cells.bits)
    found = judge(network, design.cells, effects, Mechanisms())
    assert found.fit.estimate == pytest.approx(64e-4 * 0.2 * (1.0 + OPTIONS["secded"].added_bits))


def test_a_plan_says_what_codes_are_credited_with():
    rng = np.random.default_rng(6)
    network = network_of(STORAGE, rates_of(STORAGE, 0.1), 100, rng)
    summary = SUMMARY.model_copy(update={"campaign": SUMMARY.campaign.model_copy(update={"clusters": PAIRS})})
    said = " ".join(assumptions(design_of(STORAGE), [network], Granularity.GROUP, summary))
    assert "Parity is credited with odd numbers of bits alone" in said
    assert "Parity is credited" not in " ".join(
        assumptions(design_of(STORAGE), [network], Granularity.GROUP, SUMMARY)
    )
