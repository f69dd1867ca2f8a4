# SPDX-License-Identifier: Apache-2.0
"""Whether what a run watched could have shown a failure at all, as `summary.json` says it under `sanity`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from resil.record.node import Node

State = Literal["passed", "failed", "not tested"]
PASSED: State = "passed"
FAILED: State = "failed"
NOT_TESTED: State = "not tested"
_STATES: tuple[State, ...] = (PASSED, FAILED, NOT_TESTED)


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the output that a run watched.

    Attributes:
        name: "written", "varies" or "reached".
        state: "passed", "failed" or "not tested".
        text: What was expected and found, and what to do if it failed.
    """

    name: str
    state: State
    text: str


@dataclass(frozen=True, slots=True)
class Sanity:
    """All checks of a run; its verdict counts only if none failed."""

    checks: tuple[Check, ...]

    @property
    def failed(self) -> bool:
        """Whether the run measured nothing that a verdict can rest on."""
        return any(check.state == FAILED for check in self.checks)

    @property
    def reason(self) -> str:
        """Why no verdict is given; "" if nothing failed."""
        return " ".join(check.text for check in self.checks if check.state == FAILED)

    @property
    def note(self) -> str:
        """All checks, for the notes of a report."""
        told = "; ".join(f"{check.name}: {check.state} ({check.text.rstrip('.')})" for check in self.checks)
        return f"Checks of the watched output: {told}."

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `summary.json` holds them."""
        checks = [{"name": c.name, "state": c.state, "text": c.text} for c in self.checks]
        return {"failed": self.failed, "checks": checks}


def parse_sanity(node: Node) -> Sanity:
    """Return the checks; ReportError if they are damaged, or `failed` is not what they say."""
    found = Sanity(
        tuple(
            Check(item.at("name").text(), _state(item.at("state")), item.at("text").text())
            for item in node.at("checks").items()
        )
    )
    if node.at("failed").value is not found.failed:
        node.at("failed").fail(f"{found.failed}, as the checks say")
    return found


def recorded_failure(summary: Mapping[str, Any]) -> str:
    """Return why the run of a `summary.json` measured nothing; "" if it did, or nothing was injected."""
    checks = (summary.get("sanity") or {"checks": []})["checks"]
    return " ".join(check["text"] for check in checks if check["state"] == FAILED)


def _state(node: Node) -> State:
    found = node.one_of(_STATES)
    return next(state for state in _STATES if state == found)
