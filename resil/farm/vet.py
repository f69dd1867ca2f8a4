# SPDX-License-Identifier: Apache-2.0
"""Whether a worker is of this very package: version and sources, asked before it gets work."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any

from resil.layout import source_files
from resil.version import __version__


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


def question() -> Callable[[], dict[str, Any]]:
    """Return a function for a worker that says what the worker is.

    It is sent by value and imports what it needs itself: a worker may have another package, or none.
    """

    def answer() -> dict[str, Any]:
        import os
        import socket

        facts: dict[str, Any] = {"host": socket.gethostname(), "pid": os.getpid(), "resil": "", "sources": ""}
        try:
            from resil.version import __version__

            facts["resil"] = __version__
            from resil.farm.vet import source_digest

            facts["sources"] = source_digest()
        except Exception as error:
            facts["error"] = f"{type(error).__name__}: {error}"
        return facts

    return answer


def unfit(facts: dict[str, Any]) -> str | None:
    """Return why a worker that says this of itself must not simulate; None if it may."""
    if facts["resil"] != __version__:
        found = f"resil {facts['resil']}" if facts["resil"] else f"no resil ({facts.get('error')})"
        return f"expected resil {__version__}, found {found}; install this version there"
    if facts["sources"] != source_digest():
        found = facts["sources"][:12] or facts.get("error", "none")
        return (
            f"expected resil {__version__} with the sources {source_digest()[:12]}, found {found}; "
            "install the very same package there"
        )
    return None
