# SPDX-License-Identifier: Apache-2.0
"""How much of the hazardous rate lies in logic, block by block, as `summary.json` has it."""

from __future__ import annotations

from typing import Annotated

from resil.record.typed import Amount, OneOf, Share, Typed

TOTAL = "total"


class LogicShare(Typed):
    """Hazardous faults of a block in its storage and in its logic, at the centre of the raw rates."""

    faults: Annotated[str, OneOf(("transient", "permanent"))]
    """Of which sort."""
    block: str
    """The block; `total` for all together."""
    storage_fit: Amount
    """Hazardous FIT of its storage."""
    storage_lo: Amount
    """Its lower limit."""
    storage_hi: Amount
    """Its upper limit."""
    logic_fit: Amount
    """Hazardous FIT of its logic; of pulses as the rows take them, derated or not."""
    logic_lo: Amount
    """Its lower limit."""
    logic_hi: Amount
    """Its upper limit."""
    logic_raw: Amount
    """Rate of all faults that its logic takes, hazardous or not, as `logic_fit` counts them."""
    logic_joint: Amount
    """Upper limit of `logic_fit`, where those of all blocks hold together; of the total its own."""
    logic_due: Amount
    """Detected FIT of its logic."""
    logic_due_joint: Amount
    """Upper limit of that, likewise."""
    logic_unaided: Amount
    """FIT of its logic that is hazardous if nobody reacts to alarms."""
    logic_unaided_joint: Amount
    """Upper limit of that, likewise."""
    logic_lowest: Amount
    """The factor of all figures of logic at the lowest raw rates of logic."""
    logic_highest: Amount
    """The same at the highest."""
    share: Share | None
    """Part of both that lies in logic; null if nothing was hazardous."""
    share_lo: Share | None
    """Its lower limit: logic at its lowest beside storage at its highest, each at half of the error."""
    share_hi: Share | None
    """Its upper limit."""
    other_logic_fit: Amount | None
    """That of its logic the other way: derated if `logic_fit` is not, else not; null of permanent faults."""
    other_share: Share | None
    """The part with that figure; null of permanent faults, or if nothing was hazardous."""
