# SPDX-License-Identifier: Apache-2.0
"""Whether a worker is of this very package: version and sources, asked before it gets work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from resil.layout import source_digest
from resil.version import __version__


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What a worker says of itself.

    Attributes:
        host: Name of its machine.
        resil: Version of its package; "" if it has none.
        sources: `source_digest` there; "" if it could not be made.
        error: Why not; "" if it could.
    """

    host: str
    resil: str
    sources: str
    error: str


def question() -> Callable[[], tuple[str, str, str, str]]:
    """Return a function for a worker that returns the fields of its `WorkerFacts`.

    It is sent by value and imports what it needs itself: a worker may have another package, or none.
    """

    def answer() -> tuple[str, str, str, str]:
        import socket

        version = sources = error = ""
        try:
            from resil.layout import source_digest
            from resil.version import __version__ as version

            sources = source_digest()
        except Exception as found:
            error = f"{type(found).__name__}: {found}"
        return socket.gethostname(), version, sources, error

    return answer


def unfit(facts: WorkerFacts) -> str | None:
    """Return why a worker that says this of itself must not simulate; None if it may."""
    if facts.resil != __version__:
        found = f"resil {facts.resil}" if facts.resil else f"no resil ({facts.error})"
        return f"expected resil {__version__}, found {found}; install this version there"
    if facts.sources != source_digest():
        found = facts.sources[:12] or facts.error or "none"
        return (
            f"expected resil {__version__} with the sources {source_digest()[:12]}, found {found}; "
            "install the very same package there"
        )
    return None
