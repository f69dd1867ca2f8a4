# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import os
import select
import signal
import time

import pytest

from resil.rtl_harness.engine.fast.processes import EngineOutcome, run_chunks
from resil.rtl_harness.errors import SimulationError
from resil.rtl_harness.faults import Fault, Injection, Seen
from testkit.errors import about

CHUNK = 32
FAULTS = [Fault(site, site) for site in range(10 * CHUNK)]
CHUNKS = [FAULTS[i : i + CHUNK] for i in range(0, len(FAULTS), CHUNK)]


def done(fault):
    return EngineOutcome(Injection(fault, Seen.MASKED, os.getpid(), 0, ""), True, fault.cycle, "")


def work(chunk):
    return map(done, chunk)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_each_job_is_done_once(workers):
    outcomes = list(run_chunks(CHUNKS, work, workers))
    assert sorted(o.injection.fault for o in outcomes) == FAULTS
    pids = {o.injection.end_cycle for o in outcomes}
    assert pids == {os.getpid()} if workers == 1 else os.getpid() not in pids


def test_an_error_of_a_worker_is_raised_here():
    def fail(chunk):
        for fault in chunk:
            if fault.site == 5 * CHUNK:
                raise SimulationError("site 160 is broken")
            yield done(fault)

    with pytest.raises(SimulationError, match="site 160 is broken"):
        list(run_chunks(CHUNKS, fail, 2))


def test_a_worker_that_dies_is_reported_with_its_faults():
    def die(chunk):
        for fault in chunk:
            if fault.site == 3 * CHUNK + 4:
                os.kill(os.getpid(), signal.SIGKILL)
            yield done(fault)

    with pytest.raises(SimulationError, check=about("worker")):
        list(run_chunks(CHUNKS, die, 2))


def test_closing_the_iterator_ends_the_workers():
    def slow(chunk):
        for fault in chunk:
            time.sleep(0.001)
            yield done(fault)

    iterator = run_chunks(CHUNKS, slow, 2)
    pid = next(iterator).injection.end_cycle
    iterator.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda number, frame: None])
def test_workers_that_were_forked_a_moment_ago_are_ended(handler):
    """The fault: workers are asked by SIGTERM to end, and it is lost on those that have not begun."""

    def fail(chunk):
        raise SimulationError("broken")
        yield

    before = signal.signal(signal.SIGTERM, handler)
    try:
        for _ in range(30):
            with pytest.raises(SimulationError, match="broken"):
                list(run_chunks(CHUNKS, fail, 5))
    finally:
        signal.signal(signal.SIGTERM, before)


def test_workers_whose_parent_has_gone_end_by_themselves():
    """The fault: a worker waits for a parent whose end of the pipe it holds open itself."""
    ours, theirs = os.pipe()
    parent = os.fork()
    if parent == 0:
        os.close(ours)

        def work(chunk):
            ctypes.CDLL(None).prctl(1, 0)  # the system does not end it
            for fault in chunk:
                yield done(fault)

        running = run_chunks(CHUNKS, work, 2)
        next(running)
        os._exit(0)
    os.close(theirs)
    os.waitpid(parent, 0)
    assert select.select([ours], [], [], 20)[0]
    assert os.read(ours, 1) == b""  # nobody holds the other end any more
    os.close(ours)


def test_a_worker_does_not_clear_up_what_its_parent_has_left():
    """The fault: garbage of the parent is collected in a worker, and ends there what is the parent's."""

    class Left:
        def __init__(self):
            self.again = self
            self.owner = os.getpid()

        def __del__(self):
            if os.getpid() != self.owner:
                os._exit(77)

    def collecting(chunk):
        gc.collect()
        yield from work(chunk)

    gc.disable()
    try:
        Left()
        assert len(list(run_chunks(CHUNKS, collecting, 2))) == len(FAULTS)
        assert gc.get_freeze_count() == 0
    finally:
        gc.enable()
