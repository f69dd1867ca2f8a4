# SPDX-License-Identifier: Apache-2.0
"""A study of two small designs on the fast engine, from their RTL to the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from resil.cli import main
from testkit.stored_rows import rows

AWKWARD = Path(__file__).parents[3] / "examples" / "awkward"
STUDY = """
[study]
name = "two small designs"
seed = 11
[[target]]
file = "plain.toml"
[[target]]
file = "coarse.toml"
[[workload]]
name = "two pages"
decision = "exact"
parameters = {{ SourceWords = 64 }}
images = [{{ memory = "source", files = ["{0}/source0.hex", "{0}/source1.hex"] }}]
output = {{ memory = "sink", offset = 0, shape = [12, 4], dtype = "uint64" }}
[[workload]]
name = "no such memory"
images = [{{ memory = "sauce", file = "{0}/source0.hex" }}]
output = {{ memory = "sink", offset = 0, shape = [12, 4], dtype = "uint64" }}
[faults]
kinds = ["ff", "sram"]
injections = 120
[sampling]
plan = "uniform"
[technology]
name = "finfet-16nm"
[budget]
fit = 1000.0
rationale = "anything will do"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    text = (AWKWARD / "target.toml").read_text().replace('"rtl/', f'"{AWKWARD}/rtl/')
    (folder / "plain.toml").write_text(text)
    coarse = text.replace('even = ["u_dut.u_lanes.g_lane[0]", "u_dut.u_lanes.g_lane[2]"]\n', "")
    assert coarse != text
    (folder / "coarse.toml").write_text(coarse.replace('name = "awkward"', 'name = "coarse"'))
    (folder / "study.toml").write_text(STUDY.format(AWKWARD))
    code = main(["study", str(folder / "study.toml"), "--out", str(folder / "out"), "--quiet"])
    return code, folder / "out"


def test_cells_that_can_run_are_injected_and_the_others_say_why(study):
    code, out = study
    found = json.loads((out / "study.json").read_text())
    assert [cell["verdict"] for cell in found["cells"]] == ["met", "failed", "met", "failed"]
    assert "sauce" in found["cells"][1]["error"]
    assert (code, found["verdict"]["result"]) == (2, "inconclusive")
    assert rows(out / "plain" / "two-pages").num_rows == 120
    blocks = [
        {row["block"] for row in cell["results"]["blocks"]} for cell in (found["cells"][0], found["cells"][2])
    ]
    assert blocks[0] - blocks[1] == {"even"}
    assert {row["register_class"] for row in found["classes"]} > {"control"}


def test_a_cell_has_both_views_of_the_host_with_the_corner_that_decides(study):
    _, out = study
    found = json.loads((out / "study.json").read_text())["cells"][0]["results"]
    verdict = json.loads((out / "plain" / "two-pages" / "summary.json").read_text())["verdict"]
    for view, own in (("aided", verdict), ("unaided", verdict["unaided"])):
        assert found[view]["verdict"] == own["result"]
        assert found[view]["fit"] == [own["fit"], own["fit_lo"], own["fit_hi"]]
        assert (found[view]["corner"], found[view]["corner_fit"]) == (own["corner"], own["corner_fit"])
        assert found[view]["corner_fit"][2] > found[view]["fit"][2]


def test_a_finished_cell_is_a_run_that_other_commands_take(study, capsys):
    _, out = study
    cell = out / "plain" / "two-pages"
    assert main(["report", str(cell)]) == 0
    assert main(["compare", str(cell), str(out / "coarse" / "two-pages")]) == 0
    assert "two-pages" in capsys.readouterr().out


def test_protection_is_built_and_confirmed_on_rtl(tmp_path):
    """A set for a page of words, confirmed on another that took no part."""
    plain = (AWKWARD / "target.toml").read_text().replace('"rtl/', f'"{AWKWARD}/rtl/')
    (tmp_path / "plain.toml").write_text(plain)
    campaign = (AWKWARD / "campaign.toml").read_text().replace('"target.toml"', f'"{AWKWARD}/target.toml"')
    (tmp_path / "other.toml").write_text(
        campaign.replace('"source0.hex", "source1.hex"', f'"{AWKWARD}/source1.hex"')
    )
    text = STUDY.format(AWKWARD).replace("injections = 120", "injections = 4000").replace("1000.0", "0.015")
    text = text.replace(f', "{AWKWARD}/source1.hex"', "")
    text = text.replace('[[target]]\nfile = "coarse.toml"\n', "").replace('["ff", "sram"]', '["ff"]')
    second = text.index('[[workload]]\nname = "no such memory"')
    text = text[:second] + text[text.index("[faults]") :]
    wanted = 'granularity = "register"\nbudget_fit = 0.008\noptions = "own.toml"\n'
    (tmp_path / "own.toml").write_text('exclude = ["hardened_light", "hardened_leap_dice", "lockstep"]\n')
    (tmp_path / "study.toml").write_text(f'{text}[protection]\n{wanted}verify_networks = ["other.toml"]\n')
    command = ["study", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--quiet"]
    main(command)
    (row,) = json.loads((tmp_path / "out" / "study.json").read_text())["protection"]
    assert (row["result"], row["confirmed"]) == ("reached", True), row["reason"]
    assert (tmp_path / "out" / "protected" / "plain-1" / "confirmation.json").is_file()
    # Other RTL is not what was confirmed.
    (source,) = (tmp_path / "out" / "protected" / "plain-1" / "rtl").glob("resil_flop.sv")
    source.write_text(source.read_text() + "// as before\n")
    main(command)
    (row,) = json.loads((tmp_path / "out" / "study.json").read_text())["protection"]
    assert (row["result"], row["confirmed"]) == ("not assessed", None)
    assert "its RTL was changed since it was built" in row["reason"]


OTHERS = """
[study]
name = "designs that share nothing"
seed = 5
[[target]]
file = "{awkward}/target.toml"
[[target]]
file = "{smooth}/target.toml"
[[workload]]
name = "pages"
targets = ["awkward-target"]
decision = "exact"
parameters = {{ SourceWords = 64 }}
images = [{{ memory = "source", file = "{awkward}/source0.hex" }}]
output = {{ memory = "sink", offset = 0, shape = [12, 4], dtype = "uint64" }}
[[workload]]
name = "recorded"
targets = ["recording-target"]
waves = "{smooth}/smooth.vcd"
instance = "smooth_tb.u_dut"
[faults]
kinds = ["ff"]
injections = 400
[sampling]
plan = "uniform"
[technology]
name = "finfet-16nm"
[protection]
granularity = "register"
fit_share = 0.5
"""


def test_designs_of_others_in_one_study(tmp_path):
    """Target files of one name, each with a workload of its own: cells, matrix, and a set for each."""
    text = OTHERS.format(awkward=AWKWARD, smooth=AWKWARD.parent / "recording")
    (tmp_path / "study.toml").write_text(text)
    code = main(["study", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--quiet"])
    found = json.loads((tmp_path / "out" / "study.json").read_text())
    cells = {(cell["target"], cell["network"]): cell for cell in found["cells"]}
    assert set(cells) == {("awkward-target", "pages"), ("recording-target", "recorded")}
    assert all(cell["results"]["injections"] == 400 for cell in cells.values())
    assert [row["target"] for row in found["protection"]] == ["awkward-target", "recording-target"]
    assert all(row["result"] != "not assessed" for row in found["protection"])
    assert code == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "not in the study" in page
