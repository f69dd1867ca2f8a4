# SPDX-License-Identifier: Apache-2.0
"""The file that says how a design of others is read: `design.toml`, one in a folder."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.toml_file import read_toml

FILE = "design.toml"
_TEXTS, _LISTS = ("top", "waves", "instance", "origin"), ("files", "make", "parameters", "set")
_NEEDED = ("top", "waves", "instance", "files")


@dataclass(frozen=True)
class ForeignDesign:
    """A design of others.

    Attributes:
        folder: Of its file; names in it are from there.
        top: Module that is the design.
        files: File lists.
        waves: Recording.
        instance: Path of the design in the recording.
        make: Commands that make the recording, run in the folder if there is none.
        parameters: Of the top, NAME=VALUE each.
        set: Keys of the campaign, KEY=VALUE each, as for `resil run --set`.
        origin: Where it comes from, with revision and licence, for the table.
    """

    folder: Path
    top: str
    files: tuple[str, ...]
    waves: str
    instance: str
    make: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    origin: str = ""

    @property
    def name(self) -> str:
        """That of its folder."""
        return self.folder.name

    def record(self) -> None:
        """Make the recording if there is none.

        Raises:
            HarnessError: A command fails, or they leave no recording.
        """
        waves = self.folder / self.waves
        for command in () if waves.exists() else self.make:
            done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, check=False)
            if done.returncode:
                said = (done.stdout + done.stderr)[-600:].decode(errors="replace")
                raise HarnessError(
                    f"{self.folder / FILE}: make: expected a command that ends with 0, found "
                    f"{done.returncode} of `{command}`; correct it:\n{said}",
                    "make",
                )
        if not waves.is_file():
            raise HarnessError(
                f"{self.folder / FILE}: waves: expected the recording {waves}, found no such file; correct "
                "the name, or give the commands that make it: make = [...]",
                "waves",
            )


def read_designs(folder: Path, only: Sequence[str] = ()) -> list[ForeignDesign]:
    """Return the designs in the folders right below `folder`, by name; of these `only` where it is given.

    Raises:
        HarnessError: There is none, one that is asked for is not there, or a file is wrong.
    """
    found = {file.parent.name: file for file in sorted(folder.glob(f"*/{FILE}"))}
    missing = [name for name in only if name not in found]
    if not found or missing:
        raise HarnessError(
            f"{folder}: expected folders with a {FILE} ({', '.join(found) or 'there is none'}), found "
            f"{', '.join(missing) or 'no folder'}; correct the name",
            "folder",
        )
    return [_read(file) for name, file in found.items() if not only or name in only]


def _read(file: Path) -> ForeignDesign:
    _, table = read_toml(file, "file of a design")
    keys = {*_TEXTS, *_LISTS}
    if unknown := sorted(table.keys() - keys):
        raise HarnessError(
            f"{file}: expected the keys {', '.join(sorted(keys))}, found {unknown[0]}; correct it", unknown[0]
        )
    if missing := [key for key in _NEEDED if key not in table]:
        raise HarnessError(f"{file}: expected the key {missing[0]}, found none; add it", missing[0])
    return ForeignDesign(folder=file.parent.resolve(), **{key: _value(file, key, table) for key in table})


def _value(file: Path, key: str, table: Mapping[str, object]) -> object:
    value = table[key]
    if key in _LISTS:
        if isinstance(value, list) and all(isinstance(own, str) for own in value):
            return tuple(value)
    elif isinstance(value, str):
        return value
    wanted = "a list of texts" if key in _LISTS else "a text"
    raise HarnessError(f"{file}: {key}: expected {wanted}, found {value!r}; correct it", key)
