# SPDX-License-Identifier: Apache-2.0
"""On real RTL: an output that the design never writes was 0 SDC, MET, exit 0, without a note."""

from __future__ import annotations

import pytest

from resil.cli import main
from resil.files import read_json

BUDGET = '\n[budget]\nfit = 1000.0\nrationale = "met by whatever is not seen"\n'


@pytest.mark.parametrize(
    ("changes", "failed"),
    [
        ({}, set()),
        ({"offset = 0": "offset = 400", "[12, 4]": "[4, 2]"}, {"written", "varies"}),
        ({'"sink"\noffset': '"source"\noffset', '"uint64"': '"uint32"'}, {"written"}),
    ],
    ids=["right", "never written", "input memory"],
)
def test_an_output_at_the_wrong_place_is_not_met(repository, tmp_path, capsys, changes, failed):
    example = repository / "examples" / "awkward"
    text = (example / "campaign.toml").read_text()
    paths = {f'"{name}"': f'"{example / name}"' for name in ("target.toml", "source0.hex", "source1.hex")}
    smaller = {"injections = 400": "injections = 40", "block = 40": "block = 8"}
    for old, new in {**paths, **smaller, **changes}.items():
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "campaign.toml"
    file.write_text(text + BUDGET)
    code = main(["run", str(file), "--out", str(tmp_path / "run")])
    summary = read_json(tmp_path / "run" / "summary.json", "")
    found = {check["name"] for check in summary["sanity"]["checks"] if check["state"] == "failed"}
    assert failed <= found
    assert (code, summary["verdict"]["result"]) == ((3, "not assessed") if failed else (0, "met"))
    assert bool(found) == ("Expected the design to write its output" in capsys.readouterr().err)
