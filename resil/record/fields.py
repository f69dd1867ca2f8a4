# SPDX-License-Identifier: Apache-2.0
"""The fields of documents with what they mean, as `docs/reference/files.md` lists them; and JSON schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from resil.record.assessor import AssessorKit
from resil.record.explanation import Explanation
from resil.record.listed import ListedResults
from resil.record.mechanism_faults import MechanismFaults
from resil.record.mechanisms import MechanismAudit
from resil.record.patterns import ErrorPatterns
from resil.record.protection import Protection
from resil.record.protection_build import Build
from resil.record.protection_confirmation import Confirmation
from resil.record.provenance import Provenance
from resil.record.stored_audit import StoredAudit
from resil.record.study import StudyRecord
from resil.record.summary import Summary
from resil.record.trace import Trace
from resil.record.typed import Document, Typed
from resil.record.underway import Underway
from resil.record.validation import Validation

# Documents whose fields are listed, and the field of another that is a copy of one.
DOCUMENTS: tuple[type[Document], ...] = (
    Summary,
    Provenance,
    Underway,
    Trace,
    Explanation,
    MechanismAudit,
    MechanismFaults,
    ErrorPatterns,
    StoredAudit,
    ListedResults,
    StudyRecord,
    Protection,
    Build,
    Confirmation,
    Validation,
    AssessorKit,
)


def fields_of(part: type[Typed], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each field of a document by its path (`blocks[].fit`), with its meaning.

    Args:
        part: The class of a document, or of a part of one.
        path: Of that part.
    """
    for name, field in part.model_fields.items():
        own = f"{path}.{field.alias or name}".removeprefix(".")
        inner, step = _inside(field.annotation)
        if inner is not None and issubclass(inner, Document):
            yield f"{own}.*", field.description or ""
        elif inner is None:
            yield own + step, field.description or ""
        else:
            if _may_be_null(field):
                yield own, field.description or ""
            yield from fields_of(inner, own + step)


def json_schema(document: type[Document]) -> dict[str, Any]:
    """Return the JSON schema of a document."""
    return document.model_json_schema(by_alias=True)


def _may_be_null(field: FieldInfo) -> bool:
    return type(None) in get_args(field.annotation)


def _inside(annotation: object) -> tuple[type[Typed] | None, str]:
    """Return the class that a field holds, None for a plain value, and how its path goes on."""
    if isinstance(annotation, type) and issubclass(annotation, Typed):
        return annotation, ""
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    origin = get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inner, step = _inside(kinds[-1])
        return inner, f".*{step}"
    if origin is tuple:
        inner, step = _inside(kinds[0])
        return inner, f"[]{step}" if inner is not None else ""
    if type(None) in get_args(annotation) and len(kinds) == 1:
        return _inside(kinds[0])
    return None, ""
