# SPDX-License-Identifier: Apache-2.0
"""Flip-flop cells of a netlist: which can be copied, and how they are reset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What is replaced; all else that stores bits is refused with a reason.
FLIP_FLOPS = {"$dff", "$adff", "$aldff"}
POLARITY = {"ARST": "ARST_POLARITY", "ALOAD": "ALOAD_POLARITY"}
_LATCH = "made of latches"
WHY = {
    "$aldff": "loaded asynchronously with what is no constant",
    "$dffsr": "set and reset asynchronously, bit by bit",
    "$dlatch": _LATCH,
    "$adlatch": _LATCH,
    "$dlatchsr": _LATCH,
}


def own_reset(cell: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the pin of a flip-flop's asynchronous reset, "" if it has none, and the value by position."""
    if cell["type"] == "$adff":
        return "ARST", list(cell["parameters"]["ARST_VALUE"][::-1])
    if cell["type"] == "$aldff" and constant_reset(cell):
        return "ALOAD", list(cell["connections"]["AD"])
    return "", []


def constant_reset(cell: Mapping[str, Any]) -> bool:
    """Whether what an asynchronous reset loads is constant."""
    return all(value in {"0", "1"} for value in cell["connections"].get("AD", []))


def parameter(cell: Mapping[str, Any], name: str) -> int:
    """Return a parameter of a cell as a number."""
    return int(str(cell["parameters"][name]), 2)
