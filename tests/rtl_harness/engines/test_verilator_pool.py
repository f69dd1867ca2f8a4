import os
import signal
import time

import pytest

from rtl_harness.engines.verilator_pool import CHUNK, Job, Outcome, run_jobs
from rtl_harness.errors import SimulationError
from rtl_harness.faults import Detected, Fault, Injection, Seen
from rtl_harness.verilated.campaign import Shortcut

JOBS = [Job(Fault(site, site), Shortcut.ALL) for site in range(10 * CHUNK)]


def work(job):
    injection = Injection(job.fault, Seen.MASKED, Detected.NOTHING, os.getpid(), 0, "")
    return Outcome(injection, True, job.fault.cycle)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_each_job_is_done_once(workers):
    done = list(run_jobs(JOBS, work, workers))
    assert sorted(d.injection.fault for d in done) == [job.fault for job in JOBS]
    pids = {d.injection.end_cycle for d in done}
    assert pids == {os.getpid()} if workers == 1 else os.getpid() not in pids


def test_an_error_of_a_worker_is_raised_here():
    def fail(job):
        if job.fault.site == 5 * CHUNK:
            raise SimulationError("site 160 is broken")
        return work(job)

    with pytest.raises(SimulationError, match="site 160 is broken"):
        list(run_jobs(JOBS, fail, 2))


def test_a_worker_that_dies_is_reported_with_its_faults():
    def die(job):
        if job.fault.site == 3 * CHUNK + 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(job)

    with pytest.raises(SimulationError, match=r"exit code -9 .*faults from Fault\(site=96"):
        list(run_jobs(JOBS, die, 2))


def test_closing_the_iterator_ends_the_workers():
    def slow(job):
        time.sleep(0.001)
        return work(job)

    iterator = run_jobs(JOBS, slow, 2)
    pid = next(iterator).injection.end_cycle
    iterator.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
