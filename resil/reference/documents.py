# SPDX-License-Identifier: Apache-2.0
"""The lists of fields in the page of the files, made from the classes of the documents."""

from __future__ import annotations

import re
from inspect import cleandoc

from resil.record.fields import DOCUMENTS, fields_of
from resil.record.typed import Document
from resil.reference.markdown import item, paragraph


def with_documents(page: str) -> str:
    """Return the page of the files with the section of each document made anew.

    Raises:
        ValueError: a document has no section.
    """
    for document in DOCUMENTS:
        pattern = rf"^## {re.escape(document.FILE)}\n.*?(?=^## |\Z)"
        found = re.findall(pattern, page, re.M | re.S)
        if len(found) != 1:
            raise ValueError(f"expected one section {document.FILE}, found {len(found)}")
        page = page.replace(found[0], f"{_section(document)}\n")
    return page


def _section(document: type[Document]) -> str:
    lead = f"{cleandoc(document.__doc__ or '')} Schema {document.SCHEMA}."
    items = "\n".join(item(f"`{path}`: {meaning}") for path, meaning in fields_of(document))
    return f"## {document.FILE}\n\n{paragraph(lead)}\n\n{items}\n"
