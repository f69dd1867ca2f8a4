# SPDX-License-Identifier: Apache-2.0
"""Cells of a study as `study.json` has them, plain and typed."""

from __future__ import annotations

import json

from resil.record.study_cell import CellRecord


def view(verdict="met", **others):
    """A view of the host in a cell."""
    unknown = dict.fromkeys(("fit", "corner", "corner_fit", "spfm", "spfm_corner", "spfm_corner_lo"))
    return {"verdict": verdict} | unknown | others


def results(**others):
    """What a finished run says of a cell."""
    bits = {"ff_bits": 8, "macro_bits": 0, "sram_bits": 16, "area": 2.0, "fit_raw": 1.0}
    blocks = [
        {"block": block, **bits, "fit": fit, "fit_lo": fit / 2, "fit_hi": fit * 2 + 0.001}
        for block, fit in (("mac", 0.01), ("cc", 0.0), ("total", 0.01))
    ]
    basis = {"basis": "a" * 64, "permanent": None, "permanent_basis": None}
    figures = {"fit": 0.01, "fit_lo": 0.005, "fit_hi": 0.02, "injections": 100, "foreseen": None}
    verdicts = {"budget": "met", "budget_fit": 0.015, "safety": None, "spfm_asked": None}
    views = {"aided": view(spfm=[0.99, 0.98, 0.995]), "unaided": view(), "due_fit": None}
    ran = {"slowest_alarm": None, "confidence": 0.95, "inputs": [0], "cycles": [9], "parameters": {}}
    precision = {"margin": 0.8, "half_width": 0.75, "reached": True}
    shown = {
        "scope": "flip-flops only",
        "golden": "",
        "blocks": blocks,
        "area_unit": "GE",
        "titles": {},
        "classes": [],
    }
    return basis | figures | verdicts | views | ran | precision | shown | others


def cell(target, network, verdict="met", *, predicted=False, error=None, **others):
    return {
        "target": target,
        "network": network,
        "verdict": verdict,
        "predicted": predicted,
        "run": f"{target}/{network}",
        "error": error,
        "internal": False,
        "results": None if verdict in ("failed", "not run") else results(**others),
    }


def typed(target, network, verdict="met", **others):
    """The same as a value."""
    error = "broken" if verdict == "failed" else None
    made = cell(target, network, verdict, **{"error": error, **others})
    return CellRecord.model_validate_json(json.dumps(made))
