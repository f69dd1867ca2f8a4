# SPDX-License-Identifier: Apache-2.0
"""Ways to have a set confirmed that nothing tested, tried on a small design from end to end."""

from __future__ import annotations

import shutil

import pytest

from resil.errors import StoreError
from resil.folder.looks import LEDGER
from resil.protection.ledger import HEAD
from testkit.errors import about
from tests.resil.protection.built_stepper import PAIRS, protect_stepper, stepper_work_file, verified


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacks")
    protect_stepper(folder, PAIRS)
    return folder


@pytest.fixture
def again(made, tmp_path, monkeypatch):
    monkeypatch.setenv("RESIL_DATA", str(tmp_path / "data"))
    # As deep as it was made: the build names sources by where they lie from there.
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_judge_that_calls_nothing_wrong_is_refused(again):
    """As a threshold of 1e9 does: of one element the index of the largest is always the first."""
    file = stepper_work_file(again, "lax", 3, PAIRS)
    text = file.read_text().replace('decision = "exact"', 'decision = "top1"')
    file.write_text(text.replace("shape = [12]", "shape = [1]"))
    with pytest.raises(StoreError, check=about("--verify-network.refuses")):
        verified(again, "lax")
    assert not (again / "built" / "confirmation.json").exists()


def test_a_judge_that_watches_what_nothing_writes_is_refused(again):
    file = stepper_work_file(again, "blind", 4, PAIRS)
    file.write_text(file.read_text().replace("offset = 0", "offset = 400"))
    with pytest.raises(StoreError, check=about("--verify-network.measured")):
        verified(again, "blind")
    assert not (again / "built" / "confirmation.json").exists()


def test_the_workload_that_chose_with_one_bit_changed_is_refused(again):
    stepper_work_file(again, "bit", 1, PAIRS)
    image = again / "bit.hex"
    lines = image.read_text().splitlines(keepends=True)
    image.write_text(f"{int(lines[0], 16) ^ 1:08x}\n" + "".join(lines[1:]))
    with pytest.raises(StoreError, check=about("--verify-network.images")):
        verified(again, "bit")


def test_both_copies_of_the_ledger_cut_alike_are_noticed(again):
    """The fault: with both copies cut to what they were before it, a look had never been."""
    verified(again)
    assert (again / "run" / HEAD).is_file()
    (again / "built" / LEDGER).unlink()
    (again / "data" / LEDGER).unlink()
    stepper_work_file(again, "three", 5, PAIRS)
    with pytest.raises(StoreError, check=about("ledger.head")):
        verified(again, "three")
