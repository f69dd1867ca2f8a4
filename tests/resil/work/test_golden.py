# SPDX-License-Identifier: Apache-2.0
"""A golden output that is not the network's is refused, or said in every verdict."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import openpyxl
import pytest

from resil.cli import main
from resil.errors import ExitCode
from resil.networks import golden, oracle, zoo
from resil.networks.clamps import with_clamps
from resil.networks.compile import compile_network
from resil.networks.errors import NetworkError
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import write_network
from resil.record.golden import DIFFERS, EQUAL, NOT_COMPARED, GoldenComparison
from resil.record.summary import Summary
from resil.reports import text_report
from resil.reports.narrative import heading, meaning
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model import conv
from resil.run.campaign import compared_goldens
from resil.work.golden import comparison, require_golden
from resil.work.inference import Inference
from testkit.errors import about
from tests.networks.dressed import with_ends, with_float_ends

DIGITS = zoo.FOLDER / "digits.tflite"
CAMPAIGN = """
[campaign]
name = "wrong"
seed = 1
confidence = 0.95
[target]
name = "ethos-u55-32"
[network]
path = "zoo:digits"
inputs = [0, 1]
[faults]
injections = 100
kinds = ["ff"]
[technology]
name = "finfet-16nm"
"""


def infer(path):
    """Return the network compiled, two inputs, and what the functional model makes of them."""
    compiled = compile_network(path, "ethos-u55-32")
    inputs = [(x,) for x in zoo.load("digits").shipped.inputs[:2]]
    return compiled, inputs, [Inference(compiled, own).outputs for own in inputs]


@pytest.fixture
def wrong_convolutions(monkeypatch):
    """A mutant of the functional model: sums of convolutions are larger than they should be."""
    right = conv.sat32
    monkeypatch.setattr(conv, "sat32", lambda sums: right(sums + 3000))


@pytest.mark.parametrize("dress", [lambda g: g, with_float_ends, lambda g: with_ends(g, "uint8")])
def test_a_right_output_equals_that_of_the_file(tmp_path, dress):
    path = tmp_path / "digits.tflite"
    write_network(dress(read_network(DIGITS)), path)
    found = comparison(path, *infer(path))
    assert (found.state, found.differing, found.elements, found.inputs) == (EQUAL, 0, 20, 2)
    assert found.reference.startswith("tflite-micro")


def test_a_wrong_kernel_is_found_in_the_operation_that_has_it(wrong_convolutions):
    compiled, inputs, outputs = infer(DIGITS)
    found = comparison(DIGITS, compiled, inputs, outputs, labels=(7, 8))
    first = compiled.operations[0]
    assert found.state == DIFFERS
    assert "of input 7 output" in found.text
    assert f"the first operation to differ is 0, {first.operator}: output {first.name!r}" in found.text
    with pytest.raises(HarnessError, check=about("network.accept_golden")):
        require_golden(found, "here", accepted=False)
    require_golden(found, "here", accepted=True)


def test_one_wrong_element_is_named_with_both_values():
    compiled, inputs, outputs = infer(DIGITS)
    changed = [tuple(own.copy() for own in values) for values in outputs]
    changed[1][0].reshape(-1)[3] ^= 1
    right = int(outputs[1][0].reshape(-1)[3])
    found = comparison(DIGITS, compiled, inputs, changed)
    assert found.differing == 1
    assert f"differs first at [3]: expected {right}, found {right ^ 1} (1 of 10 differ)" in found.text
    assert "no operation stores a whole layer that differs" in found.text


@pytest.mark.parametrize("wrong", [False, True])
def test_without_tflite_micro_the_own_reference_judges(monkeypatch, request, wrong):
    def missing(*_):
        raise NetworkError("tflite-micro is not installed")

    monkeypatch.setattr(oracle, "run_all", missing)
    if wrong:
        request.getfixturevalue("wrong_convolutions")
    found = comparison(DIGITS, *infer(DIGITS))
    assert (found.reference, found.state) == (golden.OWN, DIFFERS if wrong else EQUAL)


def test_where_nothing_can_compare_that_is_said(monkeypatch):
    def missing(*_):
        raise NetworkError("cannot run it")

    for module in (oracle, golden.reference):
        monkeypatch.setattr(module, "run_all" if module is oracle else "outputs", missing)
    found = comparison(DIGITS, *infer(DIGITS))
    assert (found.state, found.text) == (NOT_COMPARED, "cannot run it")
    assert found.remark == "The golden output was compared with no independent reference: cannot run it."


def test_clamps_are_judged_by_the_reference_that_knows_them(tmp_path):
    path = tmp_path / "clamped.tflite"
    first = infer(DIGITS)[0].operations[0].name
    write_network(with_clamps(read_network(DIGITS), {first: (-120, -90)}), path)
    clamped, plain = infer(path), infer(DIGITS)
    found = comparison(path, *clamped)
    assert (found.reference, found.state) == (golden.OWN, EQUAL)
    assert comparison(path, *clamped[:2], plain[2]).state == DIFFERS


def test_infer_refuses_a_wrong_output_and_says_what_was_accepted(wrong_convolutions, capsys, tmp_path):
    command = ["infer", "zoo:digits", "--engine", "functional", "--limit", "2", "--json"]
    assert main(command) == ExitCode.USAGE
    assert "the first operation to differ is 0" in capsys.readouterr().err
    assert main([*command, "--accept-golden"]) == ExitCode.MET
    out, err = capsys.readouterr()
    assert json.loads(out)["golden"]["state"] == DIFFERS
    assert "warning: The golden output is not the network's, which was accepted" in err


def test_an_estimate_refuses_it_and_every_report_says_what_was_accepted(wrong_convolutions, tmp_path, capsys):
    file, out = tmp_path / "campaign.toml", tmp_path / "run"
    file.write_text(CAMPAIGN)
    assert main(["estimate", str(file), "--out", str(out)]) == ExitCode.USAGE
    assert not (out / "summary.json").exists()
    main(["estimate", str(file), "--out", str(out), "--accept-golden"])
    summary = Summary.read((out / "summary.json").read_bytes())
    said = "The golden output is not the network's, which was accepted"
    assert summary.golden.comparison.state == DIFFERS
    assert "golden output is not the network's" in heading(summary)
    assert meaning(summary)[0].startswith(said)
    assert said in text_report(summary)
    assert said in " ".join(summary.notes)
    assert "accept_golden = true" in (out / "campaign.toml").read_text()
    assert said in (out / "report.html").read_text().replace("&#39;", "'")
    sheet = openpyxl.load_workbook(out / "fmeda.xlsx").worksheets[0]
    assert any(row[0] == "Golden output" and row[1].startswith(said) for row in sheet.values)
    capsys.readouterr()


@pytest.mark.parametrize("accepted", [False, True])
def test_a_campaign_compares_before_it_injects(accepted):
    differs = GoldenComparison(
        state=DIFFERS, reference="r", inputs=1, elements=4, differing=2, text="of input 0 it differs"
    )
    asked = []

    def compare(outputs):
        asked.extend(outputs)
        return differs

    bench = SimpleNamespace(compare=compare, target_name="npu", network=SimpleNamespace(name="net"))
    goldens = [SimpleNamespace(end=SimpleNamespace(output=b"abcd"))]
    campaign = SimpleNamespace(work=_settings(accepted))
    said = []
    progress = SimpleNamespace(warn=said.append, stage=said.append)
    if not accepted:
        with pytest.raises(HarnessError, check=about("network.accept_golden")):
            compared_goldens(campaign, bench, goldens, progress)
    else:
        assert compared_goldens(campaign, bench, goldens, progress) == differs
        assert said == [f"warning: {differs.sentence}"]
    assert asked == [b"abcd"]


def _settings(accepted):
    from resil.campaign.network_settings import NetworkSettings

    return NetworkSettings("zoo:digits", (0,), accept_golden=accepted)


def test_a_comparison_cannot_say_equal_of_what_differs():
    with pytest.raises(ValueError, match="state"):
        GoldenComparison(state=EQUAL, reference="r", inputs=1, elements=4, differing=2, text="")
    with pytest.raises(ValueError, match="state"):
        GoldenComparison(state=EQUAL, reference="", inputs=0, elements=0, differing=0, text="")


def test_the_reference_is_given_what_the_inputs_say():
    """Levels that a host cannot have made are not compared on the file but on what the NPU takes."""
    source = golden.source_of(DIGITS, compile_network(DIGITS, "ethos-u55-32"))
    levels = (zoo.load("digits").shipped.inputs[:3],)
    expected = golden.expected_outputs(source, levels)
    np.testing.assert_array_equal(
        expected.outputs[0].reshape(3, -1), oracle.run(DIGITS, levels[0]).reshape(3, -1)
    )
