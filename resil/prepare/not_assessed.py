# SPDX-License-Identifier: Apache-2.0
"""What of a design no figure is of, as its target file says: storage left out, and macros without source."""

from __future__ import annotations

from collections import defaultdict

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.snapshot import instances_of_macros
from resil.rtl_harness.design.target import Target

_SHOWN = 8


def conditions(target: Target, elaboration: Elaboration) -> tuple[str, ...]:
    """Return in short what a verdict leaves out, and which codes it takes for granted."""
    found = []
    if elaboration.excluded:
        found.append(f"{elaboration.excluded:,} bits that the target file excludes are not assessed")
    if others := sorted(name for name, box in target.black_boxes.items() if not box.is_memory):
        found.append(f"what lies in {', '.join(others)} is not assessed")
    if elaboration.coded:
        shown = [*elaboration.coded[:_SHOWN], *(["others"] if len(elaboration.coded) > _SHOWN else [])]
        found.append(f"it is assumed, not shown, that a code guards {', '.join(shown)}")
    return tuple(found)


def not_assessed(target: Target, elaboration: Elaboration) -> str:
    """Return it in sentences; "" if there is none."""
    texts = []
    if elaboration.excluded:
        texts.append(
            f"{elaboration.excluded:,} bits that the target file excludes ({', '.join(target.exclude)}) have "
            "no faults in any of these figures."
        )
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, module in sorted(instances_of_macros(target).items()):
        places[module].append(path)
    for module, paths in sorted(places.items()):
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        named = f"{module} ({', '.join(paths[:_SHOWN])}{more})"
        texts.append(
            f"Of the macro {named} faults strike words and registers as its ports are described; other "
            "faults in it are not assessed."
            if target.black_boxes[module].is_memory
            else f"The macro {named} does what the target file says of its outputs; no faults in it are "
            "assessed."
        )
    return " ".join(texts)
