# SPDX-License-Identifier: Apache-2.0
"""Results of slow tools, kept on disk under the hash of all that went into them."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.shipped.results import FILES, shipped_content

Part = str | bytes | int | float | bool | None | Path | Mapping[str, "Part"] | Iterable["Part"]


# What make, the shell or a file list of a simulator would take apart in a path.
_APART = re.compile(r"""[\s"'`#$%&()*:;<>?\[\]\\^{|}]""")

_NOT_WRITABLE = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.ENOTDIR,
    errno.EEXIST,
}

Observer = Callable[[str], AbstractContextManager[object]]

_observer: Observer = lambda kind: nullcontext()  # noqa: E731
_unobserved: ContextVar[bool] = ContextVar("unobserved", default=False)

# Folders that were asked for, while whoever makes the shipped results anew wants to know; then none is taken.
_asked: ContextVar[list[Path] | None] = ContextVar("asked", default=None)
# Whether what is not there may be built; else whoever asks for it hears that it is not there.
_builds: ContextVar[bool] = ContextVar("builds", default=True)
_COMPLETE = ".complete"
# Folders whose files were found to be what was built, and how they looked then.
_checked: dict[Path, tuple[object, ...]] = {}


class NotMadeError(Exception):
    """A result is neither in the cache nor shipped, and nothing is to be built."""


@contextmanager
def building_nothing() -> Iterator[None]:
    """Raise NotMadeError instead of building anything."""
    token = _builds.set(False)
    try:
        yield
    finally:
        _builds.reset(token)


def observe_builds(observer: Observer) -> None:
    """Let `observer`, given the kind of result, make the context in which anything is built from now on."""
    global _observer
    _observer = observer


def build_meanwhile(*builds: Callable[[], object]) -> None:
    """Run builds, one after the other, in a thread of their own, for whoever will need them.

    Nothing is said of them. Whoever needs a result that is being made waits for it, and one that could not be
    made is tried again there, with its error. If the main thread ends, no further one is begun.
    """

    def work() -> None:
        _unobserved.set(True)
        for build in builds:
            if threading.main_thread().is_alive():
                with suppress(Exception):
                    build()

    threading.Thread(target=work, name="builds").start()


def build_together(builds: Iterable[Callable[[], Path]], jobs: int = 2) -> list[Path]:
    """Return the results of builds, which run side by side; nothing is said of each."""

    def quietly(build: Callable[[], Path]) -> Path:
        _unobserved.set(True)
        return build()

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(quietly, builds))


