# SPDX-License-Identifier: Apache-2.0
"""What a sensitivity model says of networks that were left out, as `resil learn` prints it."""

from __future__ import annotations

from collections.abc import Mapping

from resil.record.typed import Amount, Count, Typed
from resil.reports.table import Column, Table
from resil.sensitivity.model import SensitivityModel
from resil.sensitivity.predict import outcome_index
from resil.stats.rates import HAZARDOUS


class LeftOutNetwork(Typed):
    """P(hazardous) of a network that the prediction was not learnt from."""

    network: str
    """Path of the network."""
    target: str
    """Name of the target."""
    kind: str
    """Kind of storage."""
    observed: Amount
    """By injection."""
    predicted: Amount
    """From the other networks."""


class LearntSurvey(Typed):
    """What was learnt, and how well it predicts."""

    injections: Count
    """That the model rests on."""
    strengths: tuple[float, ...]
    """Of the pull towards the group around, for each level of groups."""
    trust: Mapping[str, float]
    """How far drawn corruptions are believed, by kind of storage."""
    left_out: tuple[LeftOutNetwork, ...]
    """Networks that were left out once."""


def survey(model: SensitivityModel) -> LearntSurvey:
    """Return what `resil learn` prints: P(hazardous) of each left-out run, observed and predicted."""
    places = outcome_index(HAZARDOUS)
    names = {run.network_sha256: run.network for run in model.source.runs}
    return LearntSurvey(
        injections=model.source.injections,
        strengths=model.strengths,
        trust=dict(model.severity.trust),
        left_out=tuple(
            LeftOutNetwork(
                network=names[row.network],
                target=row.accelerator,
                kind=row.kind,
                observed=sum(row.events[i] for i in places) / row.trials,
                predicted=sum(row.expected[i] for i in places) / row.trials,
            )
            for row in model.left_out
            if row.block == "total"
        ),
    )


def survey_text(found: LearntSurvey, width: int | None = None) -> str:
    """Return the survey as lines for a person; `width` as of `Table.text`."""
    heads = ("network", "target", "kind", "observed", "predicted")
    columns = tuple(Column(head, numeric=head not in heads[:3]) for head in heads)
    rows = tuple(
        (row.network, row.target, row.kind, f"{row.observed:.4f}", f"{row.predicted:.4f}")
        for row in found.left_out
    )
    title = f"{found.injections:,} injections; P(hazardous) of networks that were left out"
    return Table(title, columns, rows).text(width)
