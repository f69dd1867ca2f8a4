# SPDX-License-Identifier: Apache-2.0
"""`resil init`: from file lists and a recording to a target and a campaign file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from resil.errors import ResilError
from resil.files import write_text
from resil.proposal.bench import bench_keys, bench_text, bench_work, images
from resil.proposal.design import read_own_design
from resil.proposal.texts import campaign_text, recording_lines, target_text
from resil.record.typed import Typed

TARGET, CAMPAIGN = "target.toml", "campaign.toml"


class Proposal(Typed):
    """What `resil init` has found and written."""

    top: str
    """Module that is the design."""
    files: tuple[str, ...]
    """Written files."""
    sources: int
    """Files of RTL."""
    clocks: tuple[str, ...]
    """The one that makes the cycles first."""
    resets: tuple[str, ...]
    """With their polarity."""
    blocks: tuple[str, ...]
    """Of the block map, besides the top."""
    alarms: tuple[str, ...]
    """Outputs that are proposed as alarms."""
    buses: tuple[str, ...]
    """Kinds and prefixes."""
    remarks: tuple[str, ...]
    """What a person should look at."""


def propose(
    top: str,
    lists: Sequence[Path],
    waves: Path | None,
    instance: str,
    out: Path,
    parameters: Sequence[str] = (),
) -> Proposal:
    """Read a design and write its target and campaign file, and without a recording a bench.

    Args:
        top: Module that is the design.
        lists: File lists.
        waves: A recording of it in any testbench; None for a bench.
        instance: Path of the design in the recording.
        out: Folder of the files; made if it is missing.
        parameters: Of the top, NAME=VALUE each.

    Raises:
        ResilError: Files of these names are there.
        HarnessError: As `read_own_design`.
    """
    written = [out / TARGET, out / CAMPAIGN]
    if waves is None:
        written.append(out / "rtl" / f"{top}_bench.sv")
    if there := [file for file in written if file.exists()]:
        raise ResilError(
            f"{there[0]}: expected no such file, found one; give another --out, or remove it", "--out"
        )
    design = read_own_design(top, lists, waves, instance, parameters)
    if waves is None:
        keys, work = bench_keys(design), bench_work(design)
        texts = {TARGET: target_text(design, out, keys), CAMPAIGN: campaign_text(design, work)}
        texts |= {f"rtl/{top}_bench.sv": bench_text(design), **images(design)}
    else:
        work = recording_lines(design, waves, instance, out)
        texts = {TARGET: target_text(design, out), CAMPAIGN: campaign_text(design, work)}
    written = [out / name for name in texts]
    for file, text in zip(written, texts.values(), strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text)
    return Proposal(
        top=top,
        files=tuple(map(str, written)),
        sources=len(design.files),
        clocks=tuple(clock.name for clock in design.clocks),
        resets=tuple(
            f"{own.port.name}, active {'low' if own.active_low else 'high'}" for own in design.resets
        ),
        blocks=tuple(design.blocks),
        alarms=tuple(own.port.name for own in design.alarms if own.port.name not in design.usual),
        buses=tuple(bus.title for bus in design.buses),
        remarks=design.remarks,
    )


def proposal_text(found: Proposal) -> str:
    """Return it as lines for a person."""
    rows = {
        "sources": f"{found.sources}",
        "clocks": ", ".join(found.clocks),
        "resets": "; ".join(found.resets) or "none found",
        "blocks": ", ".join(found.blocks) or "the top alone",
        "alarms": ", ".join(found.alarms) or "none found by name",
        "buses": "; ".join(found.buses) or "none found by name",
    }
    lines = [f"{name + ':':9} {text}" for name, text in rows.items()]
    lines += [f"remark:   {remark}" for remark in found.remarks]
    lines += [f"written:  {file}" for file in found.files]
    campaign = next(file for file in found.files if file.endswith(CAMPAIGN))
    return "\n".join([*lines, f"next:     resil check {campaign}"])
