# SPDX-License-Identifier: Apache-2.0
"""The command line: exit codes, messages without tracebacks, streams."""

from __future__ import annotations

import json
import shutil
import signal

import pytest

from resil.cli import main
from resil.installation import Finding
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.errors import SimulationError, ToolMissingError
from resil.rtl_harness.faults import Reported, Rise, RunEnd
from testkit import fake
from testkit.campaigns import TEXT, write_campaign


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished run on the fake bench, beside its campaign."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        main(["run", str(write_campaign(folder)), "--out", str(folder / "run")])
    return folder


@pytest.fixture
def finished(made, tmp_path, monkeypatch):
    """A copy of it, to be changed."""
    fake.install(monkeypatch)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


def failed(capsys, *arguments, code=2):
    """Run a command that must fail; return what it says on stderr."""
    assert main([str(argument) for argument in arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["run"],
        ["run", "x.toml", "--workers", "0"],
        ["run", "x.toml", "--frobnicate"],
        ["replay", "x", "one"],
        ["estimate", "x.toml"],
        ["protect", "x", "--verify"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments, capsys):
    assert failed(capsys, *arguments)


def test_help_and_version(capsys):
    assert main(["--help"]) == 0
    assert "resil" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("resil ")


BAD = {
    "no network of that name": ("zoo:digits", "zoo:letters", "the zoo has no network 'letters'"),
    "no input of that number": ("[0, 3]", "[100000]", r"[network] inputs: expected indices below "),
    "no target of that name": ("ethos-u55-32", "ethos-u99", "expected the name of a shipped target"),
    "no such technology": ("finfet-16nm", "vacuum-tube", "no technology is named 'vacuum-tube'"),
    "an unknown key": ("minimum_per_block = 10", "minimum = 10", "[faults] minimum: "),
}


@pytest.mark.parametrize("case", BAD)
def test_a_campaign_that_cannot_be_run(case, tmp_path, capsys):
    old, new, message = BAD[case]
    campaign = write_campaign(tmp_path, TEXT.replace(old, new))
    assert message in failed(capsys, "run", campaign, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", [b"", b"not a network", bytes(range(256)) * 8])
def test_an_unreadable_network(content, tmp_path, capsys):
    (tmp_path / "n.tflite").write_bytes(content)
    (tmp_path / "x.npy").write_bytes(b"")
    text = TEXT.replace("[0, 3]", '"x.npy"')
    campaign = write_campaign(tmp_path, text)
    assert "x.npy: expected a .npy file" in failed(capsys, "run", campaign, "--out", tmp_path / "run")
    campaign = write_campaign(tmp_path, text.replace("zoo:digits", "n.tflite"))
    assert "n.tflite: expected a Tensor" in failed(capsys, "run", campaign, "--out", tmp_path / "run")
    assert "n.tflite" in failed(capsys, "infer", tmp_path / "n.tflite", "--input", inputs(tmp_path))


def inputs(folder):
    import numpy as np

    np.save(folder / "good.npy", np.zeros((1, 8, 8, 1), np.int8))
    return folder / "good.npy"


def test_a_target_file_with_an_unknown_key(tmp_path, capsys):
    (tmp_path / "t.toml").write_text('name = "t"\nblokcs = 3\n')
    campaign = write_campaign(tmp_path, TEXT.replace('name = "ethos-u55-32"', 'file = "t.toml"'))
    err = failed(capsys, "run", campaign, "--out", tmp_path / "run")
    assert "t.toml: blokcs: unknown key" in err


def test_a_missing_tool(tmp_path, monkeypatch, capsys):
    def prepare(campaign, progress, simulates=False):
        raise ToolMissingError("expected a C++20 compiler, found none of g++ on PATH; install g++")

    monkeypatch.setattr("resil.run.campaign.prepare", prepare)
    err = failed(capsys, "run", write_campaign(tmp_path), "--out", tmp_path / "run")
    assert err.startswith("resil: error: expected a C++20 compiler")
    assert not (tmp_path / "run").exists()


def test_a_simulator_that_cannot_be_built_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    def golden(self):
        raise SimulationError("make failed with exit code 2; its last lines: no")

    fake.install(monkeypatch)
    monkeypatch.setattr("testkit.fake.FakeEngine.golden", golden)
    err = failed(capsys, "run", write_campaign(tmp_path), "--out", tmp_path / "run")
    assert "make failed with exit code 2" in err
    assert not (tmp_path / "run").exists()


def test_a_network_with_an_operation_that_the_target_lacks(tmp_path, monkeypatch, capsys):
    def golden(self):
        return GoldenRun(
            RunEnd(True, 3000, 0x12, b"", "", (Rise("error", Reported.DETECTED, 2990),)), (2000,)
        )

    fake.install(monkeypatch)
    monkeypatch.setattr("testkit.fake.FakeEngine.golden", golden)
    err = failed(capsys, "run", write_campaign(tmp_path), "--out", tmp_path / "run")
    assert "found status 0x00000012 after 3,000 cycles in operation 1 of kind conv (fc), alarm error" in err
    assert not (tmp_path / "run").exists()


def test_the_default_folder_has_the_name_of_the_campaign(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    campaign = write_campaign(tmp_path, TEXT.replace('"small"', '"../my first/run"'))
    main(["run", str(campaign)])
    assert capsys.readouterr().out.splitlines()[-1] == "report: runs/my-first-run/report.html"
    assert (tmp_path / "runs" / "my-first-run" / "summary.json").exists()


def test_a_terminal_gets_the_same_tables(finished, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["report", str(finished)]) == 0
    out = capsys.readouterr().out
    assert "Hazardous failures by block" in out
    assert "MET: " in out


def test_storage_that_is_no_site_stops_the_run(tmp_path, monkeypatch, capsys):
    from dataclasses import replace

    def prepare(campaign, progress, simulates=False):
        return replace(fake.fake_bench(campaign), unmapped=("u_npu.odd_q: a latch",))

    monkeypatch.setattr("resil.run.campaign.prepare", prepare)
    assert "u_npu.odd_q: a latch" in failed(
        capsys, "run", write_campaign(tmp_path), "--out", tmp_path / "run"
    )


def test_an_error_of_our_own_leaves_its_traceback_in_a_file(tmp_path, monkeypatch, capsys):
    def prepare(campaign, progress, simulates=False):
        raise KeyError("surprise")

    monkeypatch.setattr("resil.run.campaign.prepare", prepare)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    err = failed(capsys, "run", write_campaign(tmp_path), "--out", tmp_path / "run", code=4)
    assert "internal error: KeyError: 'surprise'" in err
    (kept,) = tmp_path.glob("resil-error-*.txt")
    assert str(kept) in err
    assert "Traceback" in kept.read_text()


def test_names_that_no_file_can_have_are_refused(finished, tmp_path, capsys):
    """The fault: the file system refuses a name, and that is taken for an error of resil's own."""
    name = "x" * 5000
    for words in (
        ["protect", finished, name, "--budget-fit", "1"],
        ["protect", finished, "--budget-fit", "1", "--build", name],
        ["run", write_campaign(tmp_path), "--out", name],
        ["infer", name],
        ["merge", name, finished, finished],
        ["compare", finished, name],
        ["report", name],
        ["study", name],
    ):
        err = failed(capsys, *words)
        assert "internal error" not in err
        assert "too long" in err or "expected" in err
    shown = f"{'x' * 60}...: expected a name that a file can have, found one too long; shorten it"
    assert shown in failed(capsys, "protect", finished, name, "--budget-fit", "1")


def test_files_without_end_are_refused(finished, tmp_path, capsys):
    """The fault: all memory is filled from a device."""
    (tmp_path / "link").symlink_to("/dev/urandom")
    for name in ("/dev/zero", tmp_path / "link"):
        for words in (["study", name], ["infer", name], ["infer", "zoo:digits", "--input", name]):
            assert f"{name}: expected a file, found a device that has no end" in failed(capsys, *words)
    assert "no such file" not in failed(capsys, "study", "/dev/null")


@pytest.mark.parametrize("number", [2**63, 10**30, -1])
def test_replay_of_a_number_that_no_injection_can_have(number, finished, capsys):
    assert "expected the number of an injection" in failed(capsys, "replay", finished, "--", number)


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_before_anything_was_begun(signal_number, tmp_path, monkeypatch, capsys):
    def prepare(campaign, progress, simulates=False):
        signal.raise_signal(signal_number)

    monkeypatch.setattr("resil.run.campaign.prepare", prepare)
    err = failed(capsys, "run", write_campaign(tmp_path), "--out", tmp_path / "run", code=130)
    assert err == "resil: interrupted\n"
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_replay_says_whether_the_outcome_is_the_same(finished, tmp_path, capsys):
    waves = tmp_path / "x.vcd"
    assert main(["replay", str(finished), "4", "--waves", str(waves)]) == 0
    out = capsys.readouterr().out
    assert out.endswith("equal\n")
    assert waves.exists()
    assert main(["replay", str(finished), "4", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["equal"]
    assert result["recorded"] == result["replayed"]


def test_replay_with_another_outcome_is_exit_code_4(finished, monkeypatch, capsys):
    assert main(["replay", str(finished), "4", "--json"]) == 0
    site = json.loads(capsys.readouterr().out)["site"]
    fake.install(monkeypatch, lies=site)
    assert main(["replay", str(finished), "4"]) == 4
    assert "NOT EQUAL" in capsys.readouterr().out


def test_replay_of_what_is_not_there(finished, tmp_path, capsys):
    assert "expected injection 123456789" in failed(capsys, "replay", finished, 123456789)
    assert "provenance.json: expected a file" in failed(capsys, "replay", tmp_path / "nothing", 1)
    waves = tmp_path / "no" / "x.fst"
    assert "its folder does not exist" in failed(capsys, "replay", finished, 4, "--waves", waves)


def test_replay_refuses_when_something_has_changed_since(finished, capsys):
    provenance = json.loads((finished / "provenance.json").read_text())
    provenance["definition"]["target"] = "another"
    (finished / "provenance.json").write_text(json.dumps(provenance))
    damaged = failed(capsys, "replay", finished, 4)
    assert "damaged part files were passed over" in damaged


def test_report_writes_the_same_files_again(finished, capsys):
    before = {p.name: p.read_bytes() for p in finished.iterdir() if p.is_file()}
    for name in ("report.html", "blocks.csv", "fmeda.xlsx"):
        (finished / name).unlink()
    assert main(["report", str(finished)]) == 0
    assert {p.name: p.read_bytes() for p in finished.iterdir() if p.is_file()} == before
    assert "Hazardous failures by block" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["", "{", "[1]", "{}", None])
@pytest.mark.parametrize("command", ["report", "protect"])
def test_a_damaged_or_unfinished_run_folder(command, damage, finished, capsys):
    summary = finished / "summary.json"
    summary.unlink()
    if damage is not None:
        summary.write_text(damage)
    before = {p: p.read_bytes() for p in finished.rglob("*") if p.is_file()}
    assert "summary.json" in failed(capsys, command, finished)
    assert {p: p.read_bytes() for p in finished.rglob("*") if p.is_file()} == before


def test_sites_lists_every_bit(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    csv, parquet = tmp_path / "sites.csv", tmp_path / "sites.parquet"
    arguments = ["sites", str(write_campaign(tmp_path)), "--csv", str(csv), "--parquet", str(parquet)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "unmapped sites: 0" in out
    lines = csv.read_text().splitlines()
    assert len(lines) == 1 + fake.SITES.size
    assert lines[0] == '"site","path","word","bit","kind","block","register_class","hardware","same_as"'
    assert parquet.exists()
    assert main([*arguments[:2], "--json"]) == 0
    survey = json.loads(capsys.readouterr().out)
    assert survey["unmapped_sites"] == 0
    assert survey["total"] == {
        "block": "total",
        "ff_bits": 72,
        "macro_bits": 0,
        "sram_bits": 1024,
        "ff_bits_source": 72,
        "macro_bits_source": 0,
        "sram_bits_source": 1024,
        "logic_area": 1324.5,
        "sram_area": 1024.0,
    }
    assert [b["block"] for b in survey["blocks"]] == ["cc", "mac", "sb", "cpm", "(no block)"]


def test_doctor_finds_what_is_here(capsys):
    code = main(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert code == (0 if report["healthy"] else 2)
    assert {"Python", "C++ compiler", "Verilator", "cache folder"} <= {f["item"] for f in report["findings"]}


def test_doctor_says_what_is_missing_and_what_to_do(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("MAKE", "no-such-make")
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("resil.installation._module", lambda item, *_, **__: Finding.of(item, "ok", ""))
    assert main(["doctor"]) == 2
    out = capsys.readouterr().out
    assert sum(line.startswith("missing ") for line in out.splitlines()) == 3
    assert "-> install g++" in out
    assert "-> set RESIL_CACHE" in out
    assert out.endswith("resil cannot run until what is missing is there.\n")
