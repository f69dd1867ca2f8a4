# SPDX-License-Identifier: Apache-2.0
"""What the command stream says of the shared buffer: which data, where and when."""

from __future__ import annotations

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.npu.buffer.liveness import buffer_liveness
from resil.rtl_harness.npu.buffer.stays import BANK_ROWS, Role
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.program import Execute, lower
from resil.rtl_harness.npu.work import operation_work

CASES = [("digits", 32), ("mnist_vgg", 64), ("mnist_residual", 128), ("mnist_lenet", 256), ("digits", 256)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def known(request):
    name, size = request.param
    compiled = compile_network(zoo.load(name).path, f"ethos-u55-{size}")
    cycles = [own.walk for own in operation_work(compiled)]
    npu = npu_config(compiled.accelerator)
    steps = lower(compiled.commands, npu, frozenset({0})).steps
    configs = [step.action.config for step in steps if isinstance(step.action, Execute)]
    return buffer_liveness(compiled, cycles, 6.0), npu, configs


def of_role(liveness, operation, *roles):
    return [stay for stay in liveness.stays if stay.operation == operation and stay.role in roles]


def test_every_output_is_accumulated_and_staged_once(known):
    liveness, _, configs = known
    for number, config in enumerate(configs):
        ofm = config.output.ofm
        for role in (Role.ACCUMULATOR, Role.STAGED):
            seen = np.zeros((ofm.height, ofm.width, ofm.depth), int)
            stays = of_role(liveness, number, role)
            for stay in stays:
                seen[tuple(slice(*span) for span in stay.box)] += 1
            elementwise = not hasattr(config, "kernel")
            assert (seen == (0 if elementwise and role is Role.ACCUMULATOR else 1)).all()


def test_every_input_is_fetched_and_reaches_all_outputs_of_its_operation(known):
    liveness, _, configs = known
    for number, config in enumerate(configs):
        ifm, ofm = config.ifm, config.output.ofm
        fetched = np.zeros((ifm.height, ifm.width, ifm.depth), bool)
        reached = np.zeros((ofm.height, ofm.width, ofm.depth), bool)
        for stay in of_role(liveness, number, Role.INPUT):
            fetched[tuple(slice(*span) for span in stay.box)] = True
            reached[tuple(slice(*span) for span in stay.reach)] = True
        assert fetched.all() or max(config.kernel.y.stride, config.kernel.x.stride) > 1
        assert reached.all()


def test_what_is_at_work_at_the_same_time_lies_in_different_rows(known):
    liveness, npu, _ = known
    for stay in liveness.stays:
        assert all(first >= 0 and first + n <= npu.sb_banks * BANK_ROWS for first, n in stay.rows)
        others = [
            own
            for own in liveness.stays
            if own is not stay
            and own.operation == stay.operation
            and (own.role is not stay.role or own.role is Role.ACCUMULATOR)
            and max(own.written[0], stay.written[0]) < min(own.read[1], stay.read[1])
        ]
        mine = {row for first, n in stay.rows for row in range(first, first + n)}
        for own in others:
            theirs = {row for first, n in own.rows for row in range(first, first + n)}
            assert not mine & theirs, (stay, own)


def test_nothing_is_read_before_it_is_written_nor_after_the_inference(known):
    liveness, _, _ = known
    for stay in liveness.stays:
        assert 0.0 <= stay.written[0] <= stay.written[1]
        assert max(stay.read) <= liveness.cycles
        corner = tuple(low for low, _ in stay.box)
        written, read = stay.window(corner)
        assert written <= read
    assert 0.0 < liveness.live < 1.0
    assert 0.0 < liveness.left < 1.0


def test_the_share_that_is_read_is_that_of_the_windows_of_all_elements():
    compiled = compile_network(zoo.load("digits").path, "ethos-u55-32")
    liveness = buffer_liveness(compiled, [own.walk for own in operation_work(compiled)], 6.0)
    for stay in liveness.stays:
        y, x, z = (range(*span) for span in stay.box)
        windows = [stay.window((a, b, c)) for a in y for b in x for c in z]
        whole = sum(read - written for written, read in windows) * stay.bits
        assert stay.bit_cycles == pytest.approx(whole, rel=0.15), stay


def test_the_walk_takes_the_cycles_of_the_rtl():
    """Digits on 32 MACs, by operation, as the RTL was measured."""
    compiled = compile_network(zoo.load("digits").path, "ethos-u55-32")
    assert [own.walk for own in operation_work(compiled)] == pytest.approx([2094, 2042, 2681, 998], rel=0.2)
