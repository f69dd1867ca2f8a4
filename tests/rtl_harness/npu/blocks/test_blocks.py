# SPDX-License-Identifier: Apache-2.0
"""Every block of the NPU under cocotb, against models written from README.md."""

from __future__ import annotations

import pytest

from testkit.npu.blocks.simulator import BENCHES, run


@pytest.mark.parametrize("macs", [32, 256])
@pytest.mark.parametrize("bench", BENCHES)
def test_block(bench: str, macs: int, tmp_path):
    failures = {name: message for name, message in run(bench, macs, tmp_path).items() if message}
    assert not failures, "\n".join(f"{name}: {message}" for name, message in failures.items())
