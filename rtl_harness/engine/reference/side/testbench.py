# SPDX-License-Identifier: Apache-2.0
"""Injects while a cocotb test of the user's runs, unchanged, under cocotb's own regression manager.

This module is imported before the test's. It lets the manager start a task beside the test, which counts
edges of the clock, and takes what the manager says of the test. The process is forked where `server` forks
it: each golden run, each sweep and each injection is a copy, so that an injection starts from exactly the
state that simulator, test and its Python objects have at the fault's cycle. A test that has threads cannot be
copied: then the engine makes a process for each fault.

Cycle 0 is the first rising edge of the clock after time 0. Bits are inverted one step of the simulator's
precision after an edge, when everything has settled, and alarms are looked at there too.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import traceback
from collections.abc import Iterable, Iterator
from typing import Any

import cocotb
from cocotb import regression
from cocotb.triggers import ReadOnly, RisingEdge, SimTimeoutError, Timer

from resil.rtl_harness.engine.reference.side import CONFIG_VARIABLE, SOCKET_VARIABLE
from resil.rtl_harness.engine.reference.side.bench import BenchHandles, Handle, NotAppliedError
from resil.rtl_harness.engine.reference.side.requests import ANSWERED, Requests, flipped_words
from resil.rtl_harness.engine.reference.side.timeline import now

PASSED, FAILED, TIMED_OUT, BROKEN = "passed", "failed", "timed out", "broken"
_WALKING, _RUNNING, _OVER = "walking", "running", "over"
_LAST_LINES = 12


class Testbench:
    """A test under way, its clock, and what is injected into it.

    Args:
        dut: Handle of the top.
        config: What `CocotbTestEngine` wrote for the simulator.
        connection: To the engine.
    """

    def __init__(self, dut: Handle, config: dict[str, Any], connection: socket.socket) -> None:
        self.bench = BenchHandles(dut, config)
        self.clock = dut[config["clock"]]
        self.failures = frozenset(config["failures"])
        self.requests = Requests(connection)
        self.mode = _WALKING
        self.stays = False
        self.request: dict[str, Any] = {}
        self.cycles = 0
        self.rises: dict[str, int] = {}

    def begin(self) -> None:
        """Answer requests until this process is the copy that one of them asks for; at time 0."""
        self.requests.answer({"problems": self.bench.problems})
        while request := self.requests.next():
            match request["do"]:
                case "golden" | "sweep" if not self.requests.fork_and_wait():
                    self.request = request
                    if request["do"] == "golden":
                        self._limited(request)
                    else:
                        self.requests.answer({"ready": True})
                        self._take_next()
                    return
                case "replay":
                    self.request, self.stays = request, True
                    self._limited(request)
                    return
        os._exit(0)

    def _limited(self, request: dict[str, Any]) -> None:
        """Let this process be ended where a run neither ends nor lets simulated time pass."""
        self.mode = _RUNNING
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])

    def _take_next(self) -> None:
        self.request = self.requests.next()
        if not self.request or self.request["do"] != "inject":
            self.requests.answer({"ready": False})
            os._exit(ANSWERED)

    async def watch(self) -> None:
        """Go from edge to edge: invert bits where it is time, look at alarms, and end what takes too long."""
        try:
            edge = RisingEdge(self.clock)
            while True:
                await edge
                if now() == 0:
                    continue
                await Timer(1, unit="step")
                await self._cycle(self.cycles)
                self.cycles += 1
                if self.mode == _RUNNING and self.cycles >= self.request["limit"]:
                    self._end(TIMED_OUT, f"{self.cycles:,} cycles of the clock")
                if self.mode == _OVER:
                    return
        except Exception as error:
            self._leave({"error": f"{type(error).__name__}: {error}"})

    async def _cycle(self, cycle: int) -> None:
        while self.mode == _WALKING and self.request["cycle"] == cycle:
            if threading.active_count() > 1:
                self._leave({"threads": threading.active_count()})
            if not self.requests.fork_and_wait():
                self._limited(self.request)
                break
            self._take_next()
        if self.mode == _RUNNING and self.request.get("cycle") == cycle:
            words = flipped_words(self.bench, self.request["bits"])
            before = [cell.invert(word, mask) for cell, word, mask in words]
            await ReadOnly()
            try:
                for (cell, word, mask), old in zip(words, before, strict=True):
                    cell.check_inverted(word, mask, old)
            except NotAppliedError as error:
                self._leave({"error": str(error)})
        if self.mode == _RUNNING and len(self.rises) < len(self.bench.alarms):
            for name in self.bench.alarms_up():
                self.rises.setdefault(name, cycle)

    def scored(self, passed: bool, error: BaseException | None, said: str) -> None:
        """Take what the regression manager says of the test."""
        if self.mode == _OVER:
            return
        if self.mode == _WALKING:
            self._leave({"error": f"the test ended in cycle {self.cycles:,}, before the fault's"})
        verdict = PASSED if passed else judged(error, self.failures)
        self._end(verdict, said if error is None else _described(error))

    def _end(self, verdict: str, said: str) -> None:
        self._leave(
            {
                "verdict": verdict,
                "said": said,
                "end_cycle": self.cycles,
                "status": self.bench.value("status"),
                "alarms": self.rises,
                "state_hash": self.bench.state_hash(),
            }
        )

    def _leave(self, message: dict[str, Any]) -> None:
        """Give the answer; a copy of the process ends with it, another one closes its waveform."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.requests.answer(message)
        if not self.stays:
            os._exit(ANSWERED)
        self.mode = _OVER
        cocotb.simulator.stop_simulator()


