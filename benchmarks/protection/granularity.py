# SPDX-License-Identifier: Apache-2.0
"""Area of protection by block, by register and by groups of eight bits, over several networks at once.

    python -m benchmarks.protection.granularity campaigns DIR      the runs: 64,000 injections a network
    python -m benchmarks.protection.granularity show DIR           the tables of docs/results.md

Three tables. *Area* for SPFM of 99 % (lower limit) and for a tenth of the FIT, chosen by one half of the
injections of all networks and judged by the other. *Claims*: what a set claims on the injections that chose
it, and what the others say, by raw findings and by shrunk risks. *Carried over*: a set chosen without a
network, judged by it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from resil.cli import main as resil
from resil.protection.basis import Basis, read_basis
from resil.protection.choose import Candidate, Chooser, choose
from resil.protection.items import ProtectableDesign, whole_npu
from resil.protection.judge import JudgedSet, judge
from resil.protection.options import OptionSet, load_options
from resil.protection.risks import OUTCOME_KINDS, Network, shrunk_risks
from resil.protection.targets import Targets
from resil.protection.units import Granularity

FloatArray = npt.NDArray[np.float64]
NETWORKS = (
    *("digits", "digits_separable", "mnist_autoencoder", "mnist_lenet", "mnist_mobile", "mnist_residual"),
)
TENTH, SPFM = Targets(fit_share=0.1), Targets(spfm=0.99)
CAMPAIGN = """[campaign]
name = "{network}"
seed = 4021

[network]
path = "zoo:{network}"
inputs = [0]

[target]
name = "ethos-u55-{macs}"

[faults]
kinds = ["ff", "sram"]
injections = {injections}
minimum_per_block = {least}

[sampling]
plan = "proportional"

[technology]
name = "finfet-16nm"

