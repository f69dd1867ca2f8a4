# SPDX-License-Identifier: Apache-2.0
"""What was predicted of built protection beside what new injections said."""

from __future__ import annotations

from resil.record import numbers
from resil.record.interval import RecordedInterval
from resil.record.protection_confirmation import Confirmation
from resil.reports.figure_intervals import Mark, interval_chart
from resil.reports.svg import Drawing
from resil.reports.table import Column, Table
from resil.reports.tables import fit_cell


def confirmed_table(found: Confirmation) -> Table:
    """Return the prediction and what was measured on each hold-out network."""
    predicted = found.predicted
    bounds = f"{numbers.fit(predicted.fit)}, at most {numbers.fit(predicted.fit_hi)}"
    spfm = numbers.NOT_KNOWN if predicted.spfm_lo is None else numbers.spfm(predicted.spfm_lo)
    rows = [("predicted", "networks that chose", numbers.count(predicted.injections), bounds, spfm, "")]
    rows += [
        (
            "measured",
            own.network,
            numbers.count(own.injections),
            fit_cell(RecordedInterval(own.fit, own.fit_lo, own.fit_hi)),
            numbers.spfm(own.spfm_lo),
            "yes" if own.network in found.passed else "no",
        )
        for own in found.networks
    ]
    columns = (
        Column("figure is", numeric=False),
        Column("network", numeric=False),
        *map(Column, ("injections", "FIT", "SPFM at least")),
        Column("all held", numeric=False),
    )
    return Table("Predicted, and measured by new injections into the built RTL", columns, tuple(rows), keys=2)


def confirmed_chart(found: Confirmation, budget: float | None, name: str, width: float) -> Drawing:
    """Draw the prediction and what was measured, against the budget."""
    predicted = found.predicted
    upper = max(predicted.fit_hi, predicted.fit)
    marks = [Mark("predicted", RecordedInterval(predicted.fit, min(predicted.fit_lo, predicted.fit), upper))]
    marks += [
        Mark(own.network, RecordedInterval(own.fit, own.fit_lo, own.fit_hi), "chosen")
        for own in found.networks
    ]
    title = "Predicted, and measured by new injections"
    return interval_chart(
        name, title, marks, budget, width, "hazardous failures that are left, FIT", labels=0.4
    )
