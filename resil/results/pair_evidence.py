# SPDX-License-Identifier: Apache-2.0
"""What `resil mechanisms` found of latent faults, as evidence for the row `lfm_permanent`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from resil.campaign.campaign import Campaign
from resil.campaign.declared import declared_mechanisms
from resil.errors import StoreError
from resil.record.errors import ReportError
from resil.record.mechanism_faults import DeclaredMechanism, MechanismFaults
from resil.rtl_harness.design.sites import StorageElement
from resil.stats.safety import LatentPins

_NETLIST = "netlist"
_NOTHING = "nothing in its place"


def latent_pins(
    campaign: Campaign,
    folder: Path,
    hashes: Mapping[str, str],
    elements: Sequence[StorageElement],
    netlist: str,
    fit_per_pin: float,
) -> LatentPins:
    """Return what the answer in a folder says.

    Args:
        campaign: That names it.
        folder: The folder.
        hashes: Of RTL and what runs, here.
        elements: Storage of the target, here.
        netlist: Digest of the netlist that pins were held in.
        fit_per_pin: Base rate of a pin, in FIT.

    Raises:
        StoreError: it cannot be read, or is about another design, another input, other outcomes or other
            mechanisms.
    """
    file = folder / MechanismFaults.FILE
    try:
        found = MechanismFaults.read(file.read_bytes(), str(file))
    except (OSError, ReportError) as error:
        raise StoreError(
            f"{file}: expected what resil mechanisms writes, found {error}; run it again", "mechanism_faults"
        ) from error
    here = {**hashes, _NETLIST: netlist}
    differing = [name for name, own in found.hashes.items() if name in here and own != here[name]]
    settings = campaign.safety
    limit = None if settings is None else settings.detection_cycles
    if set(found.hazardous_outcomes) != set(campaign.hazardous):
        differing.append("hazardous outcomes")
    if found.detection_cycles != limit:
        differing.append("fault-tolerant time")
    if _NETLIST not in found.hashes or "rtl" not in found.hashes:
        differing.append("digests")
    if differing:
        raise StoreError(
            f"{file}: expected the design, input and outcomes of this campaign, found another "
            f"{', '.join(differing)}; run resil mechanisms on this campaign",
            "mechanism_faults",
        )
    _require_mechanisms(file, declared_mechanisms(settings, elements), found.declared)
    whole, own = found.latent[0], found.mechanisms[0]
    # What was not followed by second faults counts as latent too.
    latent = whole.quiet - whole.safe
    return LatentPins(own.faults / 2 * fit_per_pin, latent, own.simulated, own.simulated == own.faults)


def _require_mechanisms(
    file: Path, here: Sequence[DeclaredMechanism], found: Sequence[DeclaredMechanism]
) -> None:
    """Raise StoreError unless the answer is about the mechanisms of this campaign, and what they guard.

    Faults in the gates of all of them are taken from the answer: one that is not in it would be in no row.
    """
    expected, others = _alone(here, found), _alone(found, here)
    if expected or others:
        raise StoreError(
            f"{file}: expected the mechanisms of this campaign, {expected or _NOTHING}, found "
            f"{others or _NOTHING}; run resil mechanisms on this campaign",
            "mechanism_faults",
        )


def _alone(own: Sequence[DeclaredMechanism], others: Sequence[DeclaredMechanism]) -> str:
    return " and ".join(_mechanism_text(one) for one in own if one not in others)


def _mechanism_text(own: DeclaredMechanism) -> str:
    guarded = ", ".join(own.blocks) or "all blocks"
    memories = f" (memories {', '.join(own.memories)})" if own.memories else ""
    return f'"{own.alarm}" that guards {guarded}{memories} with storage {", ".join(own.storage)}'
