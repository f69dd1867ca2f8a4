# SPDX-License-Identifier: Apache-2.0
"""To which block a path belongs, and whether it lies inside an SRAM macro, by what a target says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def block_of(path: str, blocks: Mapping[str, Iterable[str]]) -> str:
    """Return the block whose instance path is the longest that `path` lies in; "" if there is none."""
    best, length = "", -1
    for block, instances in blocks.items():
        for instance in instances:
            inside = path == instance or path.startswith((f"{instance}.", f"{instance}["))
            if inside and len(instance) > length:
                best, length = block, len(instance)
    return best


def in_macro(pattern: str, path: str) -> bool:
    """Whether a pattern of a target's `macros` names a register, or something around it."""
    return re.match(re.escape(pattern).replace(r"\*", "[^.]*") + r"(?![^.\[])", path) is not None
