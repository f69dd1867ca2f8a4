"""What a study says of the protection of each target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resil.study.answers import MET, is_injected
from resil.study.study import Study

_NOT_BUILT = (
    "a set that holds for all networks is not chosen by a study yet; resil protect chooses one for each run"
)


def protection_rows(study: Study, cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each target what is known of its protection; nothing if none was asked for.

    A target needs none where each cell is met by injections. Anything else is said to be not assessed.
    """
    if not study.protection:
        return []
    rows = []
    for target in study.targets:
        own = [cell for cell in cells if cell["target"] == target.name]
        needless = bool(own) and all(cell["verdict"] == MET and is_injected(cell) for cell in own)
        rows.append(
            {
                "target": target.name,
                "result": "not needed" if needless else "not assessed",
                "overhead": 0.0 if needless else None,
                "networks": [cell["network"] for cell in own] if needless else [],
                "confirmed": None,
                "reason": "each network meets what was asked, unprotected" if needless else _NOT_BUILT,
            }
        )
    return rows
