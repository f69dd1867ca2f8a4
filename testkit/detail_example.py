# SPDX-License-Identifier: Apache-2.0
"""A made run below the level of blocks: registers, times, operations and memories, drawn from known rates."""

from __future__ import annotations

import numpy as np

from resil.record.detail import Detail
from resil.record.outcomes import OUTCOME_KEYS
from resil.stats.intervals import clopper_pearson_limits

CLASSES = ("control", "counter", "data", "buffer", "memory")
CYCLES = 21_000
OPERATIONS = ("0 conv_1", "1 conv_2", "2 dense")
_HAZARDOUS = ("sdc_critical", "hang")


def example_detail(
    blocks: tuple[str, ...] = ("cc", "dma", "mac"),
    registers: int = 40,
    injections: int = 4000,
    bins: int = 32,
    seed: int = 3,
    even: bool = True,
) -> Detail:
    """Return what a run of so many injections into so many registers would leave."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet((14.0, 4.0, 1.5, 0.8, 1.0, 0.3), registers)
    bits = rng.integers(1, 256, registers)
    owner = rng.choice(registers, injections, p=bits / bits.sum())
    outcome = (rng.random((injections, 1)) > rates[owner].cumsum(axis=1)).sum(axis=1).clip(0, 5)
    time, operation = rng.integers(0, bins, injections), rng.integers(0, len(OPERATIONS), injections)
    bad = np.isin(outcome, [OUTCOME_KEYS.index(name) for name in _HAZARDOUS])
    counts = np.zeros((registers, 6), dtype=np.int64)
    np.add.at(counts, (owner, outcome), 1)
    trials, events = counts.sum(axis=1), np.bincount(owner[bad], minlength=registers)
    lo, hi = clopper_pearson_limits(events, trials, 0.95)
    raw = 7.2e-5 * bits
    rows = [
        {
            "block": blocks[i % len(blocks)],
            "path": f"u_npu.u_{blocks[i % len(blocks)]}.u_part{i % 7}.gen[{i % 3}].value_{i}_q",
            "register_class": CLASSES[i % len(CLASSES)],
            "kind": "sram" if CLASSES[i % len(CLASSES)] == "memory" else "ff",
            "bits": int(bits[i]),
            "injections": int(trials[i]),
            **{key: int(count) for key, count in zip(OUTCOME_KEYS, counts[i], strict=True)},
            "hazardous": int(events[i]),
            "fit_raw": float(raw[i]),
            "fit": float(raw[i] * events[i] / trials[i]) if trials[i] else None,
            "fit_lo": float(raw[i] * lo[i]),
            "fit_hi": float(raw[i] * hi[i]),
            "fit_shrunk": float(raw[i] * (events[i] + 0.2) / (trials[i] + 4.0)),
        }
        for i in range(registers)
    ]
    order = sorted(range(registers), key=lambda i: (-(rows[i]["fit"] or -1.0), -rows[i]["fit_hi"]))
    place = np.empty(registers, dtype=np.int64)
    place[order] = np.arange(registers)
    cells, where = np.unique(place[owner] * bins + time, return_inverse=True)
    hit = np.bincount(where, bad, len(cells)).astype(int)
    return Detail.from_plain(
        {
            "confidence": 0.95,
            "even": even,
            "blocks": list(blocks),
            "registers": [rows[i] for i in order],
            "operations": [
                _share(name, outcome[operation == i], raw.sum() / 3) for i, name in enumerate(OPERATIONS)
            ],
            "classes": [
                _share(name, outcome[owner % 5 == i], raw.sum() / 5) for i, name in enumerate(CLASSES)
            ],
            "groups": _groups(rows),
            "mix": [],
            "timeline": {
                "cycles": CYCLES,
                "bins": bins,
                "operations": [
                    {"name": name, "start": 7000 * i, "end": 7000 * (i + 1)}
                    for i, name in enumerate(OPERATIONS)
                ],
                "row": (cells // bins).tolist(),
                "time": (cells % bins).tolist(),
                "injections": np.bincount(where).tolist(),
                "hazardous": hit.tolist(),
                "fit": [] if even else (hit * 1e-6).tolist(),
            },
            "memories": [_memory(int(place[4]), rng)] if registers > 4 else [],
            "traces": [
                {
                    "injection": 7,
                    "path": rows[0]["path"],
                    "outcome": "hang",
                    "story": "it <waits>",
                    "href": "traces/7.html",
                }
            ],
        }
    )


def _groups(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the registers by block, class and kind."""
    groups: dict[tuple[object, ...], list[dict[str, object]]] = {}
    for row in rows:
        groups.setdefault((row["block"], row["register_class"], row["kind"]), []).append(row)
    found = []
    for (block, register_class, kind), own in groups.items():
        sums = {
            name: sum(row[name] for row in own) for name in ("bits", "injections", "hazardous", "fit_raw")
        }
        events, trials, raw = sums["hazardous"], sums["injections"], sums["fit_raw"]
        lo, hi = clopper_pearson_limits(np.array([events]), np.array([trials]), 0.95)
        found.append(
            {
                "block": block,
                "register_class": register_class,
                "kind": kind,
                "registers": len(own),
                "bits": sums["bits"],
                "injections": trials,
                "events": events,
                "fit_raw": raw,
                "fit": [raw * events / trials if trials else None, raw * float(lo[0]), raw * float(hi[0])],
            }
        )
    return found


def _share(name: str, outcomes: np.ndarray, raw: float) -> dict[str, object]:
    counts = np.bincount(outcomes, minlength=6)
    trials = max(1, len(outcomes))
    events = int(sum(counts[OUTCOME_KEYS.index(key)] for key in _HAZARDOUS))
    lo, hi = clopper_pearson_limits(np.array([events]), np.array([trials]), 0.95)
    return {
        "name": name,
        "injections": len(outcomes),
        "events": events,
        "fit": [raw * events / trials, raw * float(lo[0]), raw * float(hi[0])],
        "outcomes": (raw * counts / trials).tolist(),
    }


def _memory(row: int, rng: np.random.Generator) -> dict[str, object]:
    address = np.repeat(np.arange(16), 3)
    injections = rng.integers(1, 9, 48)
    return {
        "row": row,
        "words": 64,
        "bins": 16,
        "address": address.tolist(),
        "operation": np.tile(np.arange(3), 16).tolist(),
        "injections": injections.tolist(),
        "hazardous": rng.binomial(injections, 0.3).tolist(),
    }
