# SPDX-License-Identifier: Apache-2.0
"""The assertions of the NPU's RTL: a target that has them, and which of them failed.

Their files end in .sva, so that no target file's glob takes them: campaigns and netlists never see them.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from resil.rtl_harness.design.target import Target

ASSERTIONS = Path(__file__).parent / "rtl" / "assert"
_PLACE = re.compile(r"([\w.]+\.sva):(\d+)")
_LABEL = re.compile(r"\s*(\w+)\s*:\s*$")
# Rules whose expression is that of the module which they are bound to.
_GENERIC = ("rule", "wait", "sticky")
_BOUND = re.compile(rf"^bind (\w+) ({'|'.join(_GENERIC)})_sva\b", re.M)
_INSTANCE = re.compile(rf"\bu_(\w+)_(?:{'|'.join(_GENERIC)})\b")


def asserting(target: Target) -> Target:
    """Return a target of the NPU with the assertions; a simulator checks them if it is built to do so."""
    return dataclasses.replace(target, sources=(*target.sources, *sorted(ASSERTIONS.glob("*.sva"))))


def labels() -> dict[str, list[str]]:
    """Return the labels of the assertions in each file; "LABEL of MODULE" where each module has its own."""
    found = {}
    bound = _BOUND.findall((ASSERTIONS / "npu_bind.sva").read_text(encoding="ascii"))
    for file in sorted(ASSERTIONS.glob("*_sva.sva")):
        lines = file.read_text(encoding="ascii").splitlines()
        own = [match[1] for line in lines if (match := _LABEL.match(line))]
        kind = file.name.removesuffix("_sva.sva")
        modules = [module for module, rule in bound if rule == kind]
        found[file.name] = [f"{label} of {m}" for label in own for m in modules] if kind in _GENERIC else own
    return found


def modules() -> dict[str, bool]:
    """Return the modules that have a clock, and whether assertions are bound to them."""
    text = (ASSERTIONS / "npu_bind.sva").read_text(encoding="ascii")
    bound = set(re.findall(r"^bind (\w+) ", text, re.M))
    sources = [file for file in sorted(ASSERTIONS.parent.rglob("*.sv")) if file.parent.name != "bench"]
    clocked = [
        file.stem for file in sources if re.search(r"\binput +logic +clk_i\b", file.read_text("ascii"))
    ]
    return {name: name in bound for name in clocked}


def failed_assertion(message: str) -> str:
    """Return the label of the assertion that a simulator's message names by its place, "" if none."""
    place = _PLACE.search(message)
    if place is None:
        return ""
    lines = (ASSERTIONS / place[1]).read_text(encoding="ascii").splitlines()[: int(place[2])]
    label = next((match[1] for line in reversed(lines) if (match := _LABEL.match(line))), "")
    if place[1].removesuffix("_sva.sva") in _GENERIC and (instance := _INSTANCE.search(message)):
        return f"{label} of {instance[1]}"
    return label
