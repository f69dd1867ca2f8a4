# SPDX-License-Identifier: Apache-2.0
"""Serves the page of a run that is under way: to this machine alone, to be read and nothing else."""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from resil.errors import ResilError
from resil.record.errors import ReportError
from resil.record.interim import ENDS, Interim
from resil.reports import REPORT, live_html
from resil.reports.live_page import REFRESH_SECONDS
from resil.version import __version__
from resil.watch.interim import Watch

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def require_loopback(address: str) -> str:
    """Return an address of this machine alone.

    Raises:
        ResilError: it is one that others can reach, or none.
    """
    try:
        found = ipaddress.ip_address("127.0.0.1" if address == "localhost" else address)
    except ValueError:
        found = None
    if found is None or not found.is_loopback:
        raise ResilError(
            f"--address: expected a loopback address such as 127.0.0.1, found {address}: results are "
            "shown to this machine alone; from another one forward the port: "
            "ssh -L PORT:127.0.0.1:PORT HOST",
            "--address",
        )
    return str(found)


class RunServer(ThreadingHTTPServer):
    """A server of one run folder.

    Args:
        folder: The run folder.
        address: A loopback address.
        port: 0 for any that is free.
        at_work: As `Watch` has it.

    Attributes:
        watch: Looks at the folder.
        shown_end: Set when a page has been given that says how the run ended.

    Raises:
        ResilError: the address is none of loopback, or the port is taken.
    """

    daemon_threads = True

    def __init__(
        self, folder: Path, address: str = "127.0.0.1", port: int = 0, *, at_work: bool = False
    ) -> None:
        self.folder = folder
        self.watch = Watch(folder, at_work)
        self.shown_end = threading.Event()
        try:
            super().__init__((require_loopback(address), port), _Handler)
        except OSError as error:
            raise ResilError(
                f"--port {port}: cannot be listened on ({error.strerror}); give another, or 0 for any "
                "that is free",
                "--port",
            ) from None

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    """Answers GET of the page, of its state as JSON, and of the report; nothing else."""

    server: RunServer
    server_version = f"resil/{__version__}"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a request."""
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        # A page of another origin that has its name resolved to this machine (DNS rebinding) is refused.
        if host not in ("127.0.0.1", "localhost", "[::1]"):
            self._say(HTTPStatus.FORBIDDEN, "text/plain", "ask by 127.0.0.1 or localhost\n")
            return
        answers: dict[str, Callable[[], tuple[str, str, bool]]] = {
            "/": self._page,
            "/still": lambda: self._page(still=True),
            "/state.json": self._state,
            f"/{REPORT}": self._report,
        }
        answer = answers.get(self.path)
        if answer is None:
            self._say(HTTPStatus.NOT_FOUND, "text/plain", "there is nothing of this name\n")
            return
        try:
            self._say(HTTPStatus.OK, *answer())
        except (ResilError, ReportError, OSError) as error:
            self._say(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", f"{error}\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: stderr is the command's."""

    def _look(self) -> Interim:
        return self.server.watch.look()

    def _page(self, *, still: bool = False) -> tuple[str, str, bool]:
        found = self._look()
        if found.state in ENDS:
            self.server.shown_end.set()
        return "text/html", live_html(found, __version__, still=still), found.state not in ENDS and not still

    def _state(self) -> tuple[str, str, bool]:
        return "application/json", self._look().model_dump_json(indent=1) + "\n", False

    def _report(self) -> tuple[str, str, bool]:
        return "text/html", (self.server.folder / REPORT).read_text(encoding="utf-8"), False

    def _say(self, status: HTTPStatus, kind: str, text: str, again: bool = False) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if again:
            self.send_header("Refresh", str(REFRESH_SECONDS))
        self.end_headers()
        self.wfile.write(data)
