# SPDX-License-Identifier: Apache-2.0
"""An engine of one's own: one declaration, registered, and a campaign runs with it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field

import pytest

from resil.campaign import engines
from resil.campaign.engines import register
from resil.cli import main
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.engine.declaration import Ability, EngineDeclaration, EngineOption
from resil.rtl_harness.faults import Injection, RunEnd, Seen

CYCLES = 500


@dataclass
class ToyEngine:
    """Says of every fault what its option says."""

    says: Seen
    notes: list[str] = field(default_factory=list)
    audits: dict = field(default_factory=dict)
    name: str = "toy"

    def golden(self):
        return GoldenRun(RunEnd(True, CYCLES, 0, bytes(12 * 4 * 8), "0" * 16))

    def expect(self, faults, first=None):
        pass

    def run(self, faults, workers=1):
        return map(self.replay, faults)

    def replay(self, fault):
        return Injection(fault, self.says, CYCLES, 0, "0" * 16)

    def audit_kept(self, injections, workers=1):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def make(target, workload, elaboration, limits, options):
    assert limits["timeout_factor"] == 2.0
    return ToyEngine(Seen(options["says"]))


TOY = EngineDeclaration(
    "toy",
    "Says of every fault the same.",
    frozenset({Ability.STORAGE}),
    make,
    (EngineOption("says", "string", "masked", "What it says.", choices=("masked", "hang")),),
)


@pytest.fixture
def awkward(repository, tmp_path, monkeypatch):
    """The example of a user's own design, and a registered engine."""
    monkeypatch.setattr(engines, "_registered", [])
    register(TOY)
    shutil.copytree(repository / "examples" / "awkward", tmp_path / "awkward")
    return tmp_path / "awkward"


def test_a_campaign_runs_with_a_registered_engine(awkward, capsys):
    file, out = str(awkward / "campaign.toml"), awkward / "run"
    arguments = ["--out", str(out), "--engine", "toy", "--set", "engine.toy.says=hang"]
    assert main(["run", file, *arguments]) == 3  # outputs of a toy do not vary: no verdict
    assert "injections with the toy engine" in capsys.readouterr().err
    summary = json.loads((out / "summary.json").read_text())
    assert summary["campaign"]["engine"] == "toy"
    assert summary["total"]["hang"] == summary["total"]["injections"] == 400
    assert main(["replay", str(out), "3"]) == 0
    assert "engine toy" in capsys.readouterr().out
    assert main(["replay", str(out), "3", "--engine", "toy", "--waves", str(out / "w.vcd")]) == 2
    assert "the toy engine writes no waveforms; add --engine cocotb" in capsys.readouterr().err
