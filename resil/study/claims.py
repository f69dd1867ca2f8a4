# SPDX-License-Identifier: Apache-2.0
"""The two claims of the study of the Ethos-U55, and the numbers that support or refute them here.

Reference: arXiv 2404.09317, abstract: configurations of the NPU do not meet ASIL-D unprotected, and selective
protection does, for 38 % of area instead of lockstep's 100 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resil.study.answers import MET, MISSED, NONE, is_injected
from resil.study.protection import NOT_NEEDED, REACHED

SUPPORTED, REFUTED, OPEN = "supported", "refuted", "open"
SHORT = "Unprotected, every configuration falls short of what is asked."
SELECTIVE = "Selective protection suffices for every configuration, at less area than lockstep."

Cells = Sequence[Mapping[str, Any]]


def claims(cells: Cells, protection: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each claim with `claim`, `result` ("supported", "refuted" or "open") and `evidence`, lines.

    The first is refuted by a configuration on which every network was injected and meets what is asked, the
    second by one whose set takes no less area than lockstep; where no set was shown to suffice, more
    injections may show one. It is supported only by sets that keep the budget, and the SPFM that cells claim,
    and that new injections into the protected RTL have confirmed.

    Args:
        cells: As in `study.json`.
        protection: Likewise.
    """
    targets = list(dict.fromkeys(cell["target"] for cell in cells))
    own = {target: [cell for cell in cells if cell["target"] == target] for target in targets}
    rows = {row["target"]: row for row in protection}
    falls = [_falls_short(own[target]) for target in targets]
    needed = {target: _Needed.of(own[target]) for target in targets}
    suffices = [_suffices(rows.get(target), needed[target]) for target in targets]
    return [
        {
            "claim": SHORT,
            "result": _joined(falls),
            "evidence": [f"{target}: {_unprotected(own[target])}" for target in targets],
        },
        {
            "claim": SELECTIVE,
            "result": _joined(suffices),
            "evidence": [f"{target}: {_protected(rows.get(target), needed[target])}" for target in targets],
        },
    ]


def _joined(results: Sequence[str]) -> str:
    """Return what holds of all configurations; one that refutes is enough, and without any all is open."""
    if REFUTED in results:
        return REFUTED
    return SUPPORTED if results and set(results) == {SUPPORTED} else OPEN


def _falls_short(cells: Cells) -> str:
    injected = [cell for cell in cells if is_injected(cell)]
    if any(_alone(cell) == MISSED for cell in injected):
        return SUPPORTED
    whole = len(injected) == len(cells) and bool(cells)
    return REFUTED if whole and all(_alone(cell) == MET for cell in cells) else OPEN


def _alone(cell: Mapping[str, Any]) -> str:
    """Return the verdict of a cell if nobody reacts to what the design detects: it is unprotected then."""
    return str(cell["unaided"] if cell["unaided"] is not None else cell["verdict"])


def _unprotected(cells: Cells) -> str:
    injected = [cell for cell in cells if is_injected(cell)]
    if not injected:
        return "no network was injected"
    if all(cell["verdict"] == NONE for cell in injected):
        return "nothing was asked"
    missed = [cell for cell in injected if _alone(cell) == MISSED]
    aided = sum(cell["verdict"] == MISSED for cell in injected)
    worst = max(injected, key=lambda cell: cell["fit"])
    told = f"{len(missed)} of {len(cells)} networks miss unaided, {aided} with the error flag and a reaction"
    if len(injected) < len(cells):
        told += f", {len(cells) - len(injected)} not injected"
    limits = f"[{worst['fit_lo']:.3g}, {worst['fit_hi']:.3g}]"
    told += f"; worst {worst['fit']:.3g} {limits} FIT on {worst['network']}"
    told += "" if worst["budget_fit"] is None else f", budget {worst['budget_fit']:g}"
    for key, view in (("spfm_unaided", "unaided"), ("spfm", "with the error flag and a reaction")):
        told += _lowest(injected, key, view)
    return told


def _lowest(cells: Cells, key: str, view: str) -> str:
    """Return the lowest SPFM of one view, and what is asked; "" if it is known of no cell."""
    lowest = min((cell for cell in cells if cell[key]), key=lambda cell: cell[key][1], default=None)
    told = ""
    if lowest is not None:
        middle, low, high = lowest[key]
        told = f"; lowest SPFM {view} {middle:.2%} [{low:.2%}, {high:.2%}] on {lowest['network']}"
        told += "" if lowest.get("spfm_asked") is None else f", asked {lowest['spfm_asked']:.2%}"
    return told


@dataclass(frozen=True)
class _Needed:
    """What a set of protection has to keep on a target, since its cells are asked for it; None: nothing."""

    fit: float | None
    spfm: float | None

    @staticmethod
    def of(cells: Cells) -> _Needed:
        """Return the least budget, and the most SPFM, of cells that have one."""
        budgets = [own for cell in cells if (own := cell.get("budget_fit")) is not None]
        spfms = [own for cell in cells if (own := cell.get("spfm_asked")) is not None]
        return _Needed(min(budgets, default=None), max(spfms, default=None))

    def lacking(self, row: Mapping[str, Any]) -> list[str]:
        """Return what a chosen set is not shown to keep, in words."""
        told = []
        if self.fit is not None and row["fit_hi"] > self.fit:
            told.append(f"more than the budget of {self.fit:g}")
        if self.spfm is not None and (row["spfm_lo"] is None or row["spfm_lo"] < self.spfm):
            told.append(f"SPFM not shown to be the {self.spfm:.2%} that is claimed")
        return told


def _suffices(row: Mapping[str, Any] | None, needed: _Needed) -> str:
    if row is None or row["result"] != REACHED:
        return OPEN
    lockstep = row["overhead_lockstep"]
    if lockstep is not None and row["overhead"] >= lockstep:
        return REFUTED
    if needed.lacking(row):
        return OPEN
    return SUPPORTED if lockstep is not None and row["confirmed"] is True else OPEN


def _protected(row: Mapping[str, Any] | None, needed: _Needed) -> str:
    if row is None:
        return "no protection was asked for"
    if row["result"] == NOT_NEEDED:
        return f"none is needed: {row['reason']}"
    if row["result"] != REACHED:
        return f"{row['result']}: {row['reason']}"
    lockstep = row["overhead_lockstep"]
    told = f"+{row['overhead']:.2%} area"
    told += "" if lockstep is None else f" where lockstep takes +{lockstep:.0%}"
    told += f", at most {row['fit_hi']:.3g} FIT on {len(row['networks'])} networks"
    told += "" if row["spfm_lo"] is None else f", SPFM at least {row['spfm_lo']:.2%}"
    if lacking := needed.lacking(row):
        told += f" ({'; '.join(lacking)}: other targets were given to it)"
    confirmed = {True: "confirmed by injection", False: "not confirmed by injection"}
    return f"{told}; {confirmed.get(row['confirmed'], 'not injected into')}"
