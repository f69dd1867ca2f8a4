# SPDX-License-Identifier: Apache-2.0
"""Files of a network's inputs and outputs: `.npy` for one tensor, `.npz` for several by name."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resil.errors import CampaignError
from resil.files import write_file
from resil.networks.errors import NetworkError
from resil.networks.parts import Network
from resil.work.image_files import load_npy

Array = npt.NDArray[Any]


def load_levels(compiled: Network, paths: Sequence[Path]) -> tuple[Array, ...]:
    """Return what the NPU is given, for the inputs in files.

    Args:
        compiled: The network.
        paths: A `.npy` file (N, ...) for each input of the network's file, in their order, or one `.npz` file
            with an array for each, by its name; real values, which are quantised as the network says, or
            int8.

    Returns:
        For each input of the NPU its levels, (N, ...), N at least 1.

    Raises:
        CampaignError: a file cannot be read, or does not fit the network.
    """
    names = [tensor.name for tensor in compiled.ends.inputs]
    where = ", ".join(str(path) for path in paths)
    if len(paths) == 1 and paths[0].suffix == ".npz":
        arrays = _by_name(paths[0], names)
    else:
        arrays = [_one(path) for path in paths]
    try:
        levels = compiled.ends.levels(arrays)
    except NetworkError as error:
        raise CampaignError(f"{where}: {error}", error.field) from error
    if not len(levels[0]):
        raise CampaignError(
            f"{where}: expected at least one input, found none; save some with numpy.save", "inputs"
        )
    return levels


def arrays_in(path: Path) -> list[Array]:
    """Return the arrays of a `.npy` or `.npz` file; CampaignError if it holds none."""
    return list(_archive(path).values()) if path.suffix == ".npz" else [_one(path)]


def save_outputs(path: Path, names: Sequence[str], outputs: Sequence[Array]) -> None:
    """Write outputs: one to a `.npy` file, or any number to a `.npz` file by name."""
    write_file(path, lambda temporary: _save(temporary, path.suffix == ".npz", names, outputs))


def check_output_file(path: Path, names: Sequence[str]) -> None:
    """Raise CampaignError unless the outputs of these names fit into a file of that ending."""
    if path.suffix != ".npz" and len(names) > 1:
        raise CampaignError(
            f"{path}: expected a .npz file for {len(names)} outputs ({', '.join(names)}); change its name",
            "file",
        )


def _one(path: Path) -> Array:
    array, found = load_npy(path, "numbers (N, ...)")
    if array is None:
        raise CampaignError(
            f"{path}: expected an array of numbers (N, ...), found {found}; save one of them", "numbers"
        )
    return array


def _by_name(path: Path, names: Sequence[str]) -> list[Array]:
    """Return the arrays of these names, or those that numpy.savez has numbered."""
    found = _archive(path)
    for keys in (list(names), [f"arr_{number}" for number in range(len(names))]):
        if found.keys() == set(keys):
            return [found[key] for key in keys]
    raise CampaignError(
        f"{path}: expected an array for each input ({', '.join(names)}), found {', '.join(found) or 'none'}; "
        "save them by these names",
        "inputs",
    )


def _archive(path: Path) -> dict[str, Array]:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, MemoryError, AttributeError, zipfile.BadZipFile) as error:
        raise CampaignError(
            f"{path}: expected a .npz file of arrays, found: {error}; save one with numpy.savez", "content"
        ) from None
    if not found:
        raise CampaignError(
            f"{path}: expected a .npz file of arrays, found none; save one with numpy.savez", "inputs"
        )
    return found


def _save(path: Path, named: bool, names: Sequence[str], outputs: Sequence[Array]) -> None:
    if not named:
        with path.open("wb") as file:
            np.save(file, outputs[0])
        return
    with zipfile.ZipFile(path, "w") as archive:
        for name, output in _unique(names, outputs).items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, output, allow_pickle=False)


def _unique(names: Sequence[str], outputs: Sequence[Array]) -> Mapping[str, Array]:
    keys = names if len(set(names)) == len(names) else [f"{n}_{i}" for i, n in enumerate(names)]
    return dict(zip(keys, outputs, strict=True))
