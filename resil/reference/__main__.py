# SPDX-License-Identifier: Apache-2.0
"""Writes the generated pages of the reference into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from resil.reference.documents import with_documents
from resil.reference.pages import PAGES

if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reference")
    for name, page in PAGES.items():
        (folder / name).write_text(page())
    files = folder / "files.md"
    files.write_text(with_documents(files.read_text()))
