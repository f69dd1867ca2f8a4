"""Results of slow tools, kept on disk under the hash of all that went into them."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

Part = str | bytes | int | float | bool | None | Path | Mapping[str, "Part"] | Iterable["Part"]


def cache_root() -> Path:
    """Return the cache folder: `$RESIL_CACHE`, else `resil` in the user's cache folder."""
    chosen = os.environ.get("RESIL_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "resil"


def content_key(*parts: Part) -> str:
    """Return a hash over `parts`, 32 hexadecimal digits.

    A path stands for the name and the content of its file (not for where it lies), so that a moved
    checkout finds its builds again. Mappings count by sorted key, other collections in their order.
    """
    state = blake2b(digest_size=16)
    for chunk in _chunks(parts):
        state.update(len(chunk).to_bytes(8, "little"))
        state.update(chunk)
    return state.hexdigest()


def cached_folder(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """Return the folder that `build` fills, from the cache if it is there.

    Several processes may ask for the same folder: one builds, the others wait. `build` gets a folder
    that is empty and already has its final path; it is marked complete only when `build` returns, and is
    emptied if `build` raises or if an earlier build was killed.

    Args:
        kind: Name of the sort of result, the first folder level.
        key: From `content_key`.
        build: Fills the folder that it is given.
    """
    folder = cache_root() / kind / key
    complete = folder / ".complete"
    if complete.is_file():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_suffix(".lock")):
        if not complete.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                build(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            complete.touch()
    return folder


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that no reader ever sees a part of it."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _chunks(part: Part) -> Iterator[bytes]:
    match part:
        case Path():
            yield b"path"
            yield part.name.encode()
            yield part.read_bytes()
        case bytes():
            yield b"bytes"
            yield part
        case str() | int() | float() | None:
            yield type(part).__name__.encode()
            yield str(part).encode()
        case Mapping():
            yield b"mapping"
            for key in sorted(part):
                yield key.encode()
                yield from _chunks(part[key])
            yield b"end"
        case _:
            yield b"sequence"
            for item in part:
                yield from _chunks(item)
            yield b"end"
