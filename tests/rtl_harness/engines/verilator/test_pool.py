import os
import signal
import time

import pytest

from rtl_harness.engines.verilator.pool import Outcome, run_chunks
from rtl_harness.errors import SimulationError
from rtl_harness.faults import Fault, Injection, Seen

CHUNK = 32
FAULTS = [Fault(site, site) for site in range(10 * CHUNK)]
CHUNKS = [FAULTS[i : i + CHUNK] for i in range(0, len(FAULTS), CHUNK)]


def done(fault):
    return Outcome(Injection(fault, Seen.MASKED, os.getpid(), 0, ""), True, fault.cycle, "")


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

    with pytest.raises(SimulationError, match=r"exit code -9 .*faults from Fault\(site=96"):
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
