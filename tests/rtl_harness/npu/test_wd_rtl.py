# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration.yosys import run_yosys
from resil.rtl_harness.npu.model.weight_stream import decode
from resil.rtl_harness.tools import verilate
from testkit.npu.wd.extreme import extreme_stream, stream_ending_in_an_open_run
from testkit.npu.wd.simulation import SOURCES, Job, Result, build, run
from testkit.npu.wd.streams import damaged, encode, invented, weight_arrays

CONFIGURATIONS = [(32, 4), (64, 8)]  # weights per vector, and per cycle at most
SUSTAINED = {4: 2.0, 8: 3.5}  # weights per cycle at least


@pytest.fixture(scope="module", params=CONFIGURATIONS, ids=lambda c: f"{c[0]}x{c[1]}")
def decoder(request, tmp_path_factory):
    """Runs jobs through the RTL: (run, weights per vector, rate)."""
    vec_weights, rate = request.param
    simulator = build(vec_weights, rate)

    def run_jobs(jobs: list[Job]) -> list[Result]:
        return run(simulator, jobs, tmp_path_factory.mktemp("wd"), vec_weights)

    return run_jobs, vec_weights, rate


def assert_equals_model(job: Job, result: Result, vec_weights: int) -> None:
    assert result.vectors == job.vectors
    assert result.faults == 0
    weights, error = decode(job.stream, job.vectors * vec_weights)
    np.testing.assert_array_equal(result.weights, weights)
    assert (result.error_at > 0) == error
    if error:
        assert decode(job.stream, result.error_at * vec_weights)[1]
        assert not decode(job.stream, (result.error_at - 1) * vec_weights)[1]
        assert result.beats == len(job.stream) // 8, "beats after the end must not block"


def random_stalls(random: np.random.Generator) -> tuple[int, int]:
    return int(random.choice([0, 20, 60, 95])), int(random.choice([0, 20, 60, 95]))


@pytest.mark.parametrize("stalled", [False, True])
def test_valid_streams(decoder, stalled):
    run_jobs, vec_weights, _ = decoder
    random = np.random.default_rng(stalled)
    jobs = [
        Job(encode(weights), len(weights) // vec_weights, seed, random_stalls(random) if stalled else (0, 0))
        for seed in range(12)
        for _, weights in weight_arrays(100 + seed, 2000)
    ]
    for job, result in zip(jobs, run_jobs(jobs), strict=True):
        assert_equals_model(job, result, vec_weights)
        assert result.error_at == 0


def test_vectors_after_the_end_are_zero_and_an_error(decoder):
    run_jobs, vec_weights, _ = decoder
    jobs = [
        Job(encode(weights), len(weights) // vec_weights + 1 + extra, extra)
        for extra in range(4)
        for _, weights in weight_arrays(200 + extra, 600)
    ]
    for job, result in zip(jobs, run_jobs(jobs), strict=True):
        assert_equals_model(job, result, vec_weights)
        assert result.error_at > 0


def test_any_bytes_with_stalls_restarts_and_stops(decoder):
    run_jobs, vec_weights, _ = decoder
    random = np.random.default_rng(vec_weights)
    jobs = []
    for seed in range(60):
        for _, weights in weight_arrays(300 + seed, 1500):
            valid = encode(weights)
            stream = [valid, damaged(valid, random), damaged(valid, random), invented(random, 600)][seed % 4]
            vectors = int(random.integers(0, len(weights) // vec_weights + 5))
            jobs.append(
                Job(stream, vectors, len(jobs), random_stalls(random), stop=bool(random.random() < 0.2))
            )
    results = run_jobs(jobs)
    for job, result in zip(jobs, results, strict=True):
        assert_equals_model(job, result, vec_weights)
    errors = sum(result.error_at > 0 for result in results)
    assert 0.1 < errors / len(jobs) < 0.9, "both kinds of end must be exercised"


def test_codes_that_strain_the_queues(decoder):
    run_jobs, vec_weights, _ = decoder
    random = np.random.default_rng(vec_weights)
    jobs = [
        Job(extreme_stream(random, int(random.integers(1, 4))), 40, seed, random_stalls(random))
        for seed in range(400)
    ]
    for job, result in zip(jobs, run_jobs(jobs), strict=True):
        assert_equals_model(job, result, vec_weights)


def test_an_open_run_at_the_end_of_the_bytes(decoder):
    run_jobs, vec_weights, _ = decoder
    stream, held = stream_ending_in_an_open_run()
    job = Job(stream, held // vec_weights + 1)
    (result,) = run_jobs([job])
    assert_equals_model(job, result, vec_weights)
    assert result.error_at == held // vec_weights + 1


def test_a_zero_run_of_any_length(decoder):
    run_jobs, vec_weights, _ = decoder
    weights = np.zeros(64 * 1500, np.int16)
    weights[[0, 50_000, -1]] = 1, -2, 3
    job = Job(encode(weights), len(weights) // vec_weights + 1)
    (result,) = run_jobs([job])
    assert_equals_model(job, result, vec_weights)
    assert result.cycles < len(weights) / 16


@pytest.mark.parametrize(("share_of_zeros", "scale"), [(0.0, 45), (0.0, 20), (0.3, 30), (0.85, 20)], ids=str)
def test_throughput_and_latency_on_weights_like_those_of_networks(decoder, share_of_zeros, scale):
    """int8 weights per channel, symmetric: their largest is near 127; zeros from padding or pruning."""
    run_jobs, vec_weights, rate = decoder
    random = np.random.default_rng(7)
    weights = np.clip(np.round(random.normal(0, scale, 32_768)), -127, 127)
    weights[random.random(len(weights)) < share_of_zeros] = 0
    (result,) = run_jobs([Job(encode(weights), len(weights) // vec_weights)])
    assert result.latency < 30
    assert len(weights) / result.cycles >= SUSTAINED[rate]


def test_lint_is_clean(tmp_path):
    for vec_weights, rate in CONFIGURATIONS:
        verilate(
            [
                *("--lint-only", "-Wall", "--top-module", "wd"),
                *(f"-GVecWeights={vec_weights}", f"-GRate={rate}"),
                *map(str, SOURCES),
            ],
            tmp_path,
        )


def test_netlist_has_no_latch_and_few_flip_flops(tmp_path):
    script = [
        f"read_slang --top wd {' '.join(map(str, SOURCES))}",
        *("proc", "check -assert", "select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr"),
        *("opt -full", "simplemap", "tee -q -o stat.json stat -json"),
    ]
    log = run_yosys(script, tmp_path, "elaboration of the weight decoder")
    assert "0 errors, 0 warnings" in log
    cells = json.loads((tmp_path / "stat.json").read_text())["design"]["num_cells_by_type"]
    flip_flops = sum(number for kind, number in cells.items() if "DFF" in kind)
    assert 1500 < flip_flops <= 1800