[budget]
fit = 0.1
rationale = "an example"
hazardous = ["sdc_critical", "hang"]
"""


def campaigns(folder: Path, networks: Sequence[str], macs: int, injections: int) -> None:
    """Run what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for network in networks:
        file = folder / f"{network}.toml"
        values = {"network": network, "macs": macs, "injections": injections, "least": injections * 3 // 32}
        file.write_text(CAMPAIGN.format(**values), encoding="utf-8")
        resil(["run", str(file), "--out", str(folder / network), "--resume"])


def areas(
    basis: Basis, granularities: Sequence[Granularity], seconds: float, options: OptionSet
) -> Iterator[dict[str, Any]]:
    """Yield a row for each granularity and target, then lockstep."""
    for granularity in granularities:
        design = basis.design(options, granularity)
        for name, targets in (("SPFM 99 %", SPFM), ("FIT / 10", TENTH)):
            started = monotonic()
            found = choose(design, basis.networks, targets, seconds)
            row = {"by": granularity.value, "units": len(design.units), "target": name}
            if found.chosen is None:
                yield {**row, "area": None, "why": found.reason}
                continue
            yield {
                **row,
                "area": found.chosen.area_added / design.area,
                "gap": found.chosen.gap,
                "needed": found.needed,
                **_worst(found.judged),
                "bits": _bits(design, found.chosen),
                "seconds": monotonic() - started,
            }
    design = basis.design(load_options(), Granularity.BLOCK)
    (item, area), *_ = whole_npu(design, basis.networks[0].hazardous)
    copy = Candidate((item,), design.mechanisms()[0], area, area, 1.0, ())
    judged = [_judged(design, copy, network.halves()[1]) for network in basis.networks]
    yield {"by": "lockstep", "units": 1, "target": "-", "area": area / design.area, **_worst(judged)}


def claims(basis: Basis, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield what sets for a tenth of the FIT claim, and what the other half of the injections says."""
    choosing, judging = zip(*(network.halves() for network in basis.networks), strict=True)
    for granularity in Granularity:
        design = basis.design(load_options(), granularity)
        risks = {
            "raw": np.array([_raw(design, network) for network in choosing]),
            "shrunk": shrunk_risks(choosing, design.cells),
        }
        for name, own in risks.items():
            found = Chooser(design, choosing, own, TENTH).least(1.0, seconds)
            if found is None:
                continue
            judged = [_judged(design, found, network) for network in judging]
            yield {
                "by": granularity.value,
                "risks": name,
                "area": found.area_added / design.area,
                "claimed": min(
                    _times(_before(design, n, r), c)
                    for n, r, c in zip(choosing, own, found.claimed, strict=True)
                ),
                "given": min(_times(own.fit_before, own.fit.estimate) for own in judged),
            }


def carried(basis: Basis, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield what a set chosen for a tenth of the FIT without a network leaves on that network."""
    for granularity in (Granularity.REGISTER, Granularity.GROUP):
        design = basis.design(load_options(), granularity)
        for out in basis.networks:
            others = [network for network in basis.networks if network is not out]
            found = Chooser(design, others, shrunk_risks(others, design.cells), TENTH).least(0.5, seconds)
            if found is None:
                continue
            judged = _judged(design, found, out)
            yield {
                "by": granularity.value,
                "without": out.name,
                "area": found.area_added / design.area,
                "given": _times(judged.fit_before, judged.fit.estimate),
                "at_least": _times(judged.fit_before, judged.fit.hi),
            }


def _judged(design: ProtectableDesign, candidate: Candidate, network: Network) -> JudgedSet:
    effects = candidate.effects(design, network)
    return judge(network, design.cells, effects, candidate.mechanisms)


def _raw(design: ProtectableDesign, network: Network) -> FloatArray:
    cells = design.cells
    counts = np.zeros((len(cells.bits), OUTCOME_KINDS))
    np.add.at(counts, (cells.of_bit[network.bit], network.outcome), 1.0)
    rates = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    rates[counts.sum(axis=1) == 0.0, 0] = 1.0
    return rates


def _before(design: ProtectableDesign, network: Network, risks: FloatArray) -> float:
    return float(network.raw(design.cells) @ risks[:, 1:3].sum(axis=1))


def _times(before: float, after: float) -> float:
    return before / after if after > 0.0 else float("inf")


def _worst(judged: Sequence[JudgedSet]) -> dict[str, Any]:
    return {
        "spfm_lo": min(own.spfm_lo or 0.0 for own in judged),
        "times": min(_times(own.fit_before, own.fit.estimate) for own in judged),
        "times_lo": min(_times(own.fit_before, own.fit.hi) for own in judged),
        "due_hi": max(own.due.hi for own in judged),
    }


def _bits(design: ProtectableDesign, candidate: Candidate) -> dict[str, int]:
    bits = {option.title: 0 for option in candidate.mechanisms.options}
    for item in candidate.items:
        if item.option:
            own = sum(design.units[unit].all_bits for unit in item.units)
            bits[item.option.title] = bits.get(item.option.title, 0) + own
    return bits


def main() -> None:
    """Run what is asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("campaigns", "show"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--macs", type=int, default=32)
    parser.add_argument("--injections", type=int, default=64_000)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each programme")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.what == "campaigns":
        campaigns(arguments.folder, arguments.networks, arguments.macs, arguments.injections)
        return
    basis = read_basis([arguments.folder / network for network in arguments.networks])
    parts = {
        "area": areas(basis, tuple(Granularity), arguments.seconds, load_options()),
        "claims": claims(basis, arguments.seconds),
        "carried over": carried(basis, arguments.seconds),
    }
    for title, rows in parts.items():
        found = []
        for row in rows:
            print(json.dumps(row), file=sys.stderr, flush=True)
            found.append(row)
        print(json.dumps({title: found}) if arguments.json else f"{title}\n\n{_table(found)}\n", flush=True)


def _table(rows: Sequence[dict[str, Any]]) -> str:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return "\n".join(
        f"| {' | '.join(line)} |"
        for line in (keys, ["---"] * len(keys), *([_cell(key, row.get(key)) for key in keys] for row in rows))
    )


def _cell(key: str, value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {bits:,}" if bits else name for name, bits in value.items())
    if isinstance(value, float):
        if key in ("area", "spfm_lo"):
            return f"{100 * value:.2f} %"
        return f"{value:.1e}" if key == "gap" else f"{value:.3g}"
    return "" if value is None else str(value)


if __name__ == "__main__":
    main()
