# SPDX-License-Identifier: Apache-2.0
"""`resil protect --build --verify` with a watchdog: hangs become detected failures."""

from __future__ import annotations

import json

import pytest

from resil.cli import main
from tests.rtl_harness.redundancy.stepping import stepper_campaign

OPTIONS = (
    'exclude = ["hardened_light", "hardened_leap_dice", "flop_parity", "flop_duplicate", "flop_triplicate"]'
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watchdog")
    (folder / "options.toml").write_text(OPTIONS)
    for name, seed in (("a", 1), ("b", 2), ("c", 3)):
        stepper_campaign(folder, name, seed, 3000)
    main(["run", str(folder / "a.toml"), "--out", str(folder / "run"), "--quiet"])
    return folder


def arguments(folder, share="0.7"):
    own = ["protect", str(folder / "run"), "--granularity", "register", "--fit-share", share]
    return [*own, "--options", str(folder / "options.toml")]


def test_a_plan_with_a_watchdog_is_built_and_hangs_become_detected(made, capsys):
    capsys.readouterr()
    asked = [*arguments(made), "--build", str(made / "built"), "--verify"]
    asked += ["--verify-network", str(made / "b.toml"), "--json"]
    main(asked)
    plan = json.loads(capsys.readouterr().out)
    assert plan["result"] == "optimal", plan["reason"]
    (dog,) = [own for own in plan["mechanisms"] if own["option"] == "watchdog"]
    assert (dog["limit"], dog["watched"]) == (14, ["a"])
    assert plan["built"]["watchdog"] == {"limit": 14, "longest_operation": 9}
    assert plan["built"]["area_measured"]["added"] > 0
    found = plan["confirmation"]
    row = found["networks"][0]
    # Those of `round_q` go on, and are what is left.
    assert row["hangs"] > row["hangs_reported"] > 0.4 * row["hangs"]
    assert found["watchdog"] == {"limit": 14, "false_alarms": []}
    assert found["latent"]["injections"] > 0
    assert (made / "built" / "README.md").read_text().count("stood still for 14 cycles") == 1
