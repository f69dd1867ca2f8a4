# SPDX-License-Identifier: Apache-2.0
"""The validation evidence as it bears on a run: of which installation it is, and what it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resil.errors import StoreError
from resil.folder.provenance import PACKAGES, versions
from resil.folder.recorded import read_document
from resil.layout import source_digest
from resil.record.assessor import CURRENT, MISSING, STALE, EvidenceLine, Reservation
from resil.record.provenance import Provenance
from resil.record.validation import CHECKS, NOT_MADE, PASSED, Validation
from resil.version import __version__

TOPIC = "validation evidence"
_AGAIN = "make it with: resil validate"


@dataclass(frozen=True)
class ValidationEvidence:
    """What there is of validation evidence.

    Attributes:
        state: Whether it is of this installation and of the tools of the run.
        document: The evidence; None if there is none that can be read.
        reservations: What it leaves open.
    """

    state: str
    document: Validation | None
    reservations: tuple[Reservation, ...]

    def passed(self, *names: str) -> bool:
        """Whether current evidence has these checks, all passed."""
        if self.state != CURRENT or self.document is None:
            return False
        return all(check.state == PASSED for check in self.document.checks if check.name in names)

    @property
    def is_whole(self) -> bool:
        """Whether current evidence is not the short one, and passed."""
        return self.passed(*CHECKS) and self.document is not None and not self.document.quick

    @property
    def lines(self) -> tuple[EvidenceLine, ...]:
        """Each check, and the installation."""
        if self.document is None:
            return tuple(
                EvidenceLine(name=n, state=NOT_MADE, text=f"Would show: {t}.") for n, t in CHECKS.items()
            )
        checks = tuple(
            EvidenceLine(name=own.name, state=own.state, text=f"Shows that {own.shows}. {own.text}")
            for own in self.document.checks
        )
        details = tuple(
            EvidenceLine(name=f"{own.name}: {name}", state="", text=text)
            for own in self.document.checks
            for name, text in own.details.items()
        )
        found = self.document
        made = (
            f"resil {found.resil}, files {found.package[:16]}, Python {found.python}, compiler "
            f"{found.compiler}, "
            f"{', '.join(f'{name} {version}' for name, version in found.versions.items())}; "
            f"{found.platform}; "
            f"made {found.made} in {found.seconds:,.0f} s, seed {found.seed}"
        )
        return (*checks, *details, EvidenceLine(name="installation", state=self.state, text=made))


def evidence_for(file: Path, run: Provenance | None) -> ValidationEvidence:
    """Judge the evidence in a file: it counts only if it is of this installation and of the run's tools.

    Args:
        file: `validation.json`.
        run: What made the run; None if that cannot be read.
    """
    try:
        found = read_document(file, Validation, _AGAIN)
    except StoreError as error:
        return ValidationEvidence(MISSING, None, (_open(f"There is none that can be read: {error}"),))
    stale = _stale(found, run)
    left = [_open(text) for text in stale]
    for check in found.checks:
        if check.state != PASSED:
            left.append(_open(f"The check {check.name} ({check.shows}) is {check.state}: {check.text}"))
    if found.quick:
        left.append(
            _open("It is that of the short validation: fewer campaigns and mutants, and nothing of the NPU.")
        )
    return ValidationEvidence(STALE if stale else CURRENT, found, tuple(left))


def _open(text: str) -> Reservation:
    return Reservation(topic=TOPIC, text=text)


def _stale(found: Validation, run: Provenance | None) -> list[str]:
    """Say what the evidence is of another version of."""
    said = []
    if found.resil != __version__:
        said.append(f"It is of resil {found.resil}, and this is {__version__}; {_AGAIN}.")
    elif found.package != source_digest():
        said.append(
            f"It is of other files of the package ({found.package[:16]}) than are installed here "
            f"({source_digest()[:16]}); {_AGAIN}."
        )
    here = versions(PACKAGES)
    if other := _other(found.versions, here):
        said.append(f"It is of other tools than are installed here: {other}; {_AGAIN}.")
    if run is not None:
        if run.resil != found.resil:
            said.append(f"The run was made by resil {run.resil}, the evidence is of {found.resil}.")
        if other := _other(found.versions, run.versions):
            said.append(f"It is of other tools than those of the run: {other}.")
        if run.python.split(".")[:2] != found.python.split(".")[:2]:
            said.append(f"The run was made with Python {run.python}, the evidence is of {found.python}.")
    return said


def _other(evidence: Mapping[str, str], others: Mapping[str, str]) -> str:
    return ", ".join(
        f"{name} {evidence.get(name, 'not known')} and not {version}"
        for name, version in others.items()
        if evidence.get(name) != version
    )
