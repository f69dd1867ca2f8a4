# SPDX-License-Identifier: Apache-2.0
"""Mechanisms of a campaign file as answers record them, so that two campaigns can be compared."""

from __future__ import annotations

from collections.abc import Sequence

from resil.campaign.safety import SafetySettings
from resil.record.mechanism_faults import DeclaredMechanism
from resil.rtl_harness.design.sites import StorageElement


def declared_mechanisms(
    settings: SafetySettings | None, elements: Sequence[StorageElement]
) -> tuple[DeclaredMechanism, ...]:
    """Return the mechanisms that name their own storage, in an order that the file does not decide.

    Args:
        settings: The table `[safety]`; None if there is none.
        elements: Storage of the target: which memories lie in a block is its block map's to say.
    """
    mechanisms = () if settings is None else settings.mechanisms
    return tuple(
        DeclaredMechanism(
            alarm=own.alarm,
            blocks=tuple(sorted(set(own.blocks))),
            storage=tuple(sorted(set(own.storage))),
            memories=tuple(
                sorted(
                    element.path
                    for element in elements
                    if element.kind == "sram" and (not own.blocks or element.block in own.blocks)
                )
            ),
        )
        for own in sorted(mechanisms, key=lambda own: own.alarm)
        if own.storage
    )
