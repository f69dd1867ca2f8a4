# SPDX-License-Identifier: Apache-2.0
"""FIT of any part of a run's injections: of an operation, of a register, of both together.

What a summary says of the total, of blocks and of register classes is a sum over the parts of a sample, each
one binomial proportion. Here an event is a hazardous injection *of the domain*, and all injections of the
part are its trials. So the estimate is the sum of the weights of the domain's hazardous injections, whatever
divides it from the others (W. G. Cochran, Sampling Techniques, 3rd ed., 1977, section 2.12).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resil.folder.strata_file import Drawn
from resil.record.evidence import SamplingRecord
from resil.results.classes import DIVIDED
from resil.stats.clusters import weighted_sum_over_inputs
from resil.stats.intervals import Interval
from resil.stats.parts import GroupParts
from resil.stats.weighted import weighted_sum

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_BLOCK, _CLASS = 2, 3  # names of a label up to the block and kind, and up to the register class
# Columns that say of an injection what storage it hit.
OF_STORAGE = ("block", "kind", "register", "register_class", "name", "site")


def weights_of(drawn: Drawn, injections: IntArray) -> FloatArray:
    """Return the FIT that each injection stands for: raw rate over injections, of its part of the sample.

    The sum of the weights of hazardous injections is the total FIT of `summary.json`, as long as every part
    was injected into.

    Args:
        drawn: How they were drawn.
        injections: Their numbers.

    Returns:
        Shape (injections,), in FIT; 0 of those that do not count.
    """
    parts = drawn.parts(0)
    trials = parts.total(drawn.injections)
    each = parts.total(drawn.strata.weights) / np.maximum(trials, 1.0)
    weights: FloatArray = each[parts.owner[drawn.owners(injections)]] * drawn.count(injections)
    return weights


@dataclass(frozen=True)
class Question:
    """Which FIT are asked for.

    Attributes:
        by: Columns of the injections; each combination of their values is a domain.
        outcomes: That count as events.
        confidence: Of every interval by itself.
        like_these: Intervals are for inputs like those that were run.
        guided: Predictions chose the injections: the total has mid-p limits, as in `summary.json`.
    """

    by: tuple[str, ...]
    outcomes: tuple[str, ...]
    confidence: float
    like_these: bool
    guided: bool

    @staticmethod
    def of(sampling: SamplingRecord, by: tuple[str, ...], outcomes: tuple[str, ...]) -> Question:
        """Return the question as the results of a run that was sampled so were judged."""
        like_these = sampling.inputs == "like these" and "input" not in by
        confidence = sampling.looks[-1].confidence
        return Question(by, outcomes, confidence, like_these, sampling.guided and not by)

    @property
    def storage(self) -> list[str]:
        """Those columns that say what storage was hit."""
        return [name for name in self.by if name in OF_STORAGE]

    def depth(self, plan: str, drawn: Drawn) -> int:
        """Return how finely groups are divided before they are summed up: as in `summary.json`.

        The total and kinds of storage are sums over groups as they were drawn, blocks over their own parts of
        these, and register classes over theirs, where the plan divides faults by class.
        """
        storage = set(self.storage) - {"kind"}
        divided = plan in DIVIDED and len(drawn.strata.labels[0]) >= _CLASS
        return 0 if not storage else _CLASS if divided and storage != {"block"} else _BLOCK


def fit_of_domains(
    rows: pd.DataFrame, drawn: Drawn, sites: pd.DataFrame, asked: Question, plan: str
) -> pd.DataFrame:
    """Return a row for each domain; see `Run.fit`.

    Args:
        rows: The injections that count.
        drawn: How they were drawn.
        sites: The storage that was injected into, with the columns `OF_STORAGE` as far as they are asked for,
            and block, kind and register class.
        asked: What is asked.
        plan: The sampling plan.
    """
    import pandas as pd

    parts = drawn.parts(depth := asked.depth(plan, drawn))
    part = parts.owner[drawn.owners(rows["injection"].to_numpy())]
    inputs, position = np.unique(rows["input"].to_numpy(), return_inverse=True)
    if not asked.like_these:
        inputs, position = inputs[:1], np.zeros_like(position)
    shape = (len(inputs), len(parts.labels))
    trials = _table(shape, position, part)
    event = rows["outcome"].isin(asked.outcomes).to_numpy()
    weights = parts.total(drawn.strata.weights)
    places = _places(sites, asked, parts, depth)
    found = []
    for key, own in _members(rows, asked, places):
        use = places[tuple(key[asked.by.index(name)] for name in asked.storage)]
        hit = own[event[own]]
        events = _table(shape, position[hit], part[hit])[:, use]
        interval = _interval(events, trials[:, use], weights[use], asked)
        found.append((*key, len(own), len(hit), interval.estimate, interval.lo, interval.hi))
    columns = [*asked.by, "injections", "events", "fit", "fit_lo", "fit_hi"]
    table = pd.DataFrame(found, columns=columns)
    order = ["fit", "fit_hi", *asked.by]
    ranked = table.sort_values(order, ascending=[False, False, *[True] * len(asked.by)])
    return ranked.reset_index(drop=True)


def _interval(events: FloatArray, trials: FloatArray, weights: FloatArray, asked: Question) -> Interval:
    if asked.like_these:
        return weighted_sum_over_inputs(events, trials, weights, asked.confidence).interval
    return weighted_sum(events[0], trials[0], weights, asked.confidence, mid_p=asked.guided)


def _table(shape: tuple[int, int], position: IntArray, part: IntArray) -> FloatArray:
    """Return how many rows fall on each input and part."""
    flat = np.bincount(position * shape[1] + part, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)


def _places(
    sites: pd.DataFrame, asked: Question, parts: GroupParts, depth: int
) -> dict[tuple[Any, ...], IntArray]:
    """Return for each combination of storage columns the parts of the sample in which such storage lies."""
    if not asked.storage:
        return {(): np.arange(len(parts.labels))}
    names = ["block", "kind", "register_class"][: max(depth, _BLOCK)]
    storage = asked.storage
    distinct = sites[list(dict.fromkeys([*storage, *names]))].drop_duplicates()
    numbers: dict[tuple[str, ...], list[int]] = {}
    for number, label in enumerate(parts.labels):
        numbers.setdefault(label, []).append(number)
    found: dict[tuple[Any, ...], list[int]] = {}
    keys = zip(*(distinct[name] for name in storage), strict=True)
    labels = zip(*(distinct[name] for name in names), strict=True)
    for key, label in zip(keys, labels, strict=True):
        found.setdefault(key, []).extend(numbers.get(label if depth else ("", label[1]), []))
    return {key: np.unique(np.array(own, dtype=np.int64)) for key, own in found.items()}


def _members(
    rows: pd.DataFrame, asked: Question, places: Mapping[tuple[Any, ...], IntArray]
) -> Sequence[tuple[tuple[Any, ...], IntArray]]:
    """Return the rows of each domain; storage that nothing hit has none, where all columns are of storage."""
    if not asked.by:
        return [((), np.arange(len(rows)))]
    hit = {
        key if isinstance(key, tuple) else (key,): np.asarray(own, dtype=np.int64)
        for key, own in rows.groupby(list(asked.by), sort=False, dropna=False).indices.items()
    }
    none = np.zeros(0, dtype=np.int64)
    unhit = [key for key in places if key not in hit] if len(asked.storage) == len(asked.by) else []
    return [*hit.items(), *((key, none) for key in unhit)]
