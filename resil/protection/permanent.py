# SPDX-License-Identifier: Apache-2.0
"""Permanent faults beside upsets, where a limit of them is asked: the stuck bits and held pins of runs.

Stuck bits are injections into the cells of storage that upsets struck, so a set is chosen and judged by them
in the same way: half of them choose, half judge. Held pins are known by block, as pulses are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.safety import SafetySettings
from resil.files import read_parquet
from resil.folder.finished import Finished, finished_run, require_ends
from resil.folder.store import CAMPAIGN, SITES
from resil.protection.basis import Basis, outcome_kinds
from resil.protection.corners import Corner, with_logic
from resil.protection.logic import PERMANENT, block_logic
from resil.protection.options import ProtectionError
from resil.protection.risks import Network
from resil.record.blocks import LOGIC
from resil.record.logic_share import TOTAL
from resil.record.provenance import RUN
from resil.results.named_runs import base_rate_ends
from resil.results.run import FinishedRun
from resil.rtl_harness.faults import is_detected

IntArray = npt.NDArray[np.int64]
# Between what a verdict has and what is counted here.
_EQUAL = 1e-6
_ROW = "spfm_permanent"


def with_permanent(basis: Basis) -> Basis:
    """Return runs with the permanent faults that their safety verdicts rest on.

    Args:
        basis: Runs whose injections judge.

    Raises:
        ProtectionError: A run names none of stuck bits, or one that cannot be used or has changed since, or
            some know permanent faults of logic and others do not.
        StoreError, ConsistencyError: A folder is none of a finished run.
    """
    pairs = zip(basis.networks, basis.found, strict=True)
    networks = [replace(own, permanent=_permanent(basis, own, found)) for own, found in pairs]
    known = {own.permanent is not None and own.permanent.logic is not None for own in networks}
    if len(known) > 1:
        raise ProtectionError(
            "runs contradict each other: expected permanent faults of logic named by all of them, or by "
            "none, found some; name a run as [safety] permanent_logic in each",
            "safety.permanent_logic",
        )
    return replace(basis, networks=networks)


def require_permanent(found: Sequence[Finished]) -> None:
    """Raise ProtectionError unless all results are of runs whose verdicts know permanent faults."""
    for own in found:
        _settings(own, load_campaign(own.path / CAMPAIGN))


def _permanent(basis: Basis, network: Network, found: Finished) -> Network:
    campaign = load_campaign(found.path / CAMPAIGN)
    safety = _settings(found, campaign)
    assert safety.permanent is not None
    named = finished_run(safety.permanent)
    require_ends(named, "a choice asks what detected faults would have done")
    run, summary = FinishedRun(named.path), named.summary
    rows = run.counted()
    rows = rows[(rows["kind"] != LOGIC).to_numpy()]
    detected = is_detected(rows["alarm_cycle"].to_numpy(), rows["cycle"].to_numpy(), safety.detection_cycles)
    seen = rows["seen"].to_numpy().astype(str)
    outcome = np.where(detected, "due", seen)
    logic = block_logic(found.summary, PERMANENT)
    corners = {title: Corner(own) for title, own in base_rate_ends(summary).items()}
    own = Network(
        network.name,
        _bits(basis, named, rows["site"].to_numpy()),
        outcome_kinds(outcome, seen, network.hazardous, np.zeros(len(rows), dtype=bool)),
        rows["injection"].to_numpy().astype(np.int64),
        _rates(basis, named),
        network.confidence,
        network.hazardous,
        corners=with_logic(corners, logic),
        input=rows["input"].to_numpy().astype(np.int64) if campaign.over_inputs else None,
        labels=tuple(sorted(summary.campaign.inputs)),
        population=summary.verdict.population,
        logic=logic,
        stuck=True,
    )
    if not campaign.over_inputs:
        _require_as_judged(found, named, rows["block"], rows["kind"], outcome, network.hazardous)
    return own


def _settings(found: Finished, campaign: Campaign) -> SafetySettings:
    """Return the safety table of a run whose row of permanent faults is known."""
    safety = campaign.safety
    asked = "a limit of permanent faults is asked"
    if found.kind != RUN or safety is None or safety.permanent is None:
        raise ProtectionError(
            f"{found.path}: {asked}: expected a run whose [safety] permanent names one of stuck bits, found "
            f"{'an estimate' if found.kind != RUN else 'none'}; name one and write the run anew with 'resil "
            "run CAMPAIGN.toml --resume', or leave the limit out (--waive spfm_permanent)",
            "safety.permanent",
        )
    rows = () if found.summary.safety is None else found.summary.safety.rows
    row = next((own for own in rows if own.name == _ROW), None)
    if row is None or row.value is None:
        raise ProtectionError(
            f"{found.path}: {asked}: expected what its [safety] permanent says of stuck bits, found nothing: "
            f"{'it has no such row' if row is None else row.reason} Mend that and write the run anew with "
            "'resil run CAMPAIGN.toml --resume'",
            "safety.permanent",
        )
    return safety


def _bits(basis: Basis, named: Finished, sites: IntArray) -> IntArray:
    """Return the bit of the storage that each injection struck; a word of a memory has that of another."""
    place: dict[tuple[str, int], int] = {}
    keys = zip(basis.storage.path.tolist(), basis.storage.bit.tolist(), strict=True)
    for number, key in enumerate(keys):
        place.setdefault(key, number)
    table = read_parquet(named.path / SITES, ["path", "bit"])
    paths, bits = (table[name].to_numpy(zero_copy_only=False)[sites].tolist() for name in ("path", "bit"))
    found = [place.get((path, bit), -1) for path, bit in zip(paths, bits, strict=True)]
    if -1 in found:
        raise ProtectionError(
            f"{named.path}: expected stuck bits of the storage that upsets were injected into, found one of "
            f"{paths[found.index(-1)]}; choose from runs of the same kinds of storage",
            "faults.kinds",
        )
    return np.array(found, dtype=np.int64)


def _rates(basis: Basis, named: Finished) -> dict[tuple[str, str], float]:
    """Return base rates by block and kind, so that they add up to those that were sampled.

    A latch cannot be held, and is in no sum; here it shares the rate of the flip-flops of its block.
    """
    bits: dict[tuple[str, str], int] = {}
    cells = basis.cells
    for block, kind, own in zip(cells.block, cells.kind, cells.bits.tolist(), strict=True):
        bits[block, kind] = bits.get((block, kind), 0) + own
    raw = _raw(named)
    if lost := sorted(key for key in raw if key not in bits):
        raise ProtectionError(
            f"{named.path}: expected stuck bits of the storage that upsets were injected into, found "
            f"{'/'.join(lost[0])}; choose from runs of the same kinds of storage",
            "faults.kinds",
        )
    return {key: own / bits[key] for key, own in raw.items()}


def _raw(named: Finished) -> dict[tuple[str, str], float]:
    """Return the raw rate of stuck bits of each kind of storage in each block."""
    rows = (own for own in named.summary.limits if own.kind != LOGIC and own.bits)
    return {(own.block, own.kind): own.fit_raw for own in rows}


def _require_as_judged(
    found: Finished,
    named: Finished,
    blocks: Sequence[str],
    kinds: Sequence[str],
    outcome: npt.NDArray[np.str_],
    hazardous: Sequence[str],
) -> None:
    """Raise ProtectionError if the run's verdict rests on other stuck bits than are in the folder now."""
    counts: dict[tuple[str, str], list[int]] = {}
    for block, kind, own in zip(blocks, kinds, outcome.tolist(), strict=True):
        pair = counts.setdefault((block, kind), [0, 0])
        pair[0] += own in hazardous
        pair[1] += 1
    raw = _raw(named)
    fit = sum(raw[key] * bad / all_ for key, (bad, all_) in counts.items())
    judged = _storage_fit(found, sum(raw.values()))
    if abs(fit - judged) > _EQUAL * max(fit, judged):
        raise ProtectionError(
            f"{found.path}: expected the verdict of the stuck bits in {named.path}, {fit:.6g} hazardous FIT, "
            f"found one of {judged:.6g}: that run has changed since; write this one anew with 'resil run "
            "CAMPAIGN.toml --resume'",
            "safety.permanent",
        )


def _storage_fit(found: Finished, fit_raw: float) -> float:
    """Return the hazardous FIT of stuck bits that a verdict has."""
    shares = [own for own in found.summary.logic if (own.faults, own.block) == (PERMANENT, TOTAL)]
    if shares:
        return shares[0].storage_fit
    assert found.summary.safety is not None
    row = next(own for own in found.summary.safety.rows if own.name == _ROW)
    return (1.0 - (row.value or 0.0)) * fit_raw
