# SPDX-License-Identifier: Apache-2.0
"""The sensitivity model: what campaigns have taught, as one small file."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resil.errors import ResilError
from resil.files import write_file
from resil.record.model_source import ModelSource
from resil.rtl_harness.plain_file import read_plain
from resil.sensitivity.cycles import CycleModel
from resil.sensitivity.observations import SensitivityCell
from resil.sensitivity.severity import Severity
from resil.stats.rates import OUTCOMES
from resil.stats.sensitivity import Levels, pooled_rates
from resil.work.patterns import Pattern

FloatArray = npt.NDArray[np.float64]

SCHEMA = 5
SHIPPED = Path(__file__).parent / "ethos-u55.model.json.gz"
_DAMAGE = (*(OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, IndexError, RecursionError),)


@dataclass(frozen=True)
class Accelerator:
    """Facts of a target that stand in for its elaboration.

    Attributes:
        top: Top module.
        bits: Storage bits of each cell.
        blocks: All blocks; for each its area, SRAM area and the area's unit.
        rtl: Digest of the RTL that was injected into; "" if it was not kept.
    """

    top: str
    bits: Mapping[SensitivityCell, int]
    blocks: Mapping[str, tuple[float, float, str]]
    rtl: str = ""


@dataclass(frozen=True)
class HoldOutBlock:
    """What became of one block in one run, beside what the runs of other networks predict of it.

    Attributes:
        network: SHA-256 of the network.
        accelerator: Name of the target.
        block: Name of the block, or "total".
        kind: "ff", "macro" or "sram".
        trials: Injections, effective ones for a weighted total.
        events: By outcome, out of `trials`.
        expected: Predicted, likewise.
        rests_on: Injections that the prediction rests on if the functional model alone has made it, else 0.
    """

    network: str
    accelerator: str
    block: str
    kind: str
    trials: float
    events: tuple[float, ...]
    expected: tuple[float, ...]
    rests_on: float = 0.0

    def observed(self, outcomes: Sequence[str]) -> float:
        """Return the number of these outcomes."""
        return sum(self.events[OUTCOMES.index(outcome)] for outcome in outcomes)

    def predicted(self, outcomes: Sequence[str]) -> float:
        """Return the number of them that was expected."""
        return sum(self.expected[OUTCOMES.index(outcome)] for outcome in outcomes)


@dataclass(frozen=True)
class JudgedFigure:
    """One figure that an estimate prints, of a network that was left out.

    Attributes:
        network: SHA-256 of the network.
        accelerator: Name of the target.
        block: Name of the block, or "total".
        quantity: "FIT", "AVF", or an outcome, whose share it is.
        kinds: Of storage that are in it.
        observed: By injection.
        predicted: From the other networks.
        surprise: How improbable that is, judged by the errors on the other networks
            (`resil.stats.model_error.surprise`): an interval holds it if half of its error is less.
    """

    network: str
    accelerator: str
    block: str
    quantity: str
    kinds: tuple[str, ...]
    observed: float
    predicted: float
    surprise: float


@dataclass(frozen=True)
class SensitivityModel:
    """What campaigns have taught.

    Attributes:
        counts: Injections into a cell during an operation of a kind, in the order of `OUTCOMES`.
        strengths: Of the pull towards the group around, for each level of `SensitivityCell.levels`.
        severity: What drawn corruptions say of other networks, and how far that is trusted.
        patterns: By block, kind and kind of operation.
        cycles: Predicts the cycles of operations.
        accelerators: By name.
        left_out: What became of networks that it has not seen, beside what it predicts of them.
        judged: How well the figures of an estimate hold of these.
        source: What it was made from.
    """

    counts: Mapping[tuple[SensitivityCell, str], tuple[float, ...]]
    strengths: tuple[float, ...]
    severity: Severity
    patterns: Mapping[tuple[str, str, str], tuple[Pattern, ...]]
    cycles: CycleModel
    accelerators: Mapping[str, Accelerator]
    left_out: tuple[HoldOutBlock, ...]
    judged: tuple[JudgedFigure, ...]
    source: ModelSource

    def outcomes(self, cell: SensitivityCell, operation: str) -> FloatArray:
        """Return P(outcome | a bit of the cell flips in such an operation), in the order of `OUTCOMES`."""
        for key in reversed(cell.levels(operation)):
            if (found := self._rates.get(key)) is not None:
                return found
        return np.full(len(OUTCOMES), 1.0 / len(OUTCOMES))

    @cached_property
    def _rates(self) -> dict[tuple[object, ...], FloatArray]:
        return rates_of(self.counts, self.strengths)


def rates_of(
    counts: Mapping[tuple[SensitivityCell, str], tuple[float, ...]], strengths: tuple[float, ...]
) -> dict[tuple[object, ...], FloatArray]:
    """Return the pooled rates of every group that was struck, by its key."""
    keys = [cell.levels(operation) for cell, operation in counts]
    levels, names = number_groups(keys)
    pooled = pooled_rates(levels, np.array(list(counts.values()), dtype=np.float64), strengths)
    return {
        key: rates[number]
        for known, rates in zip(names, pooled, strict=True)
        for key, number in known.items()
    }


def number_groups(
    keys: list[tuple[tuple[object, ...], ...]],
) -> tuple[Levels, list[dict[tuple[object, ...], int]]]:
    """Return the groups of each row, and the number of each group's key at each level."""
    names: list[dict[tuple[object, ...], int]] = [{} for _ in keys[0]]
    groups = np.empty((len(names), len(keys)), dtype=np.int64)
    for row, key in enumerate(keys):
        for level, own in enumerate(key):
            groups[level, row] = names[level].setdefault(own, len(names[level]))
    return Levels(tuple(groups)), names


