# SPDX-License-Identifier: Apache-2.0
"""What alarms caught: against the rows themselves and the run's own record of detection."""

from __future__ import annotations

import json

import pytest

from resil.cli import main
from resil.record.errors import ReportError
from resil.record.fields import json_schema
from resil.record.mechanisms import MechanismAudit
from resil.stats.intervals import clopper_pearson
from resil.trace.mechanisms import audit_mechanisms
from resil.trace.run import Run
from testkit.errors import about


@pytest.fixture(scope="module")
def audit(run):
    return audit_mechanisms(run)


def test_alarms_are_those_of_the_summary(run, audit):
    recorded = Run(run).summary.detection
    assert [one.name for one in audit.mechanisms] == [one.name for one in recorded.alarms]
    for found, alarm in zip(audit.mechanisms, recorded.alarms, strict=True):
        assert (found.caught, found.late) == (alarm.injections, alarm.late)
        assert (found.median_cycles, found.slowest_cycles) == (alarm.median_cycles, alarm.slowest_cycles)
    total = next(row for row in recorded.blocks if row.name == "total")
    assert sum(found.harmless for found in audit.mechanisms) == total.due_harmless
    caught = total.due_sdc_critical + total.due_hang
    assert sum(row.caught for row in audit.storage) == caught > 0


def test_what_was_missed_is_hazardous_and_nothing_told_of_it(audit, rows):
    missed = rows[rows["outcome"].isin(audit.hazardous)]
    assert sum(row.missed for row in audit.storage) == len(missed)
    for row in audit.storage:
        for number in row.examples:
            found = rows[rows["injection"] == number].iloc[0]
            assert found["outcome"] in audit.hazardous
            assert (found["block"], found["kind"], found["register_class"]) == (
                row.block,
                row.kind,
                row.register_class,
            )
    assert audit.storage == tuple(sorted(audit.storage, key=lambda row: -row.missed))


def test_coverage_has_exact_limits_where_weights_are_equal(audit):
    for row in audit.storage:
        exact = clopper_pearson(row.caught, row.caught + row.missed, audit.confidence)
        assert row.coverage.lo == pytest.approx(exact.lo)
        assert row.coverage.hi == pytest.approx(exact.hi)
        assert row.coverage.estimate == pytest.approx(row.caught / (row.caught + row.missed))


def test_an_alarm_that_comes_too_late_catches_nothing(audit, example, tmp_path):
    """The same faults with a fault-tolerant time that is shorter than most alarms take."""
    other_file = example.with_name("late.toml")
    safety = '[safety]\nclaims = ["spfm_transient"]\nasil = "D"\nftti_cycles = 8\n'
    other_file.write_text(f"{example.read_text()}\n{safety}")
    assert main(["run", str(other_file), "--out", str(tmp_path / "run"), "--quiet"]) in (0, 1, 3)
    late = audit_mechanisms(tmp_path / "run")
    (one,), (other,) = late.mechanisms, audit.mechanisms
    assert late.detection_cycles == 8
    assert one.late > 0
    assert one.caught + one.late == other.caught
    assert one.slowest_cycles == other.slowest_cycles > 8
    assert sum(row.missed for row in late.storage) == sum(row.missed for row in audit.storage) + one.late


def test_the_answer_is_kept_and_printed(run, capsys):
    assert main(["explain", str(run), "--mechanisms", "--json", "--quiet"]) == 0
    text = (run / "mechanisms.json").read_text()
    assert json.loads(capsys.readouterr().out) == json.loads(text)
    assert MechanismAudit.read(text).text() == text
    assert json_schema(MechanismAudit)["required"] == list(json.loads(text))
    assert main(["explain", str(run), "--mechanisms", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80


def test_rows_that_do_not_add_up_are_refused(audit):
    plain = audit.plain()
    plain["mechanisms"][0]["caught"] += 1
    with pytest.raises(ReportError, check=about("mechanisms[0].storage")):
        MechanismAudit.read(json.dumps(plain))
    plain = audit.plain()
    plain["storage"][0]["examples"] = []
    with pytest.raises(ReportError, check=about("storage[0].examples")):
        MechanismAudit.read(json.dumps(plain))
