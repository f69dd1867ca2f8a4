# SPDX-License-Identifier: Apache-2.0
"""A campaign runs on the RTL that was there when it began, whatever becomes of the files meanwhile."""

import shutil

import pytest

from resil.campaign.campaign import load_campaign
from resil.prepare import targets
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.rtl_harness.design.snapshot import rtl_digest


class StoppedError(Exception):
    pass


@pytest.fixture
def example(tmp_path, repository):
    shutil.copytree(repository / "examples" / "awkward", tmp_path / "awkward")
    return tmp_path / "awkward"


def test_a_file_that_is_swapped_while_a_run_goes_on_is_not_taken(example, monkeypatch):
    """The fault: what was built late was built from other files; 185 of 400 rows were of another design."""
    seen = []

    def stop(target, parameters):
        seen.append(target)
        raise StoppedError

    monkeypatch.setattr(targets, "elaborate", stop)
    with pytest.raises(StoppedError):
        prepare(load_campaign(example / "campaign.toml"), Progress())
    before = rtl_digest(seen[0])
    source = example / "rtl" / "control.sv"
    kept = next(path for path in seen[0].sources if path.name == "control.sv").read_text()
    source.write_text(source.read_text() + "// other\n")
    assert rtl_digest(seen[0]) == before
    assert kept == next(path for path in seen[0].sources if path.name == "control.sv").read_text()
    assert source not in seen[0].sources
