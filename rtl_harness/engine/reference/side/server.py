# SPDX-License-Identifier: Apache-2.0
"""The cocotb test that answers requests of `CocotbEngine`.

The simulator comes out of reset once. Then it is forked: each golden run, each sweep and each injection is
a copy of the process. A sweep walks through the fault-free run; at a fault's cycle it forks the injection,
which runs to its end, answers and exits. So an injection starts from exactly the state that a run from reset
has at that cycle, whatever ran before it. For a replay nothing is forked: one process runs from reset to end.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
from collections.abc import Awaitable
from typing import Any

import cocotb

from resil.rtl_harness.engine.reference.side import CONFIG_VARIABLE, SOCKET_VARIABLE
from resil.rtl_harness.engine.reference.side.bench import (
    BenchHandles,
    Handle,
    NotAppliedError,
    StoredWords,
)
from resil.rtl_harness.engine.reference.side.requests import ANSWERED, Requests, flipped_words
from resil.rtl_harness.engine.reference.side.timeline import CHECK, FLIP, ClockTimeline, OperationWatchdog


@cocotb.test()  # type: ignore[untyped-decorator]
async def serve(dut: Handle) -> None:
    """Answer requests until the engine closes the connection."""
    with open(os.environ[CONFIG_VARIABLE], encoding="utf-8") as file:
        config = json.load(file)
    server = _Server(dut, config, socket.socket(fileno=int(os.environ[SOCKET_VARIABLE])))
    await server.serve()


class _Server:
    def __init__(self, dut: Handle, config: dict[str, Any], connection: socket.socket) -> None:
        self.bench = BenchHandles(dut, config)
        self.timeline = ClockTimeline(self.bench, *config["timing"])
        self.outputs: list[tuple[str, int, int]] = [tuple(output) for output in config["outputs"]]
        self.inferences: int = config["inferences"]
        self.requests = Requests(connection)

    async def serve(self) -> None:
        if not self.bench.problems:
            await self.timeline.reset()
        # The engine reads what the simulator has said of files that are not there when this answer has come:
        # after the initial blocks, and out of the buffer.
        ctypes.CDLL(None).fflush(None)
        self.requests.answer({"problems": self.bench.problems})
        if self.bench.problems:
            return
        while request := self.requests.next():
            match request["do"]:
                case "golden":
                    if not self.requests.fork_and_wait():
                        await self._last_words(self._golden(request["limit"]))
                case "sweep":
                    if not self.requests.fork_and_wait():
                        await self._last_words(self._sweep())
                case "replay":
                    self.requests.answer(await self._inject(request))

    async def _last_words(self, work: Awaitable[None]) -> None:
        """Await `work` in a forked child and leave the process, whatever happens."""
        code = 1
        try:
            await work
            code = ANSWERED
        except Exception as error:
            self.requests.answer({"error": f"{type(error).__name__}: {error}"})
            code = ANSWERED
        finally:
            os._exit(code)

    async def _golden(self, limit: int) -> None:
        moves: list[tuple[int, int]] = []
        if "operation" in self.bench.ports:
            cocotb.start_soon(self.timeline.watch_operations(moves))
        end = await self._finish(limit, limit)
        # Of a move in the last cycle this may be reported first.
        if moves and (value := self.bench.value("operation")) != moves[-1][1]:
            moves.append((end["end_cycle"], value))
        self.requests.answer({**end, "moves": moves or [(0, 0)], "state": self.bench.state().hex()})

    async def _sweep(self) -> None:
        self.requests.answer({"ready": True})
        while (request := self.requests.next()) and request["do"] == "inject":
            if "held" not in request:
                await self.timeline.until(self.timeline.edge(request["cycle"]) + FLIP)
            if not self.requests.fork_and_wait():
                await self._last_words(self._answer_injection(request))
        self.requests.answer({"ready": False})

    async def _answer_injection(self, request: dict[str, Any]) -> None:
        self.requests.answer(await self._inject(request))

    async def _inject(self, request: dict[str, Any]) -> dict[str, Any]:
        words = flipped_words(self.bench, request["bits"])
        if "held" in request:
            return await self._hold(request, words)
        edge = self.timeline.edge(request["cycle"])
        await self.timeline.until(edge + FLIP)
        before = [cell.invert(word, mask) for cell, word, mask in words]
        await self.timeline.until(edge + CHECK)
        try:
            for (cell, word, mask), old in zip(words, before, strict=True):
                cell.check_inverted(word, mask, old)
        except NotAppliedError as error:
            return {"error": str(error)}
        return await self._finish(request["limit"], request.get("rest", 0), _watchdog(request))

    async def _hold(
        self, request: dict[str, Any], words: list[tuple[StoredWords, int, int]]
    ) -> dict[str, Any]:
        def hold(value: int) -> None:
            for cell, word, mask in words:
                cell.hold(word, mask, value)

        def check() -> None:
            for cell, word, mask in words:
                cell.check_held(word, mask, request["held"])

        try:
            run = await self.timeline.finish_held(
                request["limit"], lambda: hold(request["held"]), check, _watchdog(request)
            )
        except NotAppliedError as error:
            return {"error": str(error)}
        end = self._end(*run)
        # Bits beside the first are no hardware, and not in the digest.
        hold(request["final"])
        return end | {"state_hash": self.bench.state_hash()}

    async def _finish(
        self, limit: int, rest: int, watchdog: OperationWatchdog | None = None
    ) -> dict[str, Any]:
        """Run to the end; the second of two inferences has `rest` cycles of its own to the time-out."""
        if self.inferences == 1:
            return self._end(*await self.timeline.finish(limit, watchdog=watchdog))
        finished, cycles, rises = await self.timeline.finish(limit, inferences=1, watchdog=watchdog)
        first = self._end(finished, cycles, rises)
        if not finished or self.bench.value("done"):
            return first
        second = await self.timeline.finish(cycles + rest, risen=rises, watchdog=watchdog)
        return {**self._end(*second), "first": first}

    def _end(self, finished: bool, cycles: int, rises: dict[str, int]) -> dict[str, Any]:
        return {
            "finished": finished,
            "end_cycle": cycles,
            "status": self.bench.value("status"),
            "alarms": rises,
            "output": b"".join(self.bench.memory_bytes(*output) for output in self.outputs).hex(),
            "state_hash": self.bench.state_hash(),
        }


def _watchdog(request: dict[str, Any]) -> OperationWatchdog | None:
    """Return the watchdog of a run, as it stands in the cycle before the fault's."""
    return OperationWatchdog(*request["watchdog"]) if "watchdog" in request else None
