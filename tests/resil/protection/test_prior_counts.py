# SPDX-License-Identifier: Apache-2.0
"""A sensitivity model that helps to choose: what it counts for, and that it never judges."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from resil.cli import main
from resil.protection.options import ProtectionError
from resil.protection.prior_counts import prior_counts
from resil.protection.risks import shrunk_risks
from resil.protection.units import cells_of
from resil.sensitivity.model import SHIPPED, load_model, save_model
from resil.sensitivity.observations import SensitivityCell
from testkit.errors import about
from tests.resil.protection.designs import network_of, rates_of, storage_of
from tests.resil.protection.test_flow import made, two

__all__ = ["made", "two"]

STORAGE = storage_of(
    [
        ("u.g_a[0].x_q", 16, "ff", "a", "data"),
        ("u.g_a[1].x_q", 16, "ff", "a", "data"),
        ("u.mem", 8, "sram", "a", "memory"),
    ]
)
RUN = SimpleNamespace(
    path=Path("run"),
    provenance=SimpleNamespace(hashes={"campaign": "mine"}),
    summary=SimpleNamespace(
        campaign=SimpleNamespace(hazardous=("sdc_critical", "hang")),
        target=SimpleNamespace(name="ethos-u55-32"),
    ),
)


@pytest.fixture
def model(tmp_path):
    cell = SensitivityCell("ff", "a", "data", "u.g_a[*].x_q", 1)
    shipped = load_model(SHIPPED)
    counts = {cell: (10, 20, 30, 40, 50, 60), replace(cell, register="other"): (9,) * 6}
    own = replace(
        shipped,
        counts={(cell, "conv"): seen for cell, seen in counts.items()},
        accelerators={**shipped.accelerators, "fake-npu": shipped.accelerators["ethos-u55-32"]},
        left_out=(),
    )
    save_model(own, tmp_path / "own.model.json.gz")
    return tmp_path / "own.model.json.gz"


def test_copies_share_the_counts_and_a_detected_failure_is_one_that_would_harm(model):
    counts = prior_counts([model], [RUN], cells_of(STORAGE))
    # Outcomes: masked, latent, sdc_tolerable, sdc_critical, due, hang; the second byte of each copy has half.
    assert counts[[1, 3]].tolist() == [[30.0, 20.0, 30.0, 25.0, 0.0, 0.0]] * 2
    assert counts[[0, 2, 4]].sum() == 0.0


def test_a_prior_moves_the_risk_of_its_cells():
    rng = np.random.default_rng(1)
    cells = cells_of(STORAGE)
    network = network_of(STORAGE, rates_of(STORAGE, 0.05), 2000, rng)
    prior = np.zeros((5, 6))
    prior[1] = [0, 300, 0, 0, 0, 0]
    with_it, without = (shrunk_risks([network], cells, own)[0][:, 1] for own in (prior, None))
    assert with_it[1] / with_it.sum() > 1.2 * without[1] / without.sum()


def test_what_judges_must_not_choose(model):
    known = load_model(model)
    mine = known.source.runs[0].changed(campaign="mine")
    other = replace(known, source=known.source.changed(runs=(mine,)))
    save_model(other, model)
    with pytest.raises(ProtectionError, check=about("model.runs")):
        prior_counts([model], [RUN], cells_of(STORAGE))


def test_a_model_of_other_targets_is_refused(model):
    other = SimpleNamespace(campaign=RUN.summary.campaign, target=SimpleNamespace(name="mine"))
    run = SimpleNamespace(**{**vars(RUN), "summary": other})
    with pytest.raises(ProtectionError, check=about("model.accelerators")):
        prior_counts([model], [run], cells_of(STORAGE))


def test_a_model_beside_runs_and_alone(two, model, capsys):
    assert main(["protect", str(two[0]), str(model), "--fit-share", "0.5", "--json"]) == 0
    assert '"model": "own.model.json.gz"' in capsys.readouterr().out
    assert main(["protect", str(model), "--fit-share", "0.5"]) == 2
    assert "is a model, which can help to choose but not to judge" in capsys.readouterr().err


def test_a_model_and_a_confirmation_are_refused_together(two, model, capsys):
    asked = ["protect", str(two[0]), str(model), "--fit-share", "0.5", "--build", str(model.parent / "b")]
    assert main([*asked, "--verify"]) == 2
    assert "expected --verify without a model" in " ".join(capsys.readouterr().err.split())
    assert not (two[0] / "protection.json").exists()
    assert not (model.parent / "b").exists()
