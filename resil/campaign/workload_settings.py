# SPDX-License-Identifier: Apache-2.0
"""The table [workload] of a campaign file: what a target of the user's own runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resil.campaign.section import Section

DTYPES = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64"),
)
DECISIONS = ("exact", "top1")
SUFFIXES = (".bin", ".hex", ".npy")
_WAYS = ("file", "files", "inputs")


@dataclass(frozen=True)
class ImageSettings:
    """Part of the initial content of a memory.

    Attributes:
        memory: Name of one of the target's memories.
        offset: Byte in it at which the part begins.
        way: "file" for one file that all inputs share, "files" for one file an input, "inputs" for one
            .npy file whose first axis counts the inputs.
        files: Absolute paths.
    """

    memory: str
    offset: int
    way: str
    files: tuple[Path, ...]


@dataclass(frozen=True)
class OutputSettings:
    """Where the output tensor lies at the end.

    Attributes:
        memory: Name of one of the target's memories.
        offset: Byte in it at which the tensor begins.
        shape: Of the tensor.
        dtype: Of its elements, little endian; one of `DTYPES`.
        expected: .npy file of what the run without a fault must give, the inputs on its first axis; None
            for no such check.
    """

    memory: str
    offset: int
    shape: tuple[int, ...]
    dtype: str
    expected: Path | None


@dataclass(frozen=True)
class WorkloadSettings:
    """What runs on the target.

    Attributes:
        name: For people.
        images: Contents of memories; all else is zero.
        output: The output tensor.
        decision: "exact": any difference of the output changes the decision; "top1": only another index
            of the largest element does.
        operations: Names of the operations in their order, for reports; may be empty.
        parameters: Parameters of the top that replace those of the target.
    """

    name: str
    images: tuple[ImageSettings, ...]
    output: OutputSettings
    decision: str
    operations: tuple[str, ...] = ()
    parameters: Mapping[str, int] = field(default_factory=dict)


def read_workload(section: Section, name: str) -> WorkloadSettings:
    """Check the table [workload]; `name` is what it is called if the table does not say.

    Raises:
        CampaignError: a key is missing, unknown, of the wrong type or out of range, or a file is missing.
    """
    settings = WorkloadSettings(
        name=section.text("name", name),
        images=read_images(section),
        output=_output(section.table("output", "a table [workload.output]")),
        decision=section.choice("decision"),
        operations=_operations(section),
        parameters=read_parameters(section),
    )
    section.finish()
    return settings


def read_images(section: Section) -> tuple[ImageSettings, ...]:
    """Take the contents of memories."""
    return tuple(_image(table) for table in section.tables("images", "one [[workload.images]] a memory"))


def _image(section: Section) -> ImageSettings:
    memory = section.text("memory")
    offset = section.integer("offset")
    given = [way for way in _WAYS if section.has(way)]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise section.fail(
            "file",
            "one of the keys file (for all inputs), files (one an input) and inputs (a .npy file with the "
            "inputs on its first axis)",
            found,
            "keep one",
        )
    way = given[0]
    files = (
        section.paths(way, f"a list of files {_suffixes()}")
        if way == "files"
        else (section.path(way, f"a file {_suffixes()}"),)
    )
    for file in files:
        if file.suffix not in SUFFIXES or (way == "inputs" and file.suffix != ".npy"):
            wanted = "a .npy file" if way == "inputs" else f"a file {_suffixes()}"
            section.wrong(way, wanted, f'"{file.name}"', "convert it, or correct the name")
    section.finish()
    return ImageSettings(memory, offset, way, files)


def _suffixes() -> str:
    return "that ends in " + ", ".join(SUFFIXES)


def _output(section: Section) -> OutputSettings:
    shape = section.raw("shape", "a list of sizes")
    sizes = shape if isinstance(shape, list) else []
    if not sizes or not all(type(size) is int and 0 < size <= 2**31 for size in sizes):
        section.wrong("shape", "a list of sizes of at least 1", repr(shape), "change the value")
    settings = OutputSettings(
        memory=section.text("memory"),
        offset=section.integer("offset"),
        shape=tuple(sizes),
        dtype=section.choice("dtype"),
        expected=section.path("expected", "a .npy file") if section.has("expected") else None,
    )
    section.finish()
    return settings


def _operations(section: Section) -> tuple[str, ...]:
    if not section.has("operations"):
        return ()
    names = section.raw("operations", "a list of names")
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        section.wrong("operations", "a list of names", repr(names), "change the value")
        return ()
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        section.wrong("operations", "different names", f"{twice[0]!r} twice", "number them")
    return tuple(names)


def read_parameters(section: Section) -> dict[str, int]:
    """Take the parameters of the top, if there are any."""
    if not section.has("parameters"):
        return {}
    values = section.raw("parameters", "a table of integers")
    whole = isinstance(values, dict) and all(type(value) is int for value in values.values())
    if not isinstance(values, dict) or not whole:
        section.wrong("parameters", "a table of integers", repr(values), "change the value")
        return {}
    return dict(values)
