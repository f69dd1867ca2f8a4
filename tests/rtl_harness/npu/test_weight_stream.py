# SPDX-License-Identifier: Apache-2.0
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.rtl_harness.npu.model.weight_stream import decode
from testkit.npu.wd.extreme import stream_ending_in_an_open_run
from testkit.npu.wd.streams import (
    by_hand,
    damaged,
    encode,
    golden,
    header,
    invented,
    weight_arrays,
)

END = (0b111, 3)


def available(stream: bytes, at_most: int = 1 << 17) -> int:
    """The number of weights that the stream holds: the largest count without error."""
    low, high = 0, at_most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (low, middle - 1) if decode(stream, middle)[1] else (middle, high)
    return low


@pytest.mark.parametrize("seed", range(12))
def test_valid_streams_decode_as_by_the_codec(seed):
    for name, weights in weight_arrays(seed, 4000):
        stream = encode(weights)
        decoded, error = decode(stream, len(weights))
        assert decoded.dtype == np.int16
        assert not error, name
        np.testing.assert_array_equal(decoded, weights, name)
        np.testing.assert_array_equal(decoded, golden(stream), name)


@given(st.lists(st.integers(-255, 255), min_size=1, max_size=300))
def test_any_weights_come_back(weights):
    decoded, error = decode(encode(np.array(weights)), len(weights))
    assert not error
    assert decoded.tolist() == weights


