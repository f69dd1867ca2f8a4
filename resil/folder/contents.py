# SPDX-License-Identifier: Apache-2.0
"""What the part files of a run hold together: each injection once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from resil.errors import ConsistencyError
from resil.faults.content import Content
from resil.folder.parts import PartError, read_part
from resil.rtl_harness.faults import NEVER, Untestable, is_detected
from resil.stats.rates import OUTCOMES

IntArray = npt.NDArray[np.int64]
_OUTCOMES = pa.array(OUTCOMES, pa.string())
_DUE = OUTCOMES.index("due")
_MASKED = OUTCOMES.index("masked")
_UNTESTABLE = pa.array(["", *Untestable], pa.string())


def content_of(rows: pa.Table) -> Content:
    """Return what is kept of the rows of a part, as they were stored: any alarm is a detection.

    Raises:
        PartError: an outcome is unknown or contradicts what was seen and reported, what cannot be tested has
            done something, or an injection is there twice.
    """
    stored, seen = (pc.index_in(rows[name], _OUTCOMES) for name in ("outcome", "seen"))
    injections = rows["injection"].to_numpy()
    if stored.null_count or seen.null_count:
        raise PartError(f"has outcomes other than {', '.join(OUTCOMES)}")
    if len(np.unique(injections)) != len(injections):
        raise PartError("holds an injection twice")
    codes = seen.to_numpy().astype(np.int8)
    rose, cycles = rows["alarm_cycle"].to_numpy(), rows["cycle"].to_numpy()
    judged = np.where(is_detected(rose, cycles), _DUE, codes)
    if ((codes == _DUE) & (rose == NEVER)).any() or not np.array_equal(stored.to_numpy(), judged):
        raise PartError("has outcomes that contradict what was seen and reported")
    reasons = pc.index_in(rows["untestable"], _UNTESTABLE)
    if reasons.null_count or (reasons.to_numpy() > 0)[judged != _MASKED].any():
        raise PartError(
            "has reasons why nothing could come of a fault that are none, or of which something came"
        )
    return Content(
        injections,
        judged.astype(np.int8),
        codes,
        rows["alarm"].to_numpy().astype(np.str_),
        rose,
        rows["correction"].to_numpy().astype(np.str_),
        pc.fill_null(pc.index_in(rows["first"], _OUTCOMES), -1).to_numpy().astype(np.int8),
        cycles,
        rows["end_cycle"].to_numpy(),
        rows["input"].to_numpy(),
    )


def repeating(parts: Mapping[Path, Content]) -> list[tuple[Path, Path]]:
    """Return parts that hold an injection of an earlier part, each with that part.

    None of the earlier parts is itself among those returned; once these are gone there may be more.
    """
    paths = list(parts)
    sizes = [len(content.injections) for content in parts.values()]
    owner = np.repeat(np.arange(len(paths)), sizes)
    numbers = np.concatenate([np.zeros(0, np.int64), *(content.injections for content in parts.values())])
    order = np.lexsort((owner, numbers))
    numbers, owner = numbers[order], owner[order]
    same = np.flatnonzero(numbers[1:] == numbers[:-1])
    pairs = np.unique(np.stack([owner[same + 1], owner[same]], axis=1), axis=0)
    found: dict[int, int] = {}
    for later, earlier in pairs.tolist():
        if later not in found and earlier not in found:
            found[later] = earlier
    return [(paths[later], paths[earlier]) for later, earlier in found.items()]


def require_equal(part: Path, other: Path, identity: str) -> None:
    """Raise ConsistencyError if two parts hold an injection with different rows.

    What it had done to memory on its way is left out: an engine may have looked at another time.
    """
    one, two = read_part(part, identity), read_part(other, identity)
    shared = np.intersect1d(one["injection"].to_numpy(), two["injection"].to_numpy())
    first, second = (_rows_of(table.drop_columns("corruption"), shared) for table in (one, two))
    if not first.equals(second):
        differing = np.zeros(len(shared), dtype=np.bool_)
        for name in first.column_names:
            differing |= pc.not_equal(first[name], second[name]).to_numpy()
        raise ConsistencyError(
            f"{part.parent.parent}: injection {shared[differing][0]} is stored twice with different "
            "outcomes; the same fault must always have the same outcome, so either the engine or a file is "
            "wrong",
            f"injections[{shared[differing][0]}]",
        )


def _rows_of(table: pa.Table, injections: npt.NDArray[np.int64]) -> pa.Table:
    numbers = table["injection"].to_numpy()
    order = np.argsort(numbers)
    return table.take(order[np.searchsorted(numbers[order], injections)]).combine_chunks()
