# SPDX-License-Identifier: Apache-2.0
"""Tables and the verdict line for a terminal or a pipe."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from resil.record import numbers
from resil.record.blocks import Block
from resil.record.campaign_facts import TargetRecord
from resil.record.interval import RecordedInterval
from resil.record.outcomes import OUTCOMES
from resil.record.protection_parts import STORAGE_ALONE
from resil.record.protection_state import ProtectionState, confirmation_line
from resil.record.safety import Safety
from resil.record.summary import Summary
from resil.reports.detection import detection_tables
from resil.reports.narrative import caveats, heading
from resil.reports.safety import (
    beside_protection,
    logic_table,
    safety_line,
    safety_reasons,
    safety_table,
    sensitivity_table,
)
from resil.reports.table import Column, Table

STORAGE = {
    "ff": "flip-flops",
    "macro": "flip-flops in SRAM macros",
    "sram": "SRAM",
    "weights": "weights in memory outside the NPU",
    "activations": "activations in memory outside the NPU",
    "logic": "logic",
}
NOT_INJECTED = {False: "not injected", True: "not predicted"}
_COLOURS = {
    **{"met": "bold green", "missed": "bold red", "inconclusive": "bold yellow", "none": "bold"},
    "not assessed": "bold yellow",
}


def fit_cell(interval: RecordedInterval) -> str:
    """Return an interval in FIT: `0.0123 [0.0098, 0.0152]`."""
    return f"{numbers.fit(interval.estimate)} {numbers.fit_range(interval)}"


def percent_cell(interval: RecordedInterval) -> str:
    """Return an interval of fractions in percent: `12.3 % [9.81, 15.2]`."""
    return f"{numbers.percent(interval.estimate)} {numbers.percent_range(interval)}"


def block_table(summary: Summary) -> Table:
    """Return bits, area and outcome counts of every block, named in words too, and of the total."""
    columns = (
        Column("block", numeric=False),
        Column("ff bits"),
        *([Column("macro bits")] if summary.total.macro_bits else []),
        Column("sram bits"),
        *([Column("bits outside")] if _outside(summary.total) else []),
        *([Column("pins")] if summary.total.logic_bits else []),
        Column(f"area {summary.total.area_unit}"),
        Column("injected"),
        *(Column(outcome.short) for outcome in OUTCOMES),
    )
    rows = tuple(
        (
            f"{block.name} {summary.target.titles.get(block.name, '')}".rstrip(),
            numbers.count(block.ff_bits),
            *([numbers.count(block.macro_bits)] if summary.total.macro_bits else []),
            numbers.count(block.sram_bits),
            *([numbers.count(_outside(block))] if _outside(summary.total) else []),
            *([numbers.count(block.logic_bits)] if summary.total.logic_bits else []),
            numbers.area(block.area),
            numbers.count(block.injections),
            *(numbers.count(block.counts[outcome.key]) for outcome in OUTCOMES),
        )
        for block in (*summary.blocks, summary.total)
    )
    title = "; ".join(["Outcomes by block", *storage_counts(summary.target), *logic_counts(summary)])
    return Table(title, columns, rows, totals=1)


def _outside(block: Block) -> int:
    return block.weights_bits + block.activations_bits


def storage_counts(target: TargetRecord) -> list[str]:
    """Say of each kind of storage of which the source code has more than hardware how much each has."""
    counts = (
        ("flip-flop", target.ff_bits, target.ff_bits_source),
        ("macro flip-flop", target.macro_bits, target.macro_bits_source),
        ("memory", target.sram_bits, target.sram_bits_source),
    )
    return [
        f"{numbers.count(bits)} of {numbers.count(source)} {kind} bits of the source are hardware"
        for kind, bits, source in counts
        if bits != source
    ]


def logic_counts(summary: Summary) -> list[str]:
    """Say how many faults there are in logic, and how many classes of equivalent ones."""
    own = summary.target.logic_faults
    if own is None:
        return []
    what = {"set": "pulses of a cycle", "open": "open inputs"}.get(summary.campaign.fault_model, "stuck pins")
    return [f"{numbers.count(own.faults)} {what} in {numbers.count(own.classes)} classes of equal faults"]


def fit_table(summary: Summary) -> Table:
    """Return AVF, latent state, raw FIT and FIT of blocks and total, and shares of FIT and area."""
    columns = (
        Column("block", numeric=False),
        Column("AVF"),
        Column("latent state"),
        Column("raw FIT"),
        Column("FIT"),
        Column("of FIT"),
        Column("of area"),
    )
    rows = tuple(
        _fit_row(block, summary.total, summary.predicted) for block in (*summary.blocks, summary.total)
    )
    sure = numbers.confidence(summary.campaign.confidence)
    what = "Predicted hazardous failures" if summary.predicted else "Hazardous failures"
    return Table(f"{what} by block, {sure} intervals", columns, rows, totals=1)


def storage_table(summary: Summary) -> Table | None:
    """Return injections, AVF and FIT of each kind of storage, and of the total; None if there is but one."""
    if len(summary.storage) < 2:
        return None
    heads = ("bits", "of bits", "injected", "AVF", "raw FIT", "FIT", "of FIT")
    bits, total = sum(row.bits for row in summary.storage), summary.total
    rows = [
        (
            STORAGE[row.kind],
            numbers.count(row.bits),
            numbers.percent(numbers.ratio(row.bits, bits)),
            numbers.count(row.injections),
            percent_cell(row.avf_interval),
            numbers.fit(row.fit_raw),
            fit_cell(row.fit_interval),
            numbers.percent(numbers.ratio(row.fit, total.fit)),
        )
        for row in summary.storage
    ]
    whole = (
        *("total", numbers.count(bits), numbers.percent(1.0), numbers.count(total.injections)),
        *(
            percent_cell(total.avf_interval),
            numbers.fit(total.fit_raw),
            fit_cell(total.fit_interval),
            numbers.percent(1.0),
        ),
    )
    columns = (Column("storage", numeric=False), *map(Column, heads))
    sure = numbers.confidence(summary.campaign.confidence)
    return Table(
        f"Hazardous failures by kind of storage, {sure} intervals", columns, (*rows, whole), totals=1
    )


def predicted_table(summary: Summary) -> Table:
    """Return bits, area and predicted outcomes of every block and of the total: nothing was injected."""
    columns = (
        Column("block", numeric=False),
        Column("ff bits"),
        *([Column("macro bits")] if summary.total.macro_bits else []),
        Column("sram bits"),
        Column(f"area {summary.total.area_unit}"),
        *(Column(outcome.short) for outcome in OUTCOMES),
    )
    rows = tuple(
        (
            block.name,
            numbers.count(block.ff_bits),
            *([numbers.count(block.macro_bits)] if summary.total.macro_bits else []),
            numbers.count(block.sram_bits),
            numbers.area(block.area),
            *(
                numbers.percent(block.rate(outcome.key).estimate) if block.sampled else numbers.NOT_KNOWN
                for outcome in OUTCOMES
            ),
        )
        for block in (*summary.blocks, summary.total)
    )
    return Table("Predicted outcomes of upsets by block (none was injected)", columns, rows, totals=1)


def _fit_row(block: Block, total: Block, predicted: bool) -> tuple[str, ...]:
    area_share = numbers.percent(numbers.ratio(block.area, total.area))
    if not block.sampled:
        return (block.name, NOT_INJECTED[predicted], *[numbers.NOT_KNOWN] * 4, area_share)
    return (
        block.name,
        percent_cell(block.avf_interval),
        percent_cell(block.latent_interval),
        numbers.fit(block.fit_raw),
        fit_cell(block.fit_interval),
        numbers.percent(numbers.ratio(block.fit, total.fit)),
        area_share,
    )


def operation_table(summary: Summary) -> Table:
    """Return each operation's cycles on the RTL, and in Vela's estimate where it makes one."""
    inferences = _inferences(summary)
    timed = [
        *(
            (str(own.index), own.name, own.kind, own.cycles, own.vela_cycles)
            for own in summary.network.operations
        ),
        *(("", name, "", cycles, summary.golden.vela_cycles) for name, cycles in inferences),
    ]
    columns = [
        Column("#"),
        Column("operation", numeric=False),
        Column("kind", numeric=False),
        Column("cycles"),
    ]
    rows = [(*names, numbers.count(cycles)) for *names, cycles, _ in timed]
    if any(estimate is not None for *_, estimate in timed):
        columns += [Column("Vela's estimate"), Column("ratio")]
        rows = [
            (*row, numbers.count(estimate), ratio_cell(cycles, estimate))
            for row, (*_, cycles, estimate) in zip(rows, timed, strict=True)
        ]
    what = "Predicted cycles" if summary.predicted else "Cycles"
    return Table(f"{what} by operation", tuple(columns), tuple(rows), totals=len(inferences), keys=2)


def _inferences(summary: Summary) -> list[tuple[str, int]]:
    """Return cycles of an inference by the inputs that take as many."""
    cycles, inputs = summary.golden.cycles, summary.campaign.inputs
    if len(inputs) != len(cycles) or len(set(cycles)) == 1:
        return [("inference", count) for count in dict.fromkeys(cycles)]
    named = {
        count: [name for name, own in zip(inputs, cycles, strict=True) if own == count] for count in cycles
    }
    return [(f"inference, input {', '.join(map(str, names))}", count) for count, names in named.items()]


def ratio_cell(cycles: float | None, estimate: float | None) -> str:
    """Return how many times the estimate the cycles are: `1.24x`."""
    quotient = numbers.ratio(cycles, estimate)
    return numbers.NOT_KNOWN if quotient is None else f"{quotient:.2f}x"


def protection_table(protection: ProtectionState, area_unit: str) -> Table:
    """Return the option chosen for each block, its area and what it leaves."""
    columns = (
        Column("block", numeric=False),
        Column("protection", numeric=False),
        Column(f"area {area_unit}"),
        Column(f"added {area_unit}"),
        Column("FIT bound before"),
        Column("after"),
        Column("figure", numeric=False),
    )
    rows = [
        (
            choice.block,
            choice.option_title,
            numbers.area(choice.area),
            numbers.area(choice.area_added),
            numbers.fit(choice.fit_hi_before),
            numbers.fit(choice.fit_hi_after),
            "" if choice.option == "none" else choice.status,
        )
        for choice in protection.choices
    ]
    nothing = numbers.NOT_KNOWN
    rows += [
        (name, "added beside the blocks", nothing, numbers.area(area), nothing, nothing, "")
        for name, area in protection.beside.items()
    ]
    total = (
        "total",
        "",
        numbers.area(protection.plan.area_unprotected),
        numbers.area(protection.area_added),
        numbers.fit(protection.plan.fit_hi_unprotected),
        numbers.fit(protection.plan.fit_hi),
        "",
    )
    return Table("Protection of least area", columns, (*rows, total), totals=1)


def protection_sources(protection: ProtectionState) -> list[str]:
    """Return where the figures of the chosen options are from, one line an option."""
    used = {c.option_title: c.source for c in protection.choices if c.option != "none"}
    return [f"{title}: {source}" for title, source in used.items()]


def verdict_line(summary: Summary) -> str:
    """Return the verdict in one line: result, FIT with interval, budget, reason, scope."""
    verdict = summary.verdict
    head = (
        f"NO BUDGET{caveats(summary).upper()}"
        if verdict.result == "none"
        else f"FIT BUDGET {verdict.result.upper()}{caveats(summary).upper()}"
    )
    if summary.predicted:
        head = heading(summary).upper() if verdict.predicted or verdict.result == "none" else head
    budget = "" if verdict.budget_fit is None else f", budget {numbers.given(verdict.budget_fit)} FIT"
    confidence = f"{numbers.confidence(summary.campaign.confidence)} confidence"
    reasons = " ".join(filter(None, (verdict.reason, summary.golden.comparison.remark)))
    said = f"{reasons} Scope: {verdict.scope}."
    if verdict.population:
        said = f"{said} It is about {verdict.population}."
    return f"{head}: {fit_cell(verdict.fit_interval)} FIT ({confidence}){budget}. {said}"


def inputs_line(summary: Summary) -> str:
    """Return in one line how drawn inputs differ: the bound for most of them, and the worst; "" of others."""
    over = summary.sampling.over_inputs if summary.sampling else None
    if over is None or not over.data_set or not over.worst:
        return ""
    parts = []
    if over.tolerance is not None:
        part, sure = numbers.confidence(over.tolerance.part), numbers.confidence(over.tolerance.confidence)
        bound = f"{over.tolerance.fit:.3g} FIT ({sure} confidence)"
        parts.append(f"{part} of inputs like these lie below {bound}")
    worst = over.worst[0]
    interval = fit_cell(RecordedInterval(worst.fit, worst.fit_lo, worst.fit_hi))
    parts.append(f"the worst that ran is input {worst.input} with {interval} FIT")
    return f"Inputs: {'; '.join(parts)}."


def metrics_line(summary: Summary) -> str:
    """Return the SPFM of the injected faults in one line; "" if there is none."""
    spfm = summary.metrics.spfm
    if spfm is None:
        return ""
    what = f"{'Predicted ' if summary.predicted else ''}SPFM of {summary.campaign.faults} faults, unprotected"
    alone = summary.metrics.spfm_unaided
    if alone is None:
        return f"{what}, with the error flag and a host that reacts: {_spfm_cell(spfm)}."
    return (
        f"{what} and unaided: {_spfm_cell(alone)}; with the error flag and a host that reacts: "
        f"{_spfm_cell(spfm)}."
    )


def _spfm_cell(spfm: RecordedInterval) -> str:
    return f"{numbers.spfm(spfm.estimate)} [{numbers.spfm(spfm.lo)}, {numbers.spfm(spfm.hi)}]"


def protection_line(protection: ProtectionState, safety: Safety | None = None) -> str:
    """Return the outcome of the search for protection in one line, and what it leaves open."""
    head = "PREDICTED, NOT MEASURED: " if protection.plan.from_estimate else ""
    said = f"{head}{_plan_line(protection)} {confirmation_line(protection)}".rstrip()
    if protection.plan.result != "infeasible":
        logic = protection.plan.logic
        said = f"{said} {STORAGE_ALONE if logic is None else logic.text} {protection.plan.permanent_text}"
    return f"{said} {beside_protection(safety)}".rstrip()


def _plan_line(protection: ProtectionState) -> str:
    if protection.plan.result == "not_needed":
        bound = numbers.fit(protection.plan.fit_hi_unprotected)
        return (
            f"NO PROTECTION NEEDED: at most {bound} FIT{_of_storage(protection)} unprotected; asked: "
            f"{protection.plan.target}."
        )
    if protection.plan.result == "infeasible":
        why = f": {protection.plan.reason}" if protection.plan.reason else ""
        return f"INFEASIBLE: no set of the known options reaches {protection.plan.target}{why}."
    lockstep = protection.plan.area_overhead_lockstep
    against = "" if lockstep is None else f", against +{numbers.percent(lockstep)} for duplicating everything"
    proof = "" if protection.plan.gap is None else f"; optimality gap {numbers.percent(protection.plan.gap)}"
    spfm = "" if protection.plan.spfm is None else _spfm(protection)
    measured = "measured " if protection.area_measured else ""
    return (
        f"PROTECTED: at most {numbers.fit(protection.plan.fit_hi)} FIT{_of_storage(protection)} for"
        f" +{numbers.percent(protection.area_overhead)} {measured}area{against}"
        f" (asked: {protection.plan.target}{proof}).{spfm}"
    )


def _of_storage(protection: ProtectionState) -> str:
    """Say of a figure that it is of storage, where those of logic stand beside it."""
    return "" if protection.plan.logic is None else " in storage"


def _spfm(protection: ProtectionState) -> str:
    plan = protection.plan
    return (
        f" SPFM {numbers.spfm(plan.spfm_before)} before, {numbers.spfm(plan.spfm)} after (at"
        f" least {numbers.spfm(plan.spfm_lo_before)} and {numbers.spfm(plan.spfm_lo)})."
    )


def _tables(summary: Summary, protection: ProtectionState | None) -> list[Table]:
    outcomes = predicted_table(summary) if summary.predicted else block_table(summary)
    tables = [operation_table(summary), outcomes, *detection_tables(summary.detection), fit_table(summary)]
    if (by_kind := storage_table(summary)) is not None:
        tables.append(by_kind)
    if protection is not None and protection.plan.protects:
        tables.append(protection_table(protection, summary.total.area_unit))
    if summary.safety is not None:
        tables.append(safety_table(summary.safety))
        tables += [sensitivity_table(summary.safety)] if summary.safety.sensitivity else []
        tables += [logic_table(summary.logic)] if summary.logic else []
    return tables


def text_report(summary: Summary, protection: ProtectionState | None = None, width: int | None = None) -> str:
    """Return all tables and the verdict as plain text, for stdout; `width` as of `Table.text`."""
    parts = [table.text(width) for table in _tables(summary, protection)]
    if protection is not None and protection.plan.protects:
        parts.append("".join(f"{line}\n" for line in protection_sources(protection)))
    last = "".join(
        f"{line}\n" for line in (metrics_line(summary), inputs_line(summary), verdict_line(summary)) if line
    )
    if summary.safety is not None:
        parts.append("".join(f"{line}\n" for line in safety_reasons(summary.safety)))
        last += safety_line(summary.safety, summary.verdict.population) + "\n"
    if protection is not None:
        last += protection_line(protection, summary.safety) + "\n"
    return "\n".join([*parts, last])


def rich_report(summary: Summary, protection: ProtectionState | None = None) -> Group:
    """Return all tables and the verdict for a `rich` console."""
    parts: list[Table | Text] = []
    for table in _tables(summary, protection):
        parts += [table, Text()]
    if protection is not None and protection.plan.protects:
        parts += [*(Text(line) for line in protection_sources(protection)), Text()]
    safety = summary.safety
    if safety is not None:
        parts += [*(Text(line) for line in safety_reasons(safety)), Text()]
    parts += [Text(line) for line in (metrics_line(summary), inputs_line(summary)) if line]
    parts.append(Text(verdict_line(summary), style=_COLOURS[summary.verdict.result]))
    if safety is not None:
        parts.append(Text(safety_line(safety, summary.verdict.population), style=_COLOURS[safety.result]))
    if protection is not None:
        parts.append(Text(protection_line(protection, safety)))
    return Group(*parts)
