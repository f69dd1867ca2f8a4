# SPDX-License-Identifier: Apache-2.0
"""Prints what a study found as the tables of docs/results.md, from its `study.json` alone.

    python -m benchmarks.study.tables RUNS

Two sizes beside each other, with a reaction and unaided; then the sets of protection, what injections into
them found on hold-out networks, and the claims. The looks are read in the builds, `RUNS/protected`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from resil.record.protection_confirmation import Confirmation
from resil.record.study import StudyRecord
from resil.record.study_cell import CellView
from resil.record.summary import Summary

_VIEWS = {"aided": "with a reaction", "unaided": "unaided"}


def tables(study: StudyRecord, builds: Path) -> Iterator[str]:
    """Yield the tables, each with its heading, as Markdown."""
    targets = list(dict.fromkeys(cell.target for cell in study.cells))
    for pair in _pairs(targets):
        for view, title in _VIEWS.items():
            yield "\n".join(_rates(study, pair, view, title))
    yield "\n".join(_sets(study))
    yield "\n".join(_looks(builds))


def _pairs(targets: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for at in range(0, len(targets), 2):
        yield tuple(targets[at : at + 2])


def _rates(study: StudyRecord, targets: Sequence[str], view: str, title: str) -> Iterator[str]:
    heads = [column for own in targets for column in (f"FIT, {_size(own)}", "SPFM")]
    yield _line([title, *heads])
    yield _rule(1 + len(heads))
    for network in dict.fromkeys(cell.network for cell in study.cells):
        row = [f"`{network}`"]
        for target in targets:
            cell = study.cell(target, network)
            if cell is None or cell.results is None:
                row += ["not injected", ""]
            else:
                row += _cells(getattr(cell.results, view))
        yield _line(row)


def _cells(view: CellView) -> list[str]:
    estimate, lo, hi = view.fit
    found = [f"{estimate:.3f} [{lo:.3f}, {hi:.3f}]"]
    if view.spfm is None:
        return [*found, ""]
    estimate, lo, hi = (100.0 * own for own in view.spfm)
    return [*found, f"{estimate:.2f} % [{lo:.2f}, {hi:.2f}]"]


def _sets(study: StudyRecord) -> Iterator[str]:
    heads = ["size", "area", "lockstep", "FIT left, at most", "unaided", "SPFM after, at least", "corner", ""]
    yield _line(heads)
    yield _rule(len(heads))
    for own in study.protection:
        confirmed = {None: "not confirmed", True: "**confirmed**", False: "refused"}[own.confirmed]
        fit = "" if own.fit_hi is None else f"{own.fit_hi:.3g}"
        unaided = "" if own.unaided_hi is None else f"{own.unaided_hi:.3g}"
        spfm = "" if own.spfm_lo is None else f"{100.0 * own.spfm_lo:.2f} %"
        yield _line(
            [
                _size(own.target),
                _added(own.overhead),
                _added(own.overhead_lockstep),
                fit,
                unaided,
                spfm,
                own.corner or "",
                own.result if own.result != "reached" else confirmed,
            ]
        )


def _looks(builds: Path) -> Iterator[str]:
    """Yield what was found on each hold-out network: on the RTL as it was, and on what was built."""
    heads = ["size", "synthesis", "hold-out network", "FIT unprotected", "upsets", "FIT left"]
    heads += ["at most, at the corner", "SPFM, at least", "detected, at most", "redundant, hazardous", ""]
    yield _line(heads)
    yield _rule(len(heads))
    files = [
        (file, Confirmation.read(file.read_bytes(), str(file))) for file in builds.glob("*/confirmation.json")
    ]
    for file, found in sorted(
        files, key=lambda own: own[1].area_measured.added / own[1].area_measured.overhead
    ):
        size = _size(file.parent.name.rpartition("-")[0])
        ends = "**confirmed**" if found.confirmed else f"refused: {'; '.join(found.reasons)}"
        for number, own in enumerate(found.networks):
            bare = file.parent / "unprotected" / own.network / Summary.FILE
            before = Summary.read(bare.read_bytes(), str(bare)).total
            struck = [row for row in found.copies.mechanisms if row.network == own.network]
            hazardous = sum(row.hazardous for row in struck)
            yield _line(
                [
                    "" if number else size,
                    "" if number else _added(found.area_measured.overhead),
                    f"`{own.network}`",
                    f"{before.fit:.3f} [{before.fit_lo:.3f}, {before.fit_hi:.3f}]",
                    f"{own.injections:,}",
                    f"{own.fit:.4f} [{own.fit_lo:.4f}, {own.fit_hi:.4f}]",
                    f"{own.corner_fit_hi:.4f}",
                    f"{100.0 * own.corner_spfm_lo:.2f} %",
                    f"{own.corner_due_fit_hi:.2f}",
                    f"{hazardous} of {own.copies:,}",
                    "" if number else ends,
                ]
            )


def _size(target: str) -> str:
    return f"{target.rpartition('-')[2]} MACs"


def _added(part: float | None) -> str:
    return "" if part is None else f"+{100.0 * part:.1f} %"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return f"|{'---|' * columns}"


def main() -> None:
    """Read a study and print its tables, its claims and what they rest on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", type=Path, help="folder of a study")
    file = parser.parse_args().runs / StudyRecord.FILE
    study = StudyRecord.read(file.read_bytes(), str(file))
    if study.finished is None:
        print("The study is not finished.\n")
    print("\n\n".join(tables(study, file.parent / "protected")))
    for claim in study.claims:
        print(f"\n{claim.claim} {claim.result.upper()}")
        for line in claim.evidence:
            print(f"- {line}")


if __name__ == "__main__":
    main()
