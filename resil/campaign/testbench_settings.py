# SPDX-License-Identifier: Apache-2.0
"""The table [workload] of a campaign file with `cocotb`: a test that drives the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resil.campaign.recording_settings import RECORDED_KEYS, RecordingSettings, read_recorded
from resil.campaign.section import Section
from resil.campaign.workload_settings import read_parameters

TESTBENCH_KEYS = (
    "name",
    "cocotb",
    "record",
    "python_path",
    "plusargs",
    "env",
    "files",
    "failures",
    "parameters",
)


@dataclass(frozen=True)
class TestbenchSettings:
    """A cocotb test of the user's, unchanged.

    Attributes:
        name: For people.
        module: Its Python module, with dots.
        test: Its name in it.
        record: It is recorded, and the recording replayed; None where the engine decides.
        python_path: Absolute folders in which modules are found.
        plusargs: Of the simulator.
        environment: Variables of its environment.
        files: What it reads beside modules, by the path relative to the campaign file.
        failures: Names of exceptions that count as a failed test.
        replay: How a recording of it is replayed; its waves are made when it runs.
        parameters: Of the top, in place of the target's.
    """

    __test__ = False

    name: str
    module: str
    test: str
    record: bool | None
    python_path: tuple[Path, ...]
    replay: RecordingSettings
    plusargs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    parameters: Mapping[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Module and test, as the file has them."""
        return f"{self.module}:{self.test}"

    @property
    def decision(self) -> str:
        """Name of the rule by which runs are judged."""
        return "test"


def read_testbench_settings(section: Section, name: str) -> TestbenchSettings:
    """Check the table; `name` is what it is called if the table does not say.

    Raises:
        CampaignError: a key is missing, unknown, of the wrong type or out of range, or a file is missing.
    """
    label = section.text("cocotb")
    module, _, test = label.partition(":")
    if section.sound("cocotb") and (not test or not all(part.isidentifier() for part in module.split("."))):
        section.wrong("cocotb", 'a module and a test, as "test_fifo:fills_up"', f'"{label}"', "correct it")
    record = section.flag("record") if section.has("record") else None
    own_name, parameters = section.text("name", name), read_parameters(section)
    settings = TestbenchSettings(
        own_name,
        module,
        test,
        record,
        _python_path(section),
        read_recorded(section, own_name, (), "", parameters),
        section.texts("plusargs"),
        _environment(section),
        _files(section),
        section.texts("failures"),
        parameters,
    )
    section.finish(only=(*TESTBENCH_KEYS, *RECORDED_KEYS))
    return settings


def _python_path(section: Section) -> tuple[Path, ...]:
    names = section.texts("python_path") if section.has("python_path") else (".",)
    if section.has("python_path") and not names:
        section.wrong("python_path", "at least one folder", "none", "name one, or remove the key")
    return tuple(section.existing_folder("python_path", name) for name in names)


def _environment(section: Section) -> dict[str, str]:
    if not section.has("env"):
        return {}
    expected = 'a table of strings, { DEPTH = "8" }'
    value = section.raw("env", expected)
    if not isinstance(value, dict) or not all(isinstance(own, str) for own in value.values()):
        section.wrong("env", expected, repr(value), "put the values in quotes")
        return {}
    return dict(value)


def _files(section: Section) -> dict[str, Path]:
    if not section.has("files"):
        return {}
    expected = "a list of paths below the folder of the campaign file"
    found = section.paths("files", expected)
    named = section.raw("files", expected)
    names = [str(own) for own in named] if isinstance(named, list) else []
    for name in names:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            section.wrong("files", expected, f'"{name}"', "move the file, or the campaign file")
    return dict(zip(names, found, strict=False))
