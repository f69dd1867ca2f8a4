# SPDX-License-Identifier: Apache-2.0
"""Whether `provenance.json` of a run says what those who go on with it rely on; values of such records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NUMBER = (int, float)
_RUN: dict[str, tuple[type, ...]] = {
    "started": (str,),
    "finished": (str, type(None)),
    "workers": (int,),
    "seconds": _NUMBER,
}
_COUNTS = ("answers", "tried")


def wrong_fact(provenance: Mapping[str, Any]) -> str | None:
    """Return the key under which a run's facts are missing, or not of their kind; None if all are there."""
    for key, types in _RUN.items():
        if key not in provenance or not _is(provenance[key], types):
            return key
    audit = provenance.get("audit", {})
    if not isinstance(audit, dict) or not _is(audit.get("parts", 0), (int,)):
        return "audit"
    kinds = audit.get("kinds", {})
    counted = [*kinds.values()] if isinstance(kinds, dict) else [None]
    counted += [audit["workers"]] if "workers" in audit else []
    if not all(
        isinstance(own, dict) and all(_is(own.get(key), (int,)) for key in _COUNTS) for own in counted
    ):
        return "audit"
    return None


def is_amount(value: object) -> bool:
    """Whether a value is a finite number of at least 0; true is none."""
    return _is(value, _NUMBER)


def _is(value: object, types: tuple[type, ...]) -> bool:
    """Whether a value has one of these types; a number is not negative, and true is none."""
    if isinstance(value, bool) or not isinstance(value, types):
        return False
    return not isinstance(value, _NUMBER) or 0 <= value < float("inf")
