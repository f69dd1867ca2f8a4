# SPDX-License-Identifier: Apache-2.0
"""What `resil mechanisms` found of latent faults, as evidence for the row `lfm_permanent`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from resil.campaign.campaign import Campaign
from resil.errors import StoreError
from resil.record.errors import ReportError
from resil.record.mechanism_faults import MechanismFaults
from resil.stats.safety import LatentPins

_NETLIST = "netlist"


def latent_pins(
    campaign: Campaign, folder: Path, hashes: Mapping[str, str], netlist: str, fit_per_pin: float
) -> LatentPins:
    """Return what the answer in a folder says.

    Args:
        campaign: That names it.
        folder: The folder.
        hashes: Of RTL and what runs, here.
        netlist: Digest of the netlist that pins were held in.
        fit_per_pin: Base rate of a pin, in FIT.

    Raises:
        StoreError: it cannot be read, or is about another design, another input or other outcomes.
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
    whole, own = found.latent[0], found.mechanisms[0]
    # What was not followed by second faults counts as latent too.
    latent = whole.quiet - whole.safe
    return LatentPins(own.faults / 2 * fit_per_pin, latent, own.simulated, own.simulated == own.faults)
