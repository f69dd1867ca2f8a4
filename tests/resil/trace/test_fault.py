# SPDX-License-Identifier: Apache-2.0
"""Traces of stored injections are what the run stored, or an error; on a foreign design and the NPU."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import resil.trace.fault
from resil.cli import main
from resil.errors import ConsistencyError, ResilError, StoreError
from resil.folder.recorded_injection import find_injection
from resil.record.errors import ReportError
from resil.record.fields import json_schema
from resil.record.trace import Trace
from resil.rtl_harness.engine.trace import waves
from resil.rtl_harness.errors import HarnessError
from resil.trace.document import phases_of
from resil.trace.fault import site_named, trace_fault, trace_injection
from resil.trace.text import WIDTH, trace_text
from testkit.errors import about
from testkit.runs import EXAMPLE


def first(rows, outcome):
    return int(rows.loc[rows["outcome"] == outcome, "injection"].iloc[0])


@pytest.mark.parametrize("outcome", ["masked", "latent", "sdc_critical", "hang", "due"])
def test_a_trace_says_what_is_stored(run, rows, outcome, capsys):
    number = first(rows, outcome)
    assert main(["trace", str(run), str(number), "--json", "--quiet"]) == 0
    text = capsys.readouterr().out
    trace = Trace.read(text)
    assert json_schema(Trace)["required"] == list(json.loads(text))
    stored = find_injection(run, number)
    assert dict(trace.outcome) == dict(trace.stored) == dict(stored.came_of_it)
    row = rows.loc[rows["injection"] == number].iloc[0]
    assert (trace.name, trace.cycle, trace.input) == (row["name"], row["cycle"], row["input"])
    assert trace.registers[0].first_cycle == row["cycle"]
    assert [one.first_cycle for one in trace.registers] == sorted(o.first_cycle for o in trace.registers)
    to = {"latent": "state", "sdc_critical": "output", "hang": "done", "due": "alarm error"}.get(outcome)
    if to is None:
        assert trace.vanished is not None
        assert not trace.paths
    else:
        path = trace.path_to(to)
        assert path is not None
        assert path.steps[0].name == row["name"]
        assert path.steps[-1].last_cycle == path.cycle
    if outcome == "due":
        assert trace.alarms[0].cycle == row["alarm_cycle"]
    assert max(map(len, trace_text(trace).splitlines())) <= WIDTH


def test_the_first_wrong_element_is_that_of_the_output(run, rows):
    trace = resil.Run(run).trace(first(rows, "sdc_critical"))
    (tensor,) = trace.tensors
    assert tensor.first is not None
    assert tensor.first.expected != tensor.first.found
    assert tensor.wrong >= 1
    assert tensor.largest_error >= abs(tensor.first.expected - tensor.first.found)
    path = trace.path_to("output")
    assert path is not None
    assert path.steps[-1].block == "bench"


def test_a_trace_that_finds_something_else_is_an_error(run, rows, monkeypatch):
    number = first(rows, "sdc_critical")
    found = resil.trace.fault._columns

    def other(injection):
        return found(injection) | {"seen": "masked"}

    monkeypatch.setattr(resil.trace.fault, "_columns", other)
    with pytest.raises(ConsistencyError):
        trace_injection(run, number)
    assert main(["trace", str(run), str(number), "--quiet"]) == 4


def test_a_document_that_contradicts_itself_is_refused(run, rows):
    plain = trace_injection(run, first(rows, "hang")).plain()
    plain["paths"][0]["steps"][0]["first_cycle"] += 1
    with pytest.raises(ReportError, check=about("paths[0].steps[0]")):
        Trace.read(json.dumps(plain))
    plain = trace_injection(run, first(rows, "hang")).plain()
    plain["outcome"]["seen"] = "masked"
    with pytest.raises(ReportError, check=about("stored")):
        Trace.read(json.dumps(plain))


def test_a_fault_without_a_run_is_traced_likewise(run, rows, example):
    number = first(rows, "sdc_critical")
    stored = trace_injection(run, number)
    alone = trace_fault(example, stored.name, stored.cycle, label=stored.input)
    left_out = {"injection", "stored"}
    assert alone.model_dump(exclude=left_out) == stored.model_dump(exclude=left_out)


def test_what_differs_is_written_as_a_waveform(run, rows, tmp_path):
    file = tmp_path / "fault.vcd"
    trace = trace_injection(run, first(rows, "hang"), waves=file)
    assert file.read_text().count("$var reg") == 2 * len(trace.registers)


def test_names_of_sites_are_found_again(run, rows, example):
    bench = resil.trace.fault.prepare(resil.trace.fault.load_campaign(example), resil.trace.fault.Progress())
    for site in range(0, bench.sites.size, 7):
        assert site_named(bench.sites, bench.sites[site].name) == site
    for name in ("nothing[0]", bench.sites[0].element.path, f"{bench.sites[0].element.path}[99]"):
        with pytest.raises(ResilError, check=about("--site")):
            site_named(bench.sites, name)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"label": 7}, "--input"),
        ({"cycle": 10**6}, "fault.cycle"),
        ({"bits": 99}, "fault.bits"),
    ],
)
def test_a_fault_that_is_none_is_refused(example, arguments, field):
    given = {"name": "u_dut.u_control.state_q[1]", "cycle": 3} | arguments
    with pytest.raises((ResilError, HarnessError), check=about(field)):
        trace_fault(example, **given)


def test_arguments_that_do_not_fit_are_refused(run, example, tmp_path):
    assert main(["trace", str(run), "--quiet"]) == 2
    assert main(["trace", str(run), "3", "--site", "a[0]", "--quiet"]) == 2
    with pytest.raises(StoreError, check=about("number")):
        trace_injection(run, 10**9)
    with pytest.raises(ResilError, check=about("--waves")):
        trace_injection(run, 3, waves=tmp_path / "fault.ghw")


def test_fst_without_its_package_is_refused_before_anything_is_built(run, tmp_path, monkeypatch):
    monkeypatch.setattr(waves, "find_spec", lambda name: None)
    with pytest.raises(ResilError, match=re.escape("resil[waves]"), check=about("--waves")):
        trace_injection(run, 3, waves=tmp_path / "fault.fst")


def test_phases_add_up_to_all_cycles():
    spans = [(3, 3, 1, 1), (4, 9, 2, 1), (10, 10, 0, 0), (11, 12, 4, 2), (13, 13, 4, 1)]
    phases = phases_of(spans)
    assert [phase.change for phase in phases] == ["struck", "grew", "gone", "returned", "moved"]
    assert sum(phase.last_cycle - phase.first_cycle + 1 for phase in phases) == 11


def test_tensors_of_the_npu_are_the_functional_models():
    """A bias is wrong: the last operation alone has wrong elements, by what the bit is worth or more."""
    trace = trace_fault(EXAMPLE, "u_npu.u_ao.u_channels.scale_q[342]", 3501)
    operations = [tensor for tensor in trace.tensors if tensor.operation is not None]
    assert [tensor.operation for tensor in operations] == [1, 2, 3]
    assert {tensor.reference for tensor in operations} == {"functional model"}
    assert not trace.notes
    output = trace.tensors[-1]
    assert output.operation is None
    # The last operation writes the output.
    assert (output.wrong, output.largest_error) == (operations[-1].wrong, operations[-1].largest_error)
    assert output.wrong > 0
    path = trace.path_to("output")
    assert path is not None
    blocks = [step.block for step in path.steps]
    assert list(dict.fromkeys(blocks))[:4] == ["ao", "sb", "dma", "bench"]
    assert np.all([crossing.came_from for crossing in trace.crossings])
