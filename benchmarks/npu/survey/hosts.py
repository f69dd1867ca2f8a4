# SPDX-License-Identifier: Apache-2.0
"""Survey of what a host computes before a dense layer of the NPU: state inside operators, real numbers."""

from __future__ import annotations

import zlib

from benchmarks.npu.survey.drawing import Drawing
from resil.networks.graph import Graph, OptionValue
from testkit.npu import parted_networks
from testkit.npu.recurrent_networks import add_lstm, add_real, add_svdf


def lstm(draw: Drawing, time_major: bool = False) -> Graph:
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""
    made = _drawing(draw)
    given = made.tensor("given", (4, 1, 9) if time_major else (1, 4, 9), 0.05, 3)
    options: dict[str, OptionValue] = {"time_major": time_major}
    output = add_lstm(made, "lstm", given, 12, scales=(0.005, 1 / 128), options=options)
    return made.graph((given,), (made.dense("scores", output, 20, 0.05),))


def svdf(draw: Drawing, state: str = "int16") -> Graph:
    """SVDF."""
    made = _drawing(draw)
    given = made.tensor("given", (1, 20), 0.05, -3)
    output = add_svdf(made, "svdf", given, 12, state=state, scale=2.0 if state == "int16" else 0.6)
    return made.graph((given,), (made.dense("scores", output, 20, 8.0),))


def real(draw: Drawing, kind: str) -> Graph:
    """An operator of real numbers between DEQUANTIZE and QUANTIZE."""
    made = _drawing(draw)
    given = made.tensor("given", (1, 6, 7, 4), 0.03, -128)
    if kind == "MUL":
        output = add_real(made, "real", given, kind, 0.3, 3, second=made.gather("other", given))
    else:
        output = add_real(made, "real", given, kind, {"EXP": 3.0}.get(kind, 0.01), -100)
    return made.graph((given,), (made.dense("scores", output, 20, 0.1 if kind != "EXP" else 30.0),))


def _drawing(draw: Drawing) -> parted_networks.Drawing:
    """Return what makes networks of several operators; alike for the same case."""
    return parted_networks.Drawing(zlib.crc32(draw.name.encode()))
