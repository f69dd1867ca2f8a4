# SPDX-License-Identifier: Apache-2.0
"""How far calls are that answer at the end: in this process, in copies of it, and once they have answered."""

import multiprocessing

from resil.rtl_harness.logic.calls_under_way import CallsUnderWay


def test_calls_count_by_their_faults_and_cycles_until_they_answer():
    calls = CallsUnderWay([100, 10], 1000)
    assert calls.total() == 0.0
    calls.reached(0, 250)
    calls.reached(1, 5000)  # hangs go on after the end
    assert calls.total() == 25.0 + 10.0
    calls.answered(1)
    assert calls.total() == 25.0


def test_a_copy_of_the_process_says_how_far_it_is():
    calls = CallsUnderWay([100], 1000)
    process = multiprocessing.get_context("fork").Process(target=calls.reached, args=(0, 500))
    process.start()
    process.join()
    assert calls.total() == 50.0
