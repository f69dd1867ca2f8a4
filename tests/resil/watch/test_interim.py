# SPDX-License-Identifier: Apache-2.0
"""What is said of a run before its end holds at its end, whichever injections ended first."""

from __future__ import annotations

import json
import shutil
import threading
from datetime import UTC, datetime, timedelta
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import resil
from resil.cli import main
from resil.errors import ResilError
from resil.record.underway import Underway
from resil.reports import live_html
from resil.run import campaign as campaign_module
from resil.watch.interim import Watch
from resil.watch.server import RunServer, require_loopback
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

HAZARDOUS = ("sdc_critical", "hang")


def finished(folder, text):
    """A finished run, and what it had left for who looks on."""
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        kept = []
        keep = campaign_module.forget_underway

        def forget(path):
            if (path / Underway.FILE).exists():
                kept.append((path / Underway.FILE).read_text())
            keep(path)

        patch.setattr(campaign_module, "forget_underway", forget)
        resil.run_campaign(resil.load_campaign(str(write_campaign(folder, text))), str(folder / "run"))
    return folder / "run", kept


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 600")
    return finished(tmp_path_factory.mktemp("watched"), text)


def stopped(run, tmp_path, order):
    """A copy of the run as it was when only the first rows in this order had ended."""
    path, kept = run
    own = tmp_path / "stopped"
    shutil.copytree(path, own)
    parts = sorted((own / "injections").glob("*.parquet"))
    rows = pa.concat_tables([pq.read_table(part) for part in parts])
    for part in parts:
        part.unlink()
    if len(order):
        pq.write_table(rows.take(pa.array(order)), parts[0])
    (own / Underway.FILE).write_text(kept[-1])
    return own


def all_rows(run):
    parts = sorted((run[0] / "injections").glob("*.parquet"))
    return pa.concat_tables([pq.read_table(part) for part in parts]).to_pandas()


def test_a_run_leaves_what_it_injects_while_it_does(run):
    path, kept = run
    assert len(kept) == 1
    plan = Underway.read(kept[0])
    assert plan.text() == kept[0]
    assert sum(own.injections for own in plan.strata) == 600
    assert sum(own.fit_raw for own in plan.strata) == pytest.approx(resil.Run(path).summary.total.fit_raw)
    assert not (path / Underway.FILE).exists()


@pytest.mark.parametrize("ended", [0, 100, 300, 599, 600])
@pytest.mark.parametrize("first", ["masked", "hazardous", "any"])
def test_limits_hold_whatever_ended_first(run, tmp_path, first, ended):
    rows = all_rows(run)
    bad = rows["outcome"].isin(HAZARDOUS).to_numpy()
    keys = {"masked": bad, "hazardous": ~bad, "any": np.random.default_rng(5).random(len(rows))}
    order = np.argsort(keys[first], kind="stable")[:ended]
    found = Watch(stopped(run, tmp_path, order)).look()
    assert (found.state, found.planned, found.ended) == ("injecting", 600, ended)
    final = resil.Run(run[0]).summary
    assert found.total.estimate is None
    assert found.total.lo <= final.total.fit_lo * (1 + 1e-9)
    assert found.total.hi >= final.total.fit_hi * (1 - 1e-9)
    for own in found.blocks:
        block = next(row for row in final.blocks if row.name == own.block)
        if block.sampled:
            assert own.limits.lo <= block.fit_interval.lo * (1 + 1e-9)
            assert own.limits.hi >= block.fit_interval.hi * (1 - 1e-9)
    if ended == 600:
        assert found.total.lo == pytest.approx(final.total.fit_lo)
        assert found.total.hi == pytest.approx(final.total.fit_hi)


def test_rate_and_time_left_are_of_this_session(run, tmp_path):
    own = stopped(run, tmp_path, np.arange(150))
    since = datetime.fromisoformat(Underway.read((own / Underway.FILE).read_text()).since)
    found = Watch(own).look(since + timedelta(seconds=50))
    assert found.rate == pytest.approx(3.0)
    assert found.seconds_left == pytest.approx(150.0)
    late = Watch(own).look(datetime.now(UTC) + timedelta(seconds=600))
    assert "No injection has ended for" in late.note


