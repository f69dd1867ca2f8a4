# SPDX-License-Identifier: Apache-2.0
"""Networks of the survey whose numbers are not the reference's, and why; those that no reference computes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_RATIO = "the compiler divides scales in single precision, the reference in double"
_ONCE = "the compiler's stream asks for one rounding, TensorFlow Lite Micro rounds twice"

WRONG: Mapping[str, str] = MappingProxyType(
    {
        "MUL broadcast of channels int16": _RATIO,
        "MUL unequal scales int16": _RATIO,
        "RELU_N1_TO_1 another scale int8": f"{_RATIO} (resil's own: tflite-micro has no such operator)",
        "SUM channels int8": _ONCE,
        "SUM width int8": _ONCE,
        "SOFTMAX map int16": "the compiler makes other operations of it, with tables of its own",
    }
)
"""Off by one level at times: NPU and model do what the compiler's stream says. The comparison of golden
outputs refuses a campaign in which one of them differs."""

UNCOMPARED: frozenset[str] = frozenset(
    {
        "CONCATENATION unequal scales int16",
        "EXP same scale int16",
        "EXP same scale int8",
        "RESIZE_BILINEAR by 2 int16",
    }
)
"""The NPU runs them, and neither TensorFlow Lite Micro nor the integer reference does."""
