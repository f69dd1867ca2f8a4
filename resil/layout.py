# SPDX-License-Identifier: Apache-2.0
"""Where the parts of the package lie: side by side in a checkout, below `resil` where it is installed.

And where lies what is kept for good.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from platformdirs import user_data_path

# Folders of a checkout that are parts of the one package; setup.py says the same to the installer.
PARTS = ("networks", "reports", "rtl_harness", "stats")


def part_folder(name: str) -> Path:
    """Return the folder of a part of the package, an entry of `PARTS`, wherever it lies."""
    root = Path(__file__).parent
    inside = root / name
    return inside if inside.is_dir() else root.parent / name


def source_files() -> Iterator[tuple[str, Path]]:
    """Yield all files of the package, by their name as installed ("resil/stats/rates.py"), in that order."""
    root = Path(__file__).parent
    found = {f"resil/{file.relative_to(root)}": file for file in root.rglob("*")}
    for part in PARTS:
        folder = part_folder(part)
        found |= {f"resil/{part}/{file.relative_to(folder)}": file for file in folder.rglob("*")}
    for name in sorted(found):
        if found[name].is_file() and "__pycache__" not in found[name].parts:
            yield name, found[name]


@cache
def source_digest() -> str:
    """Return the SHA-256 of all files of the package, 64 hexadecimal digits.

    Two checkouts may call themselves by the same version and differ.
    """
    digest = sha256()
    for name, file in source_files():
        digest.update(f"{name} {file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def data_folder() -> Path:
    """Return the folder of what is kept for good: `$RESIL_DATA`, else the user's data folder for `resil`."""
    chosen = os.environ.get("RESIL_DATA")
    return Path(chosen).expanduser().resolve() if chosen else user_data_path("resil", appauthor=False)


def link_parts(checkout: Path) -> None:
    """Let Python import all parts of a copy of a checkout, its folder on the path, nothing installed."""
    for part in PARTS:
        (checkout / "resil" / part).symlink_to(checkout / part)
