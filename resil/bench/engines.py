# SPDX-License-Identifier: Apache-2.0
"""Engines by name, as they are declared."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from resil.campaign.engines import engine_named, engines
from resil.errors import ResilError
from resil.rtl_harness.engine.contract import CampaignEngine, RecordingEngine
from resil.rtl_harness.faults import Fault, Injection


def recording_engine() -> str:
    """Return the name of the first engine that writes waveforms."""
    return next(engine.name for engine in engines() if engine.check_waves is not None)


def check_waves(waves: Path, engine: str | None) -> None:
    """Refuse, before anything is built, a waveform that could not be written.

    Args:
        waves: Where it shall go.
        engine: The engine that was asked for; None for any.

    Raises:
        HarnessError: the engine writes no waveforms of that format, or not with what is installed.
        ResilError: this engine writes none, or there is no such folder.
    """
    check = engine_named(engine or recording_engine()).check_waves
    if check is None:
        raise ResilError(
            f"--waves: the {engine} engine writes no waveforms; add --engine {recording_engine()}", "--waves"
        )
    if not waves.absolute().parent.is_dir():
        raise ResilError(
            f"{waves}: cannot be written, its folder does not exist; make it or choose another file",
            "--waves",
        )
    if waves.is_dir():
        raise ResilError(f"{waves}: cannot be written, it is a folder; choose another file", "--waves")
    check(waves)


def replay(engine: CampaignEngine, fault: Fault, waves: Path | None) -> Injection:
    """Simulate one fault by itself, with its waveform if `waves`, as `check_waves` allows it, is given."""
    if waves is None:
        return engine.replay(fault)
    return cast(RecordingEngine, engine).replay(fault, waves)
