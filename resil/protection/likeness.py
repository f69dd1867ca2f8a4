# SPDX-License-Identifier: Apache-2.0
"""How alike networks are by what they run, and what passing on some of them says of the next one: pure.

Hold-out networks are taken as a sample of the networks that the design will run. Of `n` that all pass the
exact lower limit of the part that passes is `(1 - confidence) ** (1 / n)`. Networks that run almost the same
are one draw of that sample, not several.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from resil.record.campaign_facts import RecordedOperation
from resil.record.protection_confirmation import AlikeNetworks, NetworkPopulation
from resil.stats.input_spread import fewest_inputs
from resil.stats.intervals import clopper_pearson

# Networks whose operation profiles are less apart than this run almost the same.
NEAR = 0.1
# Part of the networks that are to pass, for the number of networks that would show it.
SHOWN = 0.95

Profile = Mapping[tuple[str, int, int], float]


def profile_of(operations: Sequence[RecordedOperation]) -> dict[tuple[str, int, int], float]:
    """Return the part of the cycles that goes to each sort of operation, all summing to 1.

    A sort is a kind, with the octaves of the pixels and of the depth of its output. Nothing where it is not
    known what operations compute, as of a workload of memory images.
    """
    found: dict[tuple[str, int, int], float] = {}
    for own in operations:
        shape = None if own.work is None else own.work.get("shape")
        if own.work is None or not isinstance(shape, tuple) or own.cycles is None:
            return {}
        height, width, depth = shape
        sort = (str(own.work["kind"]), (height * width).bit_length(), depth.bit_length())
        found[sort] = found.get(sort, 0.0) + own.cycles
    whole = sum(found.values())
    return {sort: cycles / whole for sort, cycles in found.items()} if whole else {}


def distance(one: Profile, other: Profile) -> float | None:
    """Return how far profiles are apart, from 0 to 1: the part of the cycles that goes elsewhere.

    None if one of them is not known.

    >>> distance({("conv", 7, 4): 1.0}, {("conv", 7, 4): 0.75, ("pool", 5, 4): 0.25})
    0.25
    """
    if not one or not other:
        return None
    return 0.5 * sum(abs(one.get(sort, 0.0) - other.get(sort, 0.0)) for sort in {*one, *other})


def network_population(
    hold_out: Mapping[str, Profile],
    chose: Mapping[str, Profile],
    passed: Collection[str],
    confidence: float,
) -> NetworkPopulation:
    """Return what hold-out networks say of the next network that is drawn as they were.

    Args:
        hold_out: Operation profile of each.
        chose: Of each network that chose.
        passed: Hold-out networks on which everything held. Of networks that are joined all have to.
        confidence: Of the limit.
    """
    groups: list[set[str]] = [{name} for name in hold_out]
    alike = []
    for name, profile in hold_out.items():
        for other, found in (*hold_out.items(), *chose.items()):
            apart = distance(profile, found)
            if apart is None or apart >= NEAR or (other in hold_out and other <= name):
                continue
            alike.append(
                AlikeNetworks(network=name, other=other, distance=apart, chose=other not in hold_out)
            )
            if other in hold_out:
                joined = [group for group in groups if group & {name, other}]
                groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    good = sum(group <= set(passed) for group in groups)
    return NetworkPopulation(
        networks=len(groups),
        passed=good,
        share_lo=clopper_pearson(good, len(groups), confidence, "lower").lo,
        confidence=confidence,
        needed=fewest_inputs(SHOWN, confidence),
        alike=tuple(alike),
        unknown=tuple(name for name, profile in hold_out.items() if not profile),
    )