def judged(error: BaseException | None, failures: frozenset[str]) -> str:
    """Return what an exception says of the design: failed, timed out, or nothing, as the test is broken.

    Of several that came at once the worst for the design counts. None is an error that did not come, though
    the test expects one.
    """
    if error is None:
        return FAILED
    found = [*_leaves(error)]
    if any(_is_failure(own, failures) for own in found):
        return FAILED
    return TIMED_OUT if any(isinstance(own, SimTimeoutError) for own in found) else BROKEN


def _is_failure(error: BaseException, failures: frozenset[str]) -> bool:
    names = {own.__name__ for own in type(error).__mro__}
    return isinstance(error, regression._TestFailures) or bool(names & failures)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for own in error.exceptions:
            yield from _leaves(own)
    else:
        yield error


def _described(error: BaseException) -> str:
    lines: Iterable[str] = "".join(traceback.format_exception(error)).splitlines()
    kind = " and ".join(dict.fromkeys(type(own).__name__ for own in _leaves(error)))
    return "\n".join([f"{kind}: {error}", *[*lines][-_LAST_LINES:]])


_under_way: list[Testbench] = []


def _hooked(manager: Any) -> None:  # noqa: ANN401
    """Let cocotb's regression manager start the watch beside a test, and say what it makes of the test."""
    first = manager._init_test

    def init_test(self: Any) -> Any:  # noqa: ANN401
        own = self._test.func

        async def beside(dut: Handle, *args: object, **kwargs: object) -> None:
            with open(os.environ[CONFIG_VARIABLE], encoding="utf-8") as file:
                config = json.load(file)
            found = Testbench(dut, config, socket.socket(fileno=int(os.environ[SOCKET_VARIABLE])))
            _under_way.append(found)
            found.begin()
            cocotb.start_soon(found.watch())
            await own(dut, *args, **kwargs)

        self._test.func = beside
        return first(self)

    def passed(_self: object, **_given: object) -> None:
        _under_way[0].scored(True, None, "")

    def failed(
        _self: object, *, result: BaseException | None = None, msg: str | None = None, **_given: object
    ) -> None:
        _under_way[0].scored(False, result, msg or "")

    def skipped(_self: object, *, msg: str | None = None, **_given: object) -> None:
        said = f"the test was skipped: {msg or 'as it is declared'}"
        if not _under_way:
            raise SystemExit(said)
        _under_way[0].scored(False, RuntimeError(said), said)

    manager._init_test = init_test
    manager._record_test_passed = passed
    manager._record_test_xfail = passed
    manager._record_test_failed = failed
    manager._record_test_skipped = skipped


if CONFIG_VARIABLE in os.environ:
    _hooked(regression.RegressionManager)