@pytest.mark.parametrize("seed", range(3))
def test_error_is_that_more_weights_are_wanted_than_the_stream_holds(seed):
    for name, weights in weight_arrays(seed, 500):
        stream = encode(weights)
        assert available(stream) == len(weights), name
        for count in (0, 1, len(weights) // 2):
            decoded, error = decode(stream, count)
            assert not error
            np.testing.assert_array_equal(decoded, weights[:count])
        decoded, error = decode(stream, len(weights) + 9)
        assert error
        np.testing.assert_array_equal(decoded[: len(weights)], weights)
        assert not decoded[len(weights) :].any()


def test_parts_behind_an_end_code_go_on():
    first, second = np.arange(-90, 90), np.array([5, 0, 0, 0, -7] * 30)
    stream = encode(first) + encode(second)
    both = np.concatenate([first, second])
    np.testing.assert_array_equal(golden(stream), both)
    decoded, error = decode(stream, len(both))
    assert not error
    np.testing.assert_array_equal(decoded, both)


@pytest.mark.parametrize("count", [32768, 40000, 250_000])
def test_zero_runs_have_no_bound(count):
    weights = np.zeros(count, np.int16)
    weights[[0, -1]] = 3, -4
    decoded, error = decode(encode(weights), count)
    assert not error
    np.testing.assert_array_equal(decoded, weights)


@pytest.mark.parametrize("seed", range(2))
def test_a_cut_stream_gives_the_weights_before_the_cut(seed):
    for name, weights in weight_arrays(seed, 1000):
        stream = encode(weights)
        held = 0
        for length in range(0, len(stream), 16 * (1 + len(stream) // 160)):
            decoded, error = decode(stream[:length], len(weights))
            now = available(stream[:length], len(weights))
            assert now >= held, name
            held = now
            assert error == (held < len(weights))
            np.testing.assert_array_equal(decoded[:held], weights[:held], name)
            assert not decoded[held:].any()
        assert held > 0 or len(stream) < 160, name


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=400), st.integers(0, 2000), st.integers(0, 2000))
def test_any_bytes_have_one_meaning_whatever_is_wanted(data, count, more):
    long, long_error = decode(data, count + more)
    short, short_error = decode(data, count)
    assert long.shape == (count + more,)
    assert np.abs(long).max(initial=0) <= 255
    np.testing.assert_array_equal(long[:count], short)
    assert long_error or not short_error


@pytest.mark.parametrize("seed", range(3))
def test_damaged_and_invented_streams_end(seed):
    random = np.random.default_rng(seed)
    streams = [damaged(encode(weights), random) for _, weights in weight_arrays(seed, 3000)]
    streams += [invented(random, 1000) for _ in range(60)]
    for stream in streams:
        held = available(stream)
        decoded, error = decode(stream, held + 100)
        assert error
        assert not decoded[held:].any()


INDICES = [(0b1100, 12), (0b01, 2)]  # uncut codes 0 0 2 1, then 0s: indices 0, 0, 3, 0 with divisor 1


def test_slice_by_hand():
    stream = by_hand(*header(6, 4, 0), *INDICES, END)
    decoded, error = decode(stream, 4)
    assert not error
    assert decoded.tolist() == [0, 0, -1, 0]


def test_a_palette_maps_indices_and_lasts_over_an_end_code():
    palette = [(10, 5), (2, 5), (7, 3), (2 * 44, 9), (2 * 55 + 1, 9), (511, 9)]
    part = [*header(6, 4, 0, newpal=1), *palette, *INDICES, END]
    fill = -sum(width for _, width in part) % 8
    stream = by_hand(*part, (0, fill), *header(6, 4, 0), *INDICES, END)
    decoded, error = decode(stream, 8)
    assert not error
    assert decoded.tolist() == [44, 44, 5, 44] * 2  # index 3 is the first beyond: 0 + DIROFS


@pytest.mark.parametrize("zdiv", [4, 5])
def test_reserved_zdiv_ends_the_stream(zdiv):
    first = [*header(6, 4, 0), *INDICES]
    stream = by_hand(*first, *header(zdiv, 4, 0), *INDICES)
    assert available(stream) == 4
    assert available(by_hand(*first, *header(6, 4, 0), *INDICES)) == 8


def test_reserved_wdiv_ends_the_stream():
    assert available(by_hand(*header(6, 4, 0), *INDICES, *header(6, 4, 6), *INDICES)) == 4


@pytest.mark.parametrize(("quotient", "held"), [(31, 2), (32, 0), (40, 0)])
def test_a_quotient_above_31_ends_the_stream(quotient, held):
    """The code of one index fills chunks until it ends; a second index of quotient 0 follows."""
    codes = [2] * (quotient // 2) + [quotient % 2, 0]
    codes += [0] * (-len(codes) % 12)
    fields = []
    for first in range(0, len(codes), 12):
        chunk = codes[first : first + 12]
        fields.append((sum(1 << i for i, code in enumerate(chunk) if code), 12))
        fields += [(code - 1, 1) for code in chunk if code]
    stream = by_hand(*header(6, 2, 0), *fields, END)
    assert available(stream) == held
    if held:
        assert decode(stream, 2)[0].tolist() == [-15, 0]


def test_zeros_of_a_run_left_open_count_once_the_next_chunk_is_read():
    """One index, behind it a run whose code goes on to the end of the bytes."""
    head = [*header(0, 1, 0), (0, 12)]
    stream = by_hand(*head, *[(0xFFF, 12)] * 10)
    chunks = (8 * len(stream) - sum(width for _, width in head)) // 12
    assert available(stream) == 1 + 12 * (chunks - 1)


def test_an_open_run_at_the_end_of_the_bytes():
    stream, held = stream_ending_in_an_open_run()
    assert len(stream) == 16
    assert available(stream) == held


def test_negative_count_is_refused():
    with pytest.raises(ValueError, match="count of weights"):
        decode(b"", -1)


def test_a_large_layer_takes_well_under_a_second():
    random = np.random.default_rng(0)
    weights = np.clip(np.round(random.laplace(0, 20, 100_000)), -127, 127).astype(np.int16)
    stream = encode(weights)
    started = time.process_time()
    decoded, _ = decode(stream, len(weights))
    assert time.process_time() - started < 0.8
    np.testing.assert_array_equal(decoded, weights)