def cache_root() -> Path:
    """Return the cache folder: `$RESIL_CACHE`, else `resil` in the user's cache folder of this platform."""
    chosen = os.environ.get("RESIL_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    return user_cache_path("resil", appauthor=False)


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
    """Return the folder that `build` fills, from the cache if it is there, or from what the package ships.

    Several processes may ask for the same folder: one builds, the others wait. `build` gets a folder
    that is empty and already has its final path; it is marked complete only when `build` returns, and is
    emptied if `build` raises or if an earlier build was killed. The mark holds the digest of every file: a
    folder in which one was changed or lost is made again.

    Args:
        kind: Name of the sort of result, the first folder level.
        key: From `content_key`.
        build: Fills the folder that it is given.

    Raises:
        HarnessError: If nothing can be written there, or if no simulator can be built in a path like it.
        NotMadeError: If it would have to be built inside `building_nothing`.
    """
    folder = cache_root() / kind / key
    asked = _asked.get()
    if asked is not None:
        asked.append(folder)
    _check_owner(cache_root())
    if _is_complete(folder):
        return folder
    if not _builds.get() and (asked is not None or shipped_content(kind, key) is None):
        raise NotMadeError(f"{kind}/{key}")
    _check_path(cache_root())
    observer = nullcontext() if _unobserved.get() else _observer(kind)
    with observer, _writable(cache_root()), _locked(folder):
        if not _is_complete(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            shipped = shipped_content(kind, key) if asked is None else None
            try:
                if shipped is not None:
                    (folder / FILES[kind]).write_bytes(shipped)
                else:
                    build(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            seal(folder, shipped=shipped is not None)
    return folder


def seal(folder: Path, *, shipped: bool = False) -> None:
    """Mark a folder of the cache complete, with the digest of each of its files.

    Args:
        folder: It holds all that was built.
        shipped: Its content comes from the package.
    """
    mark = {"shipped": shipped, "files": {name: file_digest(folder / name) for name in _files(folder)}}
    write_atomically(folder / _COMPLETE, json.dumps(mark).encode())


def is_cached(kind: str, key: str) -> bool:
    """Say whether `cached_folder` would build nothing, what the package ships aside."""
    return _is_complete(cache_root() / kind / key)


@contextmanager
def without_shipped() -> Iterator[list[Path]]:
    """Take nothing that the package ships, nor what the cache has from there, but build it.

    Yields a list that gets the folders that are asked for, in their order.
    """
    asked: list[Path] = []
    token = _asked.set(asked)
    try:
        yield asked
    finally:
        _asked.reset(token)


def _is_complete(folder: Path) -> bool:
    try:
        mark = json.loads((folder / _COMPLETE).read_bytes())
        files: dict[str, str] = mark["files"]
        shipped: bool = mark["shipped"]
        return (_asked.get() is None or not shipped) and _is_intact(folder, files)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _is_intact(folder: Path, files: Mapping[str, str]) -> bool:
    """Say whether the files are those that were built; they are read again only if they look different."""
    states = [(folder / name).stat() for name in files]
    looks = tuple((name, s.st_ino, s.st_size, s.st_mtime_ns) for name, s in zip(files, states, strict=True))
    if _checked.get(folder) != looks:
        if any(file_digest(folder / name) != digest for name, digest in files.items()):
            return False
        _checked[folder] = looks
    return True


def _files(folder: Path) -> list[str]:
    names = (str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    return sorted(name for name in names if name != _COMPLETE)


def file_digest(file: Path) -> str:
    """Return the SHA-256 of what a file holds; OSError if it cannot be read."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _check_path(root: Path) -> None:
    if found := _APART.search(str(root)):
        raise HarnessError(
            f"the cache folder {str(root)!r}: expected a path that make and compilers take as it is, found "
            f"{found[0]!r} in it; set RESIL_CACHE to a folder without such characters",
            "RESIL_CACHE",
        )


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that no reader ever sees a part of it."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


@contextmanager
def _writable(root: Path) -> Iterator[None]:
    """Say what to do where the cache itself cannot be written."""
    try:
        yield
    except OSError as error:
        found = Path(error.filename or "")
        if error.errno not in _NOT_WRITABLE or not (root in (found, *found.parents) or found in root.parents):
            raise
        raise HarnessError(
            f"the cache folder {root}: expected one that can be written, found {found} ({error.strerror}); "
            "set RESIL_CACHE to another folder",
            "RESIL_CACHE",
        ) from error


def _make_root(root: Path) -> None:
    """Make the cache folder, for this user alone."""
    if not root.exists():
        root.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            root.mkdir(mode=0o700)


def _check_owner(root: Path) -> None:
    """Refuse a cache folder that others can write to: libraries out of it are loaded into this process."""
    try:
        state = root.stat()
    except OSError:
        return
    foreign = os.geteuid() and state.st_uid not in (os.geteuid(), 0)
    if state.st_mode & stat.S_IWOTH or foreign:
        found = "one that everybody can write to" if state.st_mode & stat.S_IWOTH else "one of another user"
        raise HarnessError(
            f"the cache folder {root}: expected a folder of this user, found {found}, and programs out of it "
            "are run; correct its owner and mode (chmod 700), or set RESIL_CACHE to another folder",
            "RESIL_CACHE",
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; processes that are forked meanwhile do not keep it."""
    _make_root(cache_root())
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
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
