# SPDX-License-Identifier: Apache-2.0
"""What every summary says of its scope, and of blocks that it says nothing about."""

from __future__ import annotations

import pytest

from resil.bench.site_list import no_bits
from resil.errors import ConsistencyError
from resil.record.blocks import Block
from resil.results.estimates import Estimates
from resil.results.figures import block_fields, stored_bits
from resil.results.summarise import _estimate
from resil.results.summary_parts import scope_text
from testkit.campaigns import TEXT, campaign
from testkit.errors import about


def bits(ff, macro, sram):
    """Storage of a block, by kind, and none outside the NPU."""
    return no_bits() | {"ff": ff, "macro": macro, "sram": sram}


@pytest.mark.parametrize(
    ("kinds", "ff", "sram", "scope"),
    [
        (
            ["ff", "macro", "sram"],
            (15_821, 2048),
            131_072,
            "all storage: 15,821 flip-flops, 2,048 flip-flops in SRAM macros and 131,072 SRAM bits",
        ),
        (
            ["ff"],
            (15_821, 2048),
            131_072,
            "flip-flops only; 2,048 flip-flops in SRAM macros and 131,072 SRAM bits not injected",
        ),
        (["ff"], 15_821, 131_072, "flip-flops only; 131,072 SRAM bits not injected"),
        (["sram"], 15_821, 131_072, "SRAM bits only; 15,821 flip-flops not injected"),
        (["ff", "sram"], 15_821, 131_072, "all storage: 15,821 flip-flops and 131,072 SRAM bits"),
        (["ff"], 785, 0, "all storage: 785 flip-flops"),
        (["sram"], 785, 0, "no storage only; 785 flip-flops not injected"),
    ],
)
def test_the_scope_names_what_is_in_and_what_is_not(kinds, ff, sram, scope):
    flip_flops, macros = ff if isinstance(ff, tuple) else (ff, 0)
    assert scope_text(kinds, bits(flip_flops, macros, sram)) == scope


def test_a_block_that_nothing_is_known_of_has_no_figures():
    row = Block.model_validate(block_fields("sb", stored_bits(bits(0, 0, 64)), None, 1.0, 1.0, "GE"))
    figures = ("avf", "avf_lo", "avf_hi", "fit_raw", "fit", "fit_lo", "fit_hi", "rates", "latent_share")
    assert {getattr(row, name) for name in figures} == {None}
    assert not row.sampled


def test_a_block_that_was_to_be_injected_and_is_in_no_stratum_is_an_error():
    nothing = Estimates([], {}, None, None, None, (), None, (), ())
    assert _estimate(campaign(), nothing, "sb", bits(0, 0, 64)) is None
    with pytest.raises(ConsistencyError, check=about("blocks.sb")):
        _estimate(campaign(), nothing, "sb", bits(4, 0, 64))
    both = campaign(TEXT.replace('["ff"]', '["ff", "sram"]'))
    with pytest.raises(ConsistencyError, check=about("blocks.sb")):
        _estimate(both, nothing, "sb", {"ff": 0, "macro": 0, "sram": 64})
