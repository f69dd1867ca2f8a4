# SPDX-License-Identifier: Apache-2.0
"""A verdict that joins a campaign of upsets with one of stuck bits, on a small design."""

import json
import shutil

import pytest

from resil.cli import main

SAFETY = """
[safety]
asil = "B"
claims = ["spfm_transient", "spfm_permanent", "lfm_permanent", "pmhf_share", "sensitivity"]
pmhf_fit = 50.0
pmhf_rationale = "half of the item's, for the test"
permanent = "stuck"
lifetime_hours = 1e5
[[safety.mechanism]]
alarm = "error"
coverage = 0.5
storage = ["u_dut.u_control.round_q"]
"""


@pytest.fixture(scope="module")
def folder(repository, tmp_path_factory):
    """A folder with both campaigns, the one of stuck bits finished in `stuck`."""
    folder = tmp_path_factory.mktemp("joined")
    text = (repository / "examples" / "awkward" / "campaign.toml").read_text()
    for old, new in (
        ('"target.toml"', f'"{repository}/examples/awkward/target.toml"'),
        ('"source0.hex", "source1.hex"', f'"{repository}/examples/awkward/source0.hex"'),
    ):
        assert old in text
        text = text.replace(old, new)
    stuck = text.replace("injections = 400", 'injections = 400\nmodel = "stuck_at"')
    (folder / "stuck.toml").write_text(stuck)
    (folder / "upsets.toml").write_text(text + SAFETY)
    (folder / "ended.toml").write_text(stuck.replace("[execution]", '[execution]\nuntil = "detection"'))
    (folder / "other.toml").write_text(stuck.replace('"exact"', '"top1"'))
    assert main(["run", str(folder / "stuck.toml"), "--out", str(folder / "stuck")]) == 0
    return folder


def judge(folder, changes=None):
    text = (folder / "upsets.toml").read_text()
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new)
    file = folder / "judged.toml"
    file.write_text(text)
    code = main(["run", str(file), "--out", str(folder / "upsets")])
    summary = json.loads((folder / "upsets" / "summary.json").read_text())
    return code, summary, {row["name"]: row for row in summary["safety"]["rows"]}


def test_permanent_rows_come_from_the_other_folder(folder):
    code, summary, rows = judge(folder)
    stuck = json.loads((folder / "stuck" / "summary.json").read_text())
    expected = 1 - stuck["total"]["fit"] / stuck["total"]["fit_raw"]
    assert rows["spfm_permanent"]["value"] == pytest.approx(expected)
    assert rows["spfm_permanent"]["lo"] == pytest.approx(
        1 - stuck["total"]["fit_hi"] / stuck["total"]["fit_raw"]
    )
    assert "400 stuck bits of" in rows["spfm_permanent"]["origin"]
    both = summary["total"]["fit"] + stuck["total"]["fit"]
    assert rows["pmhf_share"]["value"] == pytest.approx(both)
    assert "dual-point term over 100,000 hours" in rows["pmhf_share"]["reason"]
    assert rows["lfm_permanent"]["value"] is not None
    assert code == {"met": 0, "missed": 1}.get(summary["safety"]["result"], 3)
    titles = [variation["title"] for variation in summary["safety"]["sensitivity"]]
    assert "base rates of permanent faults highest" in titles


def test_faults_of_the_mechanism_that_nothing_tells_of_are_latent(folder):
    """The storage of the mechanism is 8 of the design's bits; its quiet faults are all that is latent."""
    _, _, rows = judge(folder)
    stuck = json.loads((folder / "stuck" / "summary.json").read_text())
    per_bit = next(s["fit_raw"] / s["bits"] for s in stuck["strata"] if s["kind"] == "ff")
    most = 8 * per_bit / (stuck["total"]["fit_raw"] - stuck["total"]["fit"])
    assert "faults in their logic are not in it" in rows["lfm_permanent"]["reason"]
    assert 1 - most - 1e-12 <= rows["lfm_permanent"]["value"] <= 1.0


@pytest.mark.parametrize(
    ("permanent", "told"),
    [
        ("nowhere", "cannot be used"),
        ("unfinished", "expected a finished run"),
        ("failed", "failed"),
        ("altered", "altered"),
        ("fewer", "expected the 400 injections"),
        ("other", "expected a campaign on the same target and network, found another"),
        ("ended", 'expected a run with [execution] until = "end", found "detection"'),
        ("upsets", 'expected a campaign with [faults] model = "stuck_at", found "upset"'),
    ],
)
def test_a_folder_that_cannot_be_used_leaves_the_rows_unassessed(folder, permanent, told):
    _spoil(folder, permanent)
    code, summary, rows = judge(folder, {'permanent = "stuck"': f'permanent = "{permanent}"'})
    for name in ("spfm_permanent", "lfm_permanent", "pmhf_share"):
        assert rows[name]["state"] == "not assessed"
        assert told in rows[name]["reason"]
    assert summary["safety"]["result"] in ("not assessed", "missed")
    assert code in (1, 3)


def _spoil(folder, name):
    path = folder / name
    if name in ("nowhere", "upsets") or path.exists():
        return
    if name in ("other", "ended"):
        assert main(["run", str(folder / f"{name}.toml"), "--out", str(path)]) == 0
        return
    shutil.copytree(folder / "stuck", path)
    provenance = json.loads((path / "provenance.json").read_text())
    if name == "unfinished":
        provenance["finished"] = None
    elif name == "failed":
        provenance["failed"] = "an audit failed"
    elif name == "altered":
        text = (path / "summary.json").read_text()
        (path / "summary.json").write_text(text.replace('"hang": ', '"hang":  '))
    elif name == "fewer":
        next((path / "injections").glob("part-*.parquet")).unlink()
    (path / "provenance.json").write_text(json.dumps(provenance))


def test_storage_of_a_mechanism_that_is_not_there_is_refused(folder, capsys):
    text = (folder / "upsets.toml").read_text().replace("round_q", "rounds_q")
    (folder / "wrong.toml").write_text(text)
    assert main(["run", str(folder / "wrong.toml"), "--out", str(folder / "wrong")]) == 2
    assert "found none below u_dut.u_control.rounds_q" in capsys.readouterr().err


def test_a_mechanism_that_synthesis_merges_away_is_refused(folder, capsys):
    """The twin of a register that always holds the same is one flip-flop in hardware, and guards nothing."""
    text = (folder / "upsets.toml").read_text().replace("round_q", "twin_q")
    (folder / "wrong.toml").write_text(text)
    assert main(["run", str(folder / "wrong.toml"), "--out", str(folder / "wrong")]) == 2
    assert "synthesis leaves nothing of u_dut.u_control.twin_q" in capsys.readouterr().err


def test_upsets_cannot_be_judged_by_a_campaign_of_stuck_bits(folder, capsys):
    text = (
        (folder / "upsets.toml")
        .read_text()
        .replace("injections = 400", 'injections = 400\nmodel = "stuck_at"')
    )
    (folder / "wrong.toml").write_text(text)
    assert main(["run", str(folder / "wrong.toml"), "--out", str(folder / "wrong")]) == 2
    assert "stuck_at" in capsys.readouterr().err
