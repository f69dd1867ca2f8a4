# SPDX-License-Identifier: Apache-2.0
"""The data of each figure as CSV: figures as they are, rates in FIT, parts as fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resil.record.blocks import Block
from resil.record.csv_cells import csv_text
from resil.record.detail import Detail, PartShare
from resil.record.interval import RecordedInterval
from resil.record.outcomes import OUTCOMES
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary

Row = Sequence[object]
CsvTable = tuple[Sequence[str], Sequence[Row]]
_KEYS = tuple(outcome.key for outcome in OUTCOMES)


def figure_data(
    summary: Summary, protection: ProtectionState | None = None, detail: Detail | None = None
) -> dict[str, str]:
    """Return the data of every figure of a report as CSV, by the name of the figure.

    What is not known is an empty cell. Each file says in its column `figure_is` whether it is measured or
    predicted.
    """
    kind = "predicted" if summary.predicted else "measured"
    tables = dict(_of_blocks(summary, kind))
    if detail is not None:
        tables |= dict(_of_detail(detail))
    if protection is not None:
        tables |= dict(_of_protection(protection))
    return {name: csv_text(head, rows) for name, (head, rows) in tables.items()}


def _fit(interval: RecordedInterval) -> tuple[object, ...]:
    return (interval.estimate, interval.lo, interval.hi)


def _of_blocks(summary: Summary, kind: str) -> Iterable[tuple[str, CsvTable]]:
    sure = summary.campaign.confidence
    whole, budget = summary.total, summary.verdict.budget_fit
    limits = ("fit", "fit_lo", "fit_hi", "confidence")
    yield (
        "verdict",
        (
            ("row", *limits, "budget_fit", "figure_is"),
            [("unprotected", *_fit(summary.verdict.fit_interval), sure, budget, kind)],
        ),
    )
    area = sum(block.area for block in summary.blocks)
    shares = [
        (
            own.name,
            None if own.fit is None or not whole.fit else own.fit / whole.fit,
            own.area / area if area else None,
            kind,
        )
        for own in summary.blocks
    ]
    yield "fit_area", (("block", "share_of_fit", "share_of_area", "figure_is"), shares)
    blocks = (*summary.blocks, whole)
    yield (
        "fit_intervals",
        (
            ("block", *limits, "budget_fit", "figure_is"),
            [(own.name, *_known(own), sure, budget, kind) for own in blocks],
        ),
    )
    columns = tuple(f"{key}{end}" for key in _KEYS for end in ("", "_lo", "_hi"))
    rates = [
        (
            own.name,
            own.injections,
            *(end for key in _KEYS for end in (_fit(own.rate(key)) if own.sampled else (None,) * 3)),
            sure,
            kind,
        )
        for own in blocks
    ]
    yield "outcomes", (("block", "injections", *columns, "confidence", "figure_is"), rates)
    if summary.network.operations:
        cycles = [
            (own.index, own.name, own.kind, own.cycles, own.vela_cycles) for own in summary.network.operations
        ]
        yield "operations", (("index", "operation", "kind", "cycles", "vela_cycles"), cycles)


def _known(block: Block) -> tuple[object, ...]:
    return _fit(block.fit_interval) if block.sampled else (None, None, None)


def _of_detail(detail: Detail) -> Iterable[tuple[str, CsvTable]]:
    head = ("register", "block", "register_class", "kind", "bits", "injections", "hazardous", *_KEYS)
    head += ("fit_raw", "fit", "fit_lo", "fit_hi", "fit_shrunk", "confidence", "rtl_register")
    rows = [
        (
            *(own.path, own.block, own.register_class, own.kind, own.bits, own.injections, own.hazardous),
            *(own.counts[key] for key in _KEYS),
            *(own.fit_raw, own.fit, own.fit_lo, own.fit_hi, own.fit_shrunk),
            *(detail.confidence, own.rtl_register),
        )
        for own in detail.registers
    ]
    yield "registers", (head, rows)
    yield "treemap", (head, rows)
    if (time := detail.timeline) is not None:
        cells = zip(time.row, time.time, time.injections, time.hazardous, strict=True)
        yield (
            "time",
            (
                ("register", "block", "from_cycle", "to_cycle", "injections", "hazardous"),
                [
                    (
                        detail.registers[row].path,
                        detail.registers[row].block,
                        at * time.cycles // time.bins,
                        (at + 1) * time.cycles // time.bins,
                        n,
                        k,
                    )
                    for row, at, n, k in cells
                ],
            ),
        )
    yield "operation_mix", _shares("operation", detail.operations, detail.confidence)
    yield "class_mix", _shares("register_class", detail.classes, detail.confidence)
    for index, memory in enumerate(detail.memories):
        cells = zip(memory.address, memory.operation, memory.injections, memory.hazardous, strict=True)
        yield (
            f"memory_{index}",
            (
                ("memory", "operation", "from_word", "to_word", "injections", "hazardous"),
                [
                    (
                        detail.registers[memory.row].path,
                        detail.operations[operation].name,
                        -(-address * memory.words // memory.bins),
                        -(-(address + 1) * memory.words // memory.bins),
                        n,
                        k,
                    )
                    for address, operation, n, k in cells
                ],
            ),
        )


def _shares(what: str, shares: Sequence[PartShare], confidence: float) -> CsvTable:
    head = (what, "injections", "hazardous", "fit", "fit_lo", "fit_hi", "confidence")
    rows = [
        (own.name, own.injections, own.events, *_fit(own.fit), confidence, *own.outcomes) for own in shares
    ]
    return (*head, *(f"fit_raw_{key}" for key in _KEYS)), rows


def _of_protection(protection: ProtectionState) -> Iterable[tuple[str, CsvTable]]:
    plan = protection.plan
    if plan.pareto:
        head = ("area_added", "area_overhead", "fit", "fit_hi", "reserve", "set", "figure_is")
        yield (
            "front",
            (
                head,
                [
                    (
                        *(own.area_added, own.area_overhead, own.fit, own.fit_hi, own.reserve),
                        "; ".join(
                            f"{block} {option}" for block, option in own.choices.items() if option != "none"
                        ),
                        "predicted",
                    )
                    for own in plan.pareto
                ],
            ),
        )
    if plan.protects:
        yield (
            "effect",
            (
                ("block", "protection", "fit_hi_before", "fit_hi_after", "area_added", "figure_is"),
                [
                    (
                        own.block,
                        own.option_title,
                        own.fit_hi_before,
                        own.fit_hi_after,
                        own.area_added,
                        "predicted",
                    )
                    for own in protection.choices
                ],
            ),
        )
    if (found := protection.confirmation) is not None:
        predicted = found.predicted
        rows: list[Row] = [
            ("predicted", predicted.fit, predicted.fit_lo, predicted.fit_hi, predicted.injections)
        ]
        rows += [(own.network, own.fit, own.fit_lo, own.fit_hi, own.injections) for own in found.networks]
        yield "confirmed", (("figure_is", "fit", "fit_lo", "fit_hi", "injections"), rows)
