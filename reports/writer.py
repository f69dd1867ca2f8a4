# SPDX-License-Identifier: Apache-2.0
"""The one place where reports touch the disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from resil.record.errors import ReportError


def write_files(files: Mapping[str, str | bytes], folder: Path) -> list[Path]:
    """Write each file into a folder, whole or not at all, and return the paths written.

    A file is written under a temporary name beside its place and then renamed over it. Nothing is
    written if any of the names is bad.

    Args:
        files: Content by path relative to `folder`, with `/`; text is written as UTF-8.
        folder: Made if it does not exist.

    Raises:
        ReportError: A name leads outside `folder`, or the disk refuses.
    """
    for name in files:
        path = PurePosixPath(name)
        if not name or path.is_absolute() or ".." in path.parts or path == PurePosixPath("."):
            raise ReportError(f"{folder}: expected a file name inside this folder, found {name!r}")
    return [_write(folder / name, content) for name, content in files.items()]


def _write(path: Path, content: str | bytes) -> Path:
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
            temporary = Path(stream.name)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise ReportError(
            f"{path}: cannot write this report: {error.strerror or error};"
            " give a folder that can be written and has room"
        ) from error
    return path


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
