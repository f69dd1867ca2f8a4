# SPDX-License-Identifier: Apache-2.0
"""What is damaged, and which command reads it."""

from __future__ import annotations

import io
import random
import re
import shutil
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq
import typer

import resil.cli.entry
from benchmarks.faults_of_our_own.damages import (
    damaged_bytes,
    damaged_json,
    damaged_toml,
    damaged_words,
)
from resil.cli import main
from resil.cli.app import app
from resil.networks import zoo
from resil.rtl_harness.errors import HarnessError
from testkit import fake
from testkit.campaigns import TEXT

ROOT = Path(__file__).parents[2]
READ = "read: what is slow is not begun"
# Kinds, with the part of the cases that each gets.
KINDS = {
    "campaign": 30,
    "study": 20,
    "target": 16,
    "tflite": 22,
    "npy": 4,
    "part": 1,
    "json": 1.5,
    "options": 5.5,
}
_WORDS = [
    "run", "study", "estimate", "learn", "sites", "protect", "report", "compare", "merge", "replay", "infer",
    "--out", "--workers", "--engine", "--resume", "--dry-run", "--json", "--quiet", "--verbose",
    "--budget-fit",
    "--spfm-target", "--options", "--name", "--build", "--model", "--correct", "--csv", "--parquet",
    "--input", "--output", "--limit", "--npu", "--waves", "--granularity", "--help",
    "--version", "run-folder",
    "campaign.toml", "target.toml", "study.toml", "net.tflite", "x.npy", "doctor",
]  # fmt: skip
_COMMANDS = [
    ["run", "campaign.toml", "--dry-run", "--workers", "2"],
    ["run", "campaign.toml", "--out", "other", "--engine", "cocotb", "--quiet"],
    ["protect", "run-folder", "--budget-fit", "0.1", "--spfm-target", "0.99", "--name", "x"],
    ["report", "run-folder", "--json"],
    ["compare", "run-folder", "run-folder"],
    ["merge", "joined", "run-folder", "run-folder"],
    ["replay", "run-folder", "5", "--engine", "cocotb"],
    ["infer", "net.tflite", "--npu", "ethos-u55-64", "--input", "x.npy", "--limit", "1"],
    ["sites", "campaign.toml", "--csv", "sites.csv"],
    ["learn", "run-folder", "run-folder", "-o", "model.json.gz"],
    ["study", "study.toml", "--dry-run"],
]
_STUDY = """
[study]
name = "pair"
seed = 3
[[target]]
name = "ethos-u55-32"
[[target]]
name = "ethos-u55-64"
[[network]]
path = "zoo:digits"
inputs = [0, 1]
[faults]
kinds = ["ff", "sram"]
injections = 2000
[sampling]
plan = "adaptive"
margin = 0.2
[execution.dask]
cluster = "slurm"
workers = 4
[technology]
name = "finfet-16nm"
[budget]
fit = 0.1
rationale = "a share"
hazardous = ["sdc_critical", "hang"]
"""


def _stop(*_arguments: object, **_names: object) -> None:
    raise HarnessError(READ)


