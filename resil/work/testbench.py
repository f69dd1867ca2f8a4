# SPDX-License-Identifier: Apache-2.0
"""The table [workload] with `cocotb`: a test that drives the target, or a recording of it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from resil.bench.bench import NetworkFacts
from resil.campaign.campaign import Campaign
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.testbench_digest import digest_of_test
from resil.campaign.testbench_settings import TestbenchSettings
from resil.progress import Progress
from resil.record.golden import GoldenComparison
from resil.rtl_harness.cache import cached_folder, content_key, file_digest
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.declaration import GOLDEN_LIMIT_CYCLES
from resil.rtl_harness.engine.testbench import CocotbTest, Driven
from resil.rtl_harness.engine.workload import driven_workload
from resil.rtl_harness.replay.bench import INSTANCE
from resil.work.work import Work

TEST_DECIDES = (
    "The test itself decides: what it does not check is not seen, and a run that it passes with another "
    "state at its end is latent."
)


def driven_design(campaign: Campaign, settings: TestbenchSettings, target: Target) -> Driven:
    """Return the design and the test that drives it.

    Args:
        campaign: Whose seed is that of the test's random numbers.
        settings: Its table.
        target: Without a bench; or one that a recording has closed, whose design is that of its origin.
    """
    bare = frozen(target if target.replay is None else load_target(target.replay.of))
    parameters = {**bare.parameters, **settings.parameters}
    test = CocotbTest(
        settings.module,
        settings.test,
        campaign.seed,
        settings.python_path,
        settings.plusargs,
        settings.environment,
        settings.failures,
        settings.files,
    )
    return Driven(test, bare, parameters, INSTANCE)


def tested_work(campaign: Campaign, settings: TestbenchSettings, driven: Driven) -> Work:
    """Return what runs: the test, with each fault.

    Raises:
        CampaignError: its modules cannot be read.
    """
    digest = digest_of_test(settings, campaign.seed)
    facts = NetworkFacts(
        settings.name, str(campaign.file), digest, (), 0, None, settings.decision, remarks=(TEST_DECIDES,)
    )
    workload = driven_workload(f"{settings.name}, test {settings.label}", driven)
    return Work(
        facts,
        (0,),
        ((workload,),),
        {"test": digest},
        compare=lambda _outputs: GoldenComparison.none("the test that drives the target has passed"),
    )


def recorded_settings(
    campaign: Campaign, settings: TestbenchSettings, target: Target, progress: Progress | None = None
) -> RecordingSettings:
    """Run the test once without a fault, and return how what it drove is replayed.

    The recording lies in the cache under the digest of its content: one that is the same is the same file.

    Raises:
        HarnessError: The test does not pass, or the design cannot be built.
    """
    from resil.rtl_harness.engine.reference.testbench import record_test

    driven = driven_design(campaign, settings, target)
    if progress is not None:
        progress.stage(f"recording the test {settings.label}")
    limit = int(campaign.execution.options.get("golden_limit", 0)) or GOLDEN_LIMIT_CYCLES
    with tempfile.TemporaryDirectory(prefix="resil-recording-") as folder:
        file = Path(folder) / f"{settings.test.replace('/', '_')}.vcd"
        record_test(driven, file, limit)

        def keep(place: Path) -> None:
            (place / file.name).write_bytes(file.read_bytes())

        kept = cached_folder("recording", content_key(file_digest(file), file.name), keep) / file.name
    return replace(settings.replay, waves=(kept,), instance=driven.design.top)
