# SPDX-License-Identifier: Apache-2.0
"""Requests of the engine, and the copies of this process that answer them."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
from typing import Any

from resil.rtl_harness.engine.reference.side.bench import BenchHandles, StoredWords
from resil.rtl_harness.host import end_with

# Exit code of a copy that has answered.
ANSWERED = 17


class Requests:
    """The engine's requests, a line of JSON each.

    Args:
        connection: To the engine.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = connection.makefile("r", encoding="utf-8")

    def next(self) -> dict[str, Any]:
        """Return the next request; empty when the engine has closed the connection."""
        line = self._reader.readline()
        return json.loads(line) if line else {}

    def answer(self, message: dict[str, Any]) -> None:
        """Send one answer to the engine."""
        self._connection.sendall(json.dumps(message).encode() + b"\n")

    def fork_and_wait(self) -> bool:
        """Fork; return False in the child, True in the parent once the child has ended."""
        parent, drawn = os.getpid(), random.getstate()
        child = os.fork()
        if child == 0:
            end_with(parent)
            # Python seeds its generator anew in a child; a copy goes on as the original would.
            random.setstate(drawn)
            return False
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != ANSWERED:
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            self.answer({"crash": f"the simulator ended with {how} before it could answer"})
        return True


def flipped_words(bench: BenchHandles, places: list[list[int]]) -> list[tuple[StoredWords, int, int]]:
    """Return cell, word and mask of each word of the simulator that has some of these bits."""
    masks: dict[int, tuple[StoredWords, int, int]] = {}
    for element, word, bit in places:
        cell = bench.cells[element]
        handle = id(cell.words[word])
        masks[handle] = (cell, word, masks.get(handle, (cell, word, 0))[2] | cell.mask(bit))
    return list(masks.values())
