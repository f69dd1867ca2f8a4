# SPDX-License-Identifier: Apache-2.0
"""The table [workload]: memory images of the user's own, for any closed target."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from resil.bench.bench import NetworkFacts, OperationFacts
from resil.campaign.campaign import Campaign
from resil.campaign.workload_settings import ImageSettings, OutputSettings, WorkloadSettings
from resil.errors import CampaignError
from resil.record.golden import DIFFERS, EQUAL, GoldenComparison
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.work.decisions import RULES
from resil.work.image_files import array_bytes, read_array, read_image
from resil.work.work import Work


def own_work(campaign: Campaign, settings: WorkloadSettings, target: Target) -> Work:
    """Read the memory images and the expected outputs.

    Raises:
        CampaignError: a file cannot be read, files do not fit together, or a memory is none of the target's.
    """
    for key, memory in _named_memories(settings):
        _memory(campaign, target, key, memory)
    if campaign.inferences > 1 and not target.inferences:
        raise CampaignError(
            f"{campaign.file}: [campaign] inferences: expected 1 for target {target.name}, which names no "
            "output that counts finished inferences, found 2; name one in the target file: inferences = ...",
            "campaign.inferences",
        )
    parts = [contents_of(image, target.memories[image.memory]) for image in settings.images]
    count = _inputs(campaign, settings, parts)
    output = OutputSpec(
        settings.output.memory, settings.output.offset, settings.output.shape, settings.output.dtype
    )
    workloads = tuple(
        Workload(
            f"{settings.name}, input {number}",
            laid_out(campaign, settings.images, [part[number % len(part)] for part in parts]),
            output,
            dict(settings.parameters),
            settings.operations,
            inferences=campaign.inferences,
            decide=RULES[settings.decision],
        )
        for number in range(count)
    )
    digest = _sha256(workloads)
    operations = tuple(OperationFacts(i, name, "", None) for i, name in enumerate(settings.operations))
    facts = NetworkFacts(settings.name, str(campaign.file), digest, operations, 0, None, settings.decision)
    expected = _expected(settings.output, count)
    return Work(
        facts,
        tuple(range(count)),
        tuple((workload,) for workload in workloads),
        {"workload": digest},
        expected,
        compare=lambda outputs: _comparison(settings.output, expected, outputs),
    )


def _named_memories(settings: WorkloadSettings) -> list[tuple[str, str]]:
    named = [(f"images[{i}] memory", image.memory) for i, image in enumerate(settings.images)]
    return [*named, ("output memory", settings.output.memory)]


def _memory(campaign: Campaign, target: Target, key: str, name: str) -> TargetMemory:
    if name not in target.memories:
        known = ", ".join(target.memories) or "none"
        raise CampaignError(
            f"{campaign.file}: [workload] {key}: expected a memory of target {target.name} ({known}), found "
            f'"{name}"; correct the name, or add the memory to the target file',
            f"workload.{key.replace(' ', '.')}",
        )
    return target.memories[name]


def contents_of(image: ImageSettings, memory: TargetMemory) -> list[bytes]:
    """Return the bytes of one image: one entry for all inputs, or one for each."""
    if image.way == "inputs":
        return [array_bytes(part) for part in read_array(image.files[0])]
    return [read_image(file, memory.word_bytes) for file in image.files]


def _inputs(campaign: Campaign, settings: WorkloadSettings, parts: Sequence[Sequence[bytes]]) -> int:
    counts = {
        f"images[{i}] {image.way}": len(part)
        for i, (image, part) in enumerate(zip(settings.images, parts, strict=True))
        if image.way != "file"
    }
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{key} has {count}" for key, count in counts.items())
        raise CampaignError(
            f"{campaign.file}: [workload]: expected the same number of inputs everywhere, found: {found}; "
            "give each image one file for all inputs or one for each",
            "workload",
        )
    return next(iter(counts.values()), 1)


def laid_out(
    campaign: Campaign, images: Sequence[ImageSettings], contents: Sequence[bytes]
) -> dict[str, bytes]:
    """Return the bytes of each memory: its images put together; what lies between them is zero.

    Raises:
        CampaignError: Two images of a memory overlap.
    """
    whole: dict[str, bytearray] = {}
    taken: dict[str, list[tuple[int, int, str]]] = {}
    for image, content in zip(images, contents, strict=True):
        start, end = image.offset, image.offset + len(content)
        for first, last, other in taken.get(image.memory, []):
            if start < last and first < end:
                raise CampaignError(
                    f"{campaign.file}: [workload] images: {image.files[0].name} at bytes {start} to "
                    f"{end - 1} of {image.memory} overlaps {other} at {first} to {last - 1}; move one",
                    "workload.images",
                )
        taken.setdefault(image.memory, []).append((start, end, image.files[0].name))
        memory = whole.setdefault(image.memory, bytearray())
        memory.extend(bytes(max(0, end - len(memory))))
        memory[start:end] = content
    return {name: bytes(content) for name, content in whole.items()}


def _sha256(workloads: Sequence[Workload]) -> str:
    state = sha256()
    for workload in workloads:
        for name, image in sorted(workload.images.items()):
            state.update(f"{name} {len(image)} ".encode() + image)
        state.update(repr((workload.output, sorted(workload.parameters.items()))).encode())
    return state.hexdigest()


def _comparison(
    output: OutputSettings, expected: Sequence[bytes], outputs: Sequence[bytes]
) -> GoldenComparison:
    """Return how raw outputs compare with the expected ones, from which none may differ."""
    if output.expected is None:
        return GoldenComparison.none("a workload of memory images names no file of expected outputs")
    found, wanted = (np.frombuffer(b"".join(own), output.dtype) for own in (outputs, expected))
    differing = int((found != wanted).sum())
    return GoldenComparison(
        state=DIFFERS if differing else EQUAL,
        reference=f"the file of expected outputs {output.expected.name}",
        inputs=len(outputs),
        elements=found.size,
        differing=differing,
        text="",
    )


def _expected(output: OutputSettings, count: int) -> tuple[bytes, ...]:
    if output.expected is None:
        return ()
    array = read_array(output.expected)
    wanted = {(count, *output.shape)} | ({output.shape} if count == 1 else set())
    if array.dtype != np.dtype(output.dtype) or array.shape not in wanted:
        raise CampaignError(
            f"{output.expected}: expected {output.dtype} {(count, *output.shape)}, the outputs of {count} "
            f"inputs, found {array.dtype} {array.shape}; save what the model of the design gives",
            "workload.output.expected",
        )
    tensors = array.reshape(count, *output.shape)
    return tuple(array_bytes(tensor) for tensor in tensors)