def test_a_plan_that_looks_at_results_has_no_limits_before_the_end(tmp_path):
    text = TEXT.replace("minimum_per_block = 10\n", "") + '\n[sampling]\nplan = "adaptive"\n'
    _, kept = finished(tmp_path, text.replace("injections = 200", "injections = 600"))
    assert not any(Underway.read(text).bounded for text in kept)


def test_states_that_say_nothing(run, tmp_path):
    assert Watch(run[0]).look().state == "ended"
    own = stopped(run, tmp_path, np.arange(10))
    (own / Underway.FILE).unlink()
    assert Watch(own).look().state == "failed"
    (own / "provenance.json").write_text(
        (own / "provenance.json").read_text().replace('"failed": null', '"failed": "an audit"')
    )
    found = Watch(own).look()
    assert (found.state, found.total) == ("failed", None)
    assert "an audit" in found.note


def test_the_page_says_that_it_estimates_nothing(run, tmp_path):
    rows = stopped(run, tmp_path, np.arange(150))
    text = live_html(Watch(rows).look(), "0")
    ElementTree.fromstring(text.removeprefix("<!doctype html>\n"))
    assert "No estimates." in text
    assert "150 of 600" in text
    assert "<script" not in text
    ended = live_html(Watch(run[0]).look(), "0")
    assert 'href="report.html"' in ended
    assert "shown anew" in text
    assert "shown anew" not in ended


@pytest.fixture
def server(run, tmp_path):
    with RunServer(stopped(run, tmp_path, np.arange(150))) as own:
        thread = threading.Thread(target=own.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield own
        own.shutdown()
        thread.join()


def ask(server, path="", **headers):
    method = headers.pop("method", "GET")
    with urlopen(Request(server.url + path, headers=headers, method=method), timeout=10) as answer:
        return answer.read().decode()


def test_the_server_answers_this_machine_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert "150 of 600" in ask(server)
    assert json.loads(ask(server, "state.json"))["ended"] == 150
    assert ask(server, "report.html").startswith("<!doctype html>")


def test_the_page_is_shown_anew_unless_it_is_asked_to_keep_still(server):
    """A page that changes under a reader must let itself be held (WCAG 2.2.1)."""
    with urlopen(server.url, timeout=10) as answer:
        assert answer.headers["Refresh"] == "5"
        assert 'href="/still"' in answer.read().decode()
    with urlopen(server.url + "still", timeout=10) as answer:
        assert answer.headers["Refresh"] is None
        text = answer.read().decode()
    assert "150 of 600" in text
    assert 'href="/"' in text
    with urlopen(server.url + "state.json", timeout=10) as answer:
        assert answer.headers["Refresh"] is None


@pytest.mark.parametrize(
    ("path", "headers", "code"),
    [
        ("", {"Host": "evil.example"}, 403),
        ("../provenance.json", {}, 404),
        ("campaign.toml", {}, 404),
        ("", {"method": "POST"}, 501),
        ("", {"method": "PUT"}, 501),
        ("", {"method": "DELETE"}, 501),
    ],
)
def test_the_server_refuses_everything_else(server, path, headers, code):
    before = {file: file.stat().st_mtime_ns for file in server.folder.rglob("*")}
    with pytest.raises(HTTPError) as caught:
        ask(server, path, **headers)
    assert caught.value.code == code
    caught.value.close()
    assert {file: file.stat().st_mtime_ns for file in server.folder.rglob("*")} == before


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_an_address_that_others_reach_is_refused(run, address, capsys):
    with pytest.raises(ResilError) as caught:
        require_loopback(address)
    assert caught.value.field == "--address"
    assert main(["view", str(run[0]), "--address", address]) == 2
    assert main(["view", str(run[0].parent / "none")]) == 2
    capsys.readouterr()