class Desk:
    """A folder with sound inputs of every kind, of which one is damaged at a time.

    Args:
        kind: One of `KINDS`.
        folder: An empty one, the current one.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self._kind, self._folder = kind, folder
        self._make()
        self._patches = [
            patch("resil.run.dry_run.prepare", _stop),
            patch("resil.prepare.bench.work_on", _stop),
            patch("resil.networks.vela.run_vela", _stop),
            patch("resil.work.infer.infer", _stop),
            patch("resil.farm.cluster.Farm.open", _stop),
            patch("resil.run.campaign.prepare", fake.fake_bench),
            patch("resil.run.recorded_bench.prepare", fake.fake_bench),
            # Made once: to make the commands anew takes four times as long as a case.
            patch("resil.cli.entry.app", typer.main.get_command(app)),
        ]
        if kind == "options":
            self._patches += [patch("resil.installation.examine", _stop)]
        for own in self._patches:
            own.start()

    def case(self, chance: random.Random) -> str:
        """Carry one case out: "refused", "read", or what was found."""
        self._restore()
        words = getattr(self, f"_{self._kind}")(chance)
        out, error = io.StringIO(), io.StringIO()
        trace: list[str] = []
        keep = patch.object(resil.cli.entry, "_keep_traceback", lambda: trace.append(_where()) or "no file")
        try:
            with redirect_stdout(out), redirect_stderr(error), keep:
                code = main(words)
        except BaseException as failure:
            return f"raised {type(failure).__name__}: {_where()}"
        text = error.getvalue()
        if READ in text:
            return "read"
        if "internal error: " in text:
            return f"{_plain(text.split('internal error: ')[1])} at {trace[0]}"
        if "Traceback" in text and "--verbose" not in words:
            return "a traceback"
        if code == 2:
            return "refused" if text.strip() else "refused without a word"
        return "read" if code in (0, 1, 3, 4) else f"exit code {code}"

    def _make(self) -> None:
        """Make what is sound."""
        Path("campaign.toml").write_text(TEXT, encoding="utf-8")
        Path("study.toml").write_text(_STUDY, encoding="utf-8")
        self._targets = [
            _absolute(file)
            for file in (
                ROOT / "rtl_harness" / "targets" / "ethos-u55-32.toml",
                *sorted((ROOT / "examples" / "awkward").glob("*target*.toml")),
            )
        ]
        self._more_campaigns = [
            (ROOT / "examples" / name).read_text(encoding="utf-8")
            for name in ("digits.toml", "adaptive.toml", "safety.toml", "stuck_at.toml")
        ]
        self._network = (zoo.FOLDER / "digits.tflite").read_bytes()
        Path("net.tflite").write_bytes(self._network)
        np.save("x.npy", np.zeros((2, 8, 8, 1), np.int8))
        if self._kind not in _WITH_A_RUN:
            return
        silent = io.StringIO()
        with (
            patch("resil.run.campaign.prepare", fake.fake_bench),
            redirect_stdout(silent),
            redirect_stderr(silent),
        ):
            main(["run", "campaign.toml", "--out", "run-folder", "--quiet"])
            main(["protect", "run-folder", "--budget-fit", "0.0005", "--quiet"])
        shutil.copytree("run-folder", "sound")

    def _restore(self) -> None:
        """Put back what an earlier case may have changed."""
        if self._kind in _WITH_A_RUN:
            shutil.rmtree("run-folder", ignore_errors=True)
            shutil.copytree("sound", "run-folder")
        for stray in self._folder.iterdir():
            if stray.name not in _KEPT and self._kind == "options":
                shutil.rmtree(stray) if stray.is_dir() else stray.unlink()
        Path("campaign.toml").write_text(TEXT, encoding="utf-8")

    def _campaign(self, chance: random.Random) -> list[str]:
        text = chance.choice([TEXT, *self._more_campaigns])
        Path("damaged.toml").write_bytes(damaged_toml(text, chance))
        return ["run", "damaged.toml", "--dry-run", "--out", "new"]

    def _study(self, chance: random.Random) -> list[str]:
        Path("damaged.toml").write_bytes(damaged_toml(_STUDY, chance))
        return ["study", "damaged.toml", "--dry-run", "--out", "new"]

    def _target(self, chance: random.Random) -> list[str]:
        text = chance.choice(self._targets)
        Path("target.toml").write_bytes(damaged_toml(text, chance))
        campaign = TEXT.replace('name = "ethos-u55-32"', 'file = "target.toml"')
        Path("campaign.toml").write_text(campaign, encoding="utf-8")
        return ["sites", "campaign.toml"]

    def _tflite(self, chance: random.Random) -> list[str]:
        Path("net.tflite").write_bytes(damaged_bytes(self._network, chance))
        return ["infer", "net.tflite", "--input", "x.npy"]

    def _npy(self, chance: random.Random) -> list[str]:
        stream = io.BytesIO()
        kinds = (np.int8, np.float32, np.float64, np.uint8, np.complex64, "U3", "M8[s]", np.bool_, ">f4")
        shape = chance.choice(((1, 8, 8, 1), (2, 64), (0, 8, 8, 1), (3,), (), (1, 8, 8, 3)))
        np.save(stream, np.zeros(shape, chance.choice(kinds)), allow_pickle=False)
        data = stream.getvalue()
        if chance.random() < 0.5:
            odd = str(chance.choice((-1, 10**6, 2**31, 2**62, 2**63, 10**40)))
            data = re.sub(rb"\d+", odd.encode(), data[:128], count=1) + data[128:]
        Path("x.npy").write_bytes(damaged_bytes(data, chance) if chance.random() < 0.8 else data)
        return ["infer", "zoo:digits", "--input", "x.npy"]

    def _part(self, chance: random.Random) -> list[str]:
        part = chance.choice(sorted(Path("run-folder/injections").glob("*.parquet")))
        if chance.random() < 0.7:
            part.write_bytes(damaged_bytes(part.read_bytes(), chance))
        else:
            table = pq.read_table(part, memory_map=False)
            name = chance.choice(table.column_names)
            values = table[name].to_pylist()
            chance.shuffle(values)
            place = table.column_names.index(name)
            pq.write_table(table.set_column(place, name, [values]), part)
        if chance.random() < 0.1:
            return ["run", "campaign.toml", "--out", "run-folder", "--resume"]
        return [chance.choice(("report", "protect")), "run-folder"]

    def _json(self, chance: random.Random) -> list[str]:
        file = Path("run-folder") / chance.choice(("summary.json", "provenance.json", "protection.json"))
        file.write_bytes(damaged_json(file.read_text(encoding="utf-8"), chance))
        match chance.randrange(5):
            case 0:
                return ["run", "campaign.toml", "--out", "run-folder", "--resume"]
            case 1:
                return ["compare", "run-folder", "sound"]
            case 2:
                return ["merge", f"joined-{chance.random()}", "run-folder", "sound"]
            case _:
                return [chance.choice(("report", "protect")), "run-folder"]

    def _options(self, chance: random.Random) -> list[str]:
        return damaged_words(chance.choice(_COMMANDS), chance, _WORDS)


_WITH_A_RUN = ("part", "json", "options")
_KEPT = ("campaign.toml", "study.toml", "net.tflite", "x.npy", "run-folder", "sound")
_number: Callable[[str], str] = lambda text: re.sub(r"\d+", "N", text)  # noqa: E731


def _absolute(target: Path) -> str:
    """Return the text of a target file with absolute paths."""
    text = target.read_text(encoding="utf-8")
    return re.sub(r'"((?:\.\./|rtl/)[^"]*)"', lambda m: f'"{target.parent.resolve()}/{m[1]}"', text)


def _plain(text: str) -> str:
    """Return a message without what differs from case to case."""
    return _number(text.split(" (details")[0])[:160]


def _where() -> str:
    """Return the last places of the present traceback in the packages of resil."""
    frames = traceback.extract_tb(__import__("sys").exc_info()[2])
    own = [f for f in frames if str(ROOT) in f.filename and "benchmarks" not in f.filename]
    return ", ".join(f"{Path(f.filename).name}:{f.lineno}" for f in own[-2:])
