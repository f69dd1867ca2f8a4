# SPDX-License-Identifier: Apache-2.0
"""From a plan to what is built: the groups of registers that its choices protect."""

from __future__ import annotations

from collections.abc import Mapping

from resil.protection.options import WATCHDOG, OptionSet, ProtectionError
from resil.protection.units import Granularity
from resil.record.protection import NOT_NEEDED, OPTIMAL, Protection
from resil.rtl_harness.redundancy.groups import Mechanism, ProtectionGroup
from resil.rtl_harness.redundancy.watchdog import Watchdog


def groups_of(plan: Protection, options: OptionSet, blocks: Mapping[str, object]) -> list[ProtectionGroup]:
    """Return the protected groups of a plan: blocks, or what its units name.

    Args:
        plan: That was chosen.
        options: That it was chosen from.
        blocks: The target's block map.

    Raises:
        ProtectionError: The plan reaches no target or protects nothing, or a choice cannot be built.
    """
    if plan.result != OPTIMAL:
        why = "needs no protection" if plan.result == NOT_NEEDED else "has no set that reaches its target"
        raise ProtectionError(
            f"--build: expected a plan that protects something, found that the run {why}", "--build"
        )
    groups: list[ProtectionGroup] = []
    for path, name in protected_parts(plan):
        option = options.options[name]
        if not option.builds:
            raise ProtectionError(
                f"{path}: {option.title} ({name}) was chosen for it and cannot be built; "
                f'leave it out with exclude = ["{name}"] in a file for --options',
                name,
            )
        if plan.granularity == Granularity.BLOCK and path not in blocks:
            raise ProtectionError(
                f"{path}: is no block of the target file, so nothing can be built for it; "
                "name what it holds under [blocks]",
                path,
            )
        groups.append(ProtectionGroup(path, Mechanism(option.builds), option.ways))
    return groups


def watchdog_of(plan: Protection, options: OptionSet) -> Watchdog | None:
    """Return the watchdog of a plan, None if it has none.

    Raises:
        ProtectionError: It cannot be built.
    """
    found = next((own for own in plan.mechanisms if own.option == WATCHDOG), None)
    if found is None or found.limit is None:
        return None
    if not options.options[WATCHDOG].builds:
        raise ProtectionError(
            f"{WATCHDOG}: was chosen and cannot be built; leave it out with exclude = "
            f'["{WATCHDOG}"] in a file for --options, or give it builds = "{WATCHDOG}"',
            "watchdog",
        )
    return Watchdog(found.limit)


def protected_parts(plan: Protection) -> list[tuple[str, str]]:
    """Return what is protected, as paths of groups, each with the name of its option."""
    return [(part, group.option) for group in plan.groups for part in group.parts or (group.unit,)]
