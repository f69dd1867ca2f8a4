# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st

from resil.rtl_harness.engine.state_hash import pack_words, state_hash
from resil.rtl_harness.faults import digest


def test_byte_format():
    assert pack_words([0x1FF, 1], 9) == b"\xff\x01\x01\x00"
    assert pack_words([1], 1) == b"\x01"
    assert pack_words([1 << 99], 100) == bytes(12) + b"\x08"


def test_elements_in_order_then_memories_by_name():
    assert state_hash([b"ab", b"c"], {"y": b"2", "x": b"1"}) == digest(b"abc12")


@given(st.lists(st.integers(0, 2**72 - 1), min_size=1), st.data())
def test_every_bit_counts(words, data):
    index = data.draw(st.integers(0, len(words) - 1))
    bit = data.draw(st.integers(0, 71))
    changed = [w ^ (1 << bit if i == index else 0) for i, w in enumerate(words)]
    assert state_hash([pack_words(words, 72)], {}) != state_hash([pack_words(changed, 72)], {})