def save_model(model: SensitivityModel, path: Path) -> None:
    """Write a model; the same model gives the same bytes."""
    stored = [cell for own in model.accelerators.values() for cell in own.bits]
    cells = list(dict.fromkeys([*(cell for cell, _ in model.counts), *stored]))
    number = {cell: i for i, cell in enumerate(cells)}
    document = {
        "schema": SCHEMA,
        "outcomes": OUTCOMES,
        "provenance": model.source.plain(),
        "cells": [list(asdict(cell).values()) for cell in cells],
        "counts": [[number[cell], kind, *map(_short, n)] for (cell, kind), n in model.counts.items()],
        "strengths": model.strengths,
        "trust": model.severity.trust,
        "reference": [[*part, round(value, 4)] for part, value in model.severity.reference.items()],
        "patterns": [[*key, [p.as_text() for p in own]] for key, own in model.patterns.items()],
        "cycles": model.cycles.plain(),
        "accelerators": {
            name: {
                "top": own.top,
                "blocks": own.blocks,
                "rtl": own.rtl,
                "bits": [[number[cell], bits] for cell, bits in own.bits.items()],
            }
            for name, own in model.accelerators.items()
        },
        "left_out": [list(asdict(row).values()) for row in model.left_out],
        "judged": [list(asdict(row).values()) for row in model.judged],
    }
    data = gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0)

    def write(temporary: Path) -> None:
        temporary.write_bytes(data)

    write_file(path, write)


def load_model(path: Path) -> SensitivityModel:
    """Read a model.

    Raises:
        ResilError: the file cannot be read, or is no model of this version.
    """
    try:
        document = json.loads(gzip.decompress(read_plain(path)))
        if document["schema"] != SCHEMA or tuple(document["outcomes"]) != OUTCOMES:
            raise ValueError(f"schema {document['schema']}, expected {SCHEMA}")
        return _parse(document)
    except _DAMAGE as error:
        raise ResilError(
            f"{path}: expected a sensitivity model, found: {error}; make one with 'resil learn RUN_DIR... -o "
            "FILE', or leave --model out to use the one that comes with resil",
            "model",
        ) from None


def _parse(document: Mapping[str, Any]) -> SensitivityModel:
    cells = [SensitivityCell(*values) for values in document["cells"]]
    return SensitivityModel(
        counts={(cells[i], kind): tuple(n) for i, kind, *n in document["counts"]},
        strengths=tuple(document["strengths"]),
        severity=Severity(
            document["trust"], {(block, kind): value for block, kind, value in document["reference"]}
        ),
        patterns={
            (block, kind, operation): tuple(Pattern.from_text(text) for text in own)
            for block, kind, operation, own in document["patterns"]
        },
        cycles=CycleModel.from_plain(document["cycles"]),
        accelerators={
            name: Accelerator(
                own["top"],
                {cells[i]: bits for i, bits in own["bits"]},
                {block: (area, sram, unit) for block, (area, sram, unit) in own["blocks"].items()},
                own.get("rtl", ""),
            )
            for name, own in document["accelerators"].items()
        },
        left_out=tuple(
            HoldOutBlock(network, target, block, kind, trials, tuple(events), tuple(expected), rests_on)
            for network, target, block, kind, trials, events, expected, rests_on in document["left_out"]
        ),
        judged=tuple(
            JudgedFigure(network, target, block, quantity, tuple(kinds), *numbers)
            for network, target, block, quantity, kinds, *numbers in document["judged"]
        ),
        source=ModelSource.from_plain(document["provenance"]),
    )


def _short(value: float) -> float:
    return int(value) if value == int(value) else round(value, 4)
