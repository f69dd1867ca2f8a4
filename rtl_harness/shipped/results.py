"""Finds a result among those that come with the package: the cache takes it where it would else build one.

`index.json` names each result by the kind and the key that it has in the cache. The key is a hash of RTL,
parameters, scripts, our own code and versions of tools: once any of it has changed, the result is not found.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent
INDEX = "index.json"
SCHEMA = 1

# The file that holds a result, in the cache's folder of its kind.
FILES = {
    "elaboration": "elaboration.json",
    "design-facts": "facts.json",
    "hardware": "hardware.json",
    "area": "area.json",
    "gates": "gates.npz",
}


@dataclass(frozen=True, slots=True)
class ShippedResult:
    """A result that comes with the package.

    Attributes:
        file: Its compressed file, in the folder of the index.
        kind: The sort of result, a key of `FILES`.
        key: What it was made of.
        digest: SHA-256 of the file of `FILES`, not compressed.
    """

    file: str
    kind: str
    key: str
    digest: str


def shipped_content(kind: str, key: str, folder: Path | None = None) -> bytes | None:
    """Return a result that comes with the package; None if there is none of this key, or it is damaged."""
    folder = folder or FOLDER
    if kind not in FILES:
        return None
    for result in shipped_results(folder):
        if (result.kind, result.key) == (kind, key):
            content = _decompressed(folder / result.file)
            return content if content is not None and sha256(content).hexdigest() == result.digest else None
    return None


@lru_cache
def shipped_results(folder: Path) -> tuple[ShippedResult, ...]:
    """Return what an index lists; nothing if it cannot be read, or is of another schema."""
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if index["schema"] != SCHEMA:
            return ()
        return tuple(ShippedResult(**result) for result in index["results"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _decompressed(file: Path) -> bytes | None:
    try:
        import lzma
    except ImportError:  # A Python that was built without it.
        return None
    try:
        return lzma.decompress(file.read_bytes())
    except (OSError, lzma.LZMAError):
        return None
