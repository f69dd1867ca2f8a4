# SPDX-License-Identifier: Apache-2.0
"""Reading what a person has named as a file, which may be something else."""

from __future__ import annotations

import errno
from pathlib import Path


def read_plain(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: it cannot be read; a pipe, a socket or a device is none, for reading it might never end.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "a pipe, socket or device, where a file was expected", str(path))
    return path.read_bytes()
