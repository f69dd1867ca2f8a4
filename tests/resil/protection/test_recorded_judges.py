# SPDX-License-Identifier: Apache-2.0
"""Recordings that judge protection: none of those that chose it, in another order, window or file."""

import numpy as np
import pytest

from resil.campaign.campaign import load_campaign
from resil.errors import StoreError
from resil.folder.looks import Judge
from resil.protection.judges import differing_cycles, refuse_known_judges, refuse_near_copies
from testkit.errors import about
from tests.resil.protection.test_ledger import look
from tests.resil.work.test_recording import CAMPAIGN, DESIGN, TARGET, recording


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "own.sv").write_text(DESIGN)
    (folder / "target.toml").write_text(TARGET)
    rng = np.random.default_rng(1)
    for name in ("a", "b", "new"):
        recording(folder / f"{name}.vcd", data=rng.integers(0, 16, 300).tolist())
    (folder / "again.vcd").write_text("$comment again $end\n" + (folder / "b.vcd").read_text())
    return folder


def campaign(folder, *names, keys=""):
    waves = "[" + ", ".join(f'"{name}.vcd"' for name in names) + "]"
    file = folder / "campaign.toml"
    file.write_text(CAMPAIGN.replace("WAVES", waves + keys).replace("STROBES", ""))
    return load_campaign(file)


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["b"], ""),
        (["b", "a"], ""),
        (["again"], ""),
        (["new", "again"], ""),
        (["b"], '\nfrom = "500 ns"'),
        (["b"], '\nto = "2000 ns"'),
        (["b"], '\nsampled = "at"'),
    ],
)
def test_a_recording_that_chose_is_refused_in_any_order_window_and_file(folder, names, keys):
    """The fault: only the whole list in its order was compared, so a part of it confirmed the choice."""
    chose = campaign(folder, "a", "b")
    with pytest.raises(StoreError, check=about("--verify-network.images")):
        refuse_near_copies({"judge": campaign(folder, *names, keys=keys)}, [chose])
    refuse_near_copies({"judge": campaign(folder, "new", keys=keys)}, [chose])


def test_recordings_are_compared_where_they_lie_along_one_another():
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 256, (400, 3), np.uint8)
    other = rng.integers(0, 256, (400, 3), np.uint8)
    assert differing_cycles(rows, rows[37:]) == 0.0
    assert differing_cycles(rows[:210], rows[100:]) == 0.0
    assert differing_cycles(rows, other) > 0.9
    assert differing_cycles(rows, rows[:, :2]) is None
    # A short piece in common makes no copy.
    assert differing_cycles(rows, np.concatenate([other[:350], rows[:50]])) > 0.5
    # Of rows that come again and again only those at the beginning are compared.
    still = np.zeros((400, 3), np.uint8)
    assert differing_cycles(still, still[:100]) == 0.0


def test_a_recording_that_refused_is_known_by_itself():
    def judge(network):
        return Judge(name=network, network=network, content=network, injections=0)

    failed = look(1).changed(judges=(judge("one+two"),))
    for network in ("two", "one", "one+two", "three+two"):
        with pytest.raises(StoreError, check=about("--verify-network.looks")):
            refuse_known_judges([judge(network)], [(failed, False)])
        refuse_known_judges([judge(network)], [(failed, True)])
    refuse_known_judges([judge("three")], [(failed, False)])
