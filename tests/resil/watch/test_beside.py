# SPDX-License-Identifier: Apache-2.0
"""The page beside a run: there before the folder is, silent on results of before, gone after the end."""

from __future__ import annotations

import json
import re
import socket
import time
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from resil.cli import main
from resil.errors import ResilError, StoreError
from resil.watch.beside import page_beside
from resil.watch.interim import Watch
from testkit import fake
from testkit.campaigns import TEXT, write_campaign


def ask(url, path=""):
    with urlopen(url + path, timeout=10) as answer:
        return answer.read().decode()


def gone(url):
    for _ in range(600):
        try:
            ask(url, "state.json")
        except (URLError, ConnectionError):
            return True
        time.sleep(0.1)
    return False


def test_the_page_lasts_as_long_as_the_run_and_shows_its_end(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    campaign = write_campaign(tmp_path, TEXT)
    folder = tmp_path / "run"
    with page_beside(folder) as url:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
        before = json.loads(ask(url, "state.json"))
        assert (before["state"], before["note"][:29]) == ("not injecting", "The run is being prepared: no")
        assert "shown anew every" in ask(url)
        assert main(["run", str(campaign), "--out", str(folder)]) in (0, 1, 3)
        # The command has not ended: what stands in the folder is not called its end.
        assert json.loads(ask(url, "state.json"))["state"] == "not injecting"
        written = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    end = ask(url)
    assert "The run has ended" in end
    assert "shown anew" not in end
    assert gone(url)
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == written
    capsys.readouterr()


def test_the_command_says_where_the_page_is(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    campaign = write_campaign(tmp_path, TEXT)
    seen = []

    def look(*_arguments, **_settings):
        url = re.search(r"shown at (\S+)", capsys.readouterr().err)[1]
        seen.append(json.loads(ask(url, "state.json"))["state"])
        raise ResilError("stopped by the test")

    monkeypatch.setattr("resil.run.campaign.run_campaign", look)
    assert main(["run", str(campaign), "--out", str(tmp_path / "run"), "--serve"]) == 2
    assert seen == ["not injecting"]
    capsys.readouterr()


def test_a_port_that_is_taken_is_refused(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with (
            pytest.raises(ResilError, match="cannot be listened on"),
            page_beside(tmp_path, taken.getsockname()[1]),
        ):
            pass


def test_a_folder_of_another_version_is_no_run_in_preparation(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "provenance.json").write_text('{"schema": 999}')
    with pytest.raises(StoreError, match="999"):
        Watch(folder, at_work=True).look()
