# SPDX-License-Identifier: Apache-2.0
"""Fault lists from elsewhere: each fault injected once as it is, outcomes of others counted and marked."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resil.cli import main
from resil.errors import ResilError
from resil.lists.rows import ListedFault, read_list
from resil.record.listed import STATUSES, ListedResults
from resil.rtl_harness.design.sites import Absent, Hardware, SiteTable, StorageElement
from resil.rtl_harness.faults import Fault, Seen, Untestable
from resil.rtl_harness.logic.sites import LOGIC, NoSite, PinTable
from resil.stats.intervals import clopper_pearson
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

LIST = """site,type,time,input
u_npu.u_mac.acc_q[0][5],SEU,100,0
u_npu.u_mac.acc_q[0][6],upset,100,3
u_npu.u_cc.state_q[1],sa1,,
u_npu.u_cc.state_q[3],stuck_at_0,,
u_npu.u_sb.mem_q[4][63],,4000,
u_npu.glue_q[0],upset,17,
"""
NUMBERS = {fake.SITES[number].name: number for number in range(fake.SITES.size)}


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """Make the fake bench, with the engine's arguments, that of all lists."""

    def make(**given):
        monkeypatch.setattr("resil.lists.inject.prepare", partial(fake.fake_bench, **given))

    make()
    monkeypatch.chdir(tmp_path)
    write_campaign(tmp_path)
    return make


def rows_of(folder):
    with (folder / "faults.csv").open() as file:
        return [*csv.DictReader(file)]


def run(tmp_path, text, *more, name="list.csv"):
    (tmp_path / name).write_text(text)
    return main(["run", "small.toml", "--faults", name, "--out", "out", "--quiet", *more])


@pytest.mark.parametrize("form", ["csv", "parquet", "lines"])
def test_three_forms_say_the_same(form, tmp_path):
    if form == "csv":
        file = tmp_path / "list.csv"
        file.write_text("# made by hand\nSite, Time ,TYPE\na.b[1],7,upset\na.b[2],,SA0\n".replace(" ", ""))
    elif form == "parquet":
        file = tmp_path / "list.parquet"
        pq.write_table(
            pa.table({"site": ["a.b[1]", "a.b[2]"], "time": [7, None], "type": ["flip", "sa0"]}), file
        )
    else:
        file = tmp_path / "list.txt"
        file.write_text("a.b[1] upset 7\n# one more\n\na.b[2] stuck_at_0\n")
    assert read_list(file).rows == (ListedFault("a.b[1]", "upset", 7), ListedFault("a.b[2]", "stuck_at_0", 0))


@pytest.mark.parametrize("form", ["csv", "parquet", "lines"])
def test_bits_and_weights_are_read_in_every_form(form, tmp_path):
    """The fault: both were passed over, and upsets of two bits were injected as upsets of one."""
    file = tmp_path / {"csv": "list.csv", "parquet": "list.parquet", "lines": "list.txt"}[form]
    if form == "csv":
        file.write_text("site,type,time,Bits,weight\na.b[1],upset,7,2,12.5\na.b[2],SA0,,,3\n")
    elif form == "parquet":
        columns = {"site": ["a.b[1]", "a.b[2]"], "time": [7, None], "type": ["upset", "SA0"]}
        pq.write_table(pa.table({**columns, "bits": [2, None], "weight": [12.5, 3.0]}), file)
    else:
        file.write_text("a.b[1] upset 7 bits=2 weight=12.5\na.b[2] stuck_at_0 weight=3\n")
    assert read_list(file).rows == (
        ListedFault("a.b[1]", "upset", 7, bits=2, weight=12.5),
        ListedFault("a.b[2]", "stuck_at_0", 0, weight=3.0),
    )


@pytest.mark.parametrize(
    "text",
    [
        '"site","type","time"\n"a.b[1]","upset","7"\n"a.b[2]","SA0",""\n',
        '"","site","type","time"\n"1","a.b[1]","upset",7\n"2","a.b[2]","SA0",\n',
        '\ufeff"Site", "Type", "Time"\n"a.b[1]", "upset", 7\n"a.b[2]", "SA0"\n',
    ],
)
def test_names_of_columns_may_be_quoted(text, tmp_path):
    """The fault: such a head, as R and pandas write it, was taken for a fault of one word."""
    (tmp_path / "list.csv").write_text(text, encoding="utf-8")
    found = read_list(tmp_path / "list.csv")
    assert found.rows == (ListedFault("a.b[1]", "upset", 7), ListedFault("a.b[2]", "stuck_at_0", 0))
    assert found.unread == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("site,type,time\na[0],upset,3,0\n", "row 1: expected no more columns than the head has, 3, found 4"),
        ("site,type,time\na[0],upset,\n", "row 1: time: expected the cycle"),
        ("site,type,time\na[0],melt,3\n", "row 1: type: expected one of upset"),
        ("site,type,time\n,upset,3\n", "row 1: expected a site"),
        ("site,type,time\na[0],upset,-3\n", "row 1: time: expected a number from 0 on"),
        ("a[0] upset 3\na[0] seu 3\n", "is there 2 times"),
        ("# nothing\n", "expected at least one fault"),
        ("a[0] upset 3 0 safe more\n", "row 1: expected site type time input status"),
        ("site,type,time,bits\na[0],upset,3,0\n", "row 1: bits: expected a number from 1 on, found '0'"),
        ("site,type,time,bits\na[0],upset,3,two\n", "row 1: bits: expected a number from 1 on, found 'two'"),
        ("site,type,bits\na[0],sa1,2\n", "row 1: bits: expected 1 of a permanent fault, found 2"),
        ("site,type\na/Y,set\n", "row 1: time: expected the cycle of the pulse, found none"),
        ("site,type,time,bits\na/Y,set,3,2\n", "row 1: bits: expected 1 of a pulse, found 2"),
        ("site,fault,time\na/Y,SET,3\n", "row 1: type: expected a column of this name, found 'SET'"),
        ("site,type,time,weight\na[0],upset,3,0\n", "row 1: weight: expected a number above 0, found '0'"),
        ("site,type,time,weight\na[0],upset,3,nan\n", "row 1: weight: expected a number above 0"),
        (
            "site,time,weight\na[0],3,2\na[0],4,\n",
            "weight: expected one in every row or in none, found 1 of 2",
        ),
        (
            "site,fault,time\na[0],stuck_at_0,5\n",
            "row 1: type: expected a column of this name, found 'stuck_at_0'",
        ),
        ("site,fault,time,type\na[0],SA1,5,\n", "row 1: type: expected .* in the column 'fault'"),
    ],
)
def test_lists_that_are_refused(text, says, tmp_path):
    (tmp_path / "list").write_text(text)
    with pytest.raises(ResilError, match=says):
        read_list(tmp_path / "list")


def test_every_fault_is_injected_as_it_is_listed(bench, tmp_path):
    assert run(tmp_path, LIST) == 0
    rows = rows_of(tmp_path / "out")
    numbers = [NUMBERS[row["site"]] for row in rows]
    rest = [(0, 100, None), (1, 100, None), (0, 0, 1), (0, 0, 0), (0, 4000, None), (0, 17, None)]
    faults = [
        (position, Fault(site, time, held=held))
        for site, (position, time, held) in zip(numbers, rest, strict=True)
    ]
    for row, (position, fault) in zip(rows, faults, strict=True):
        wanted = fake.FakeEngine(position).outcome(fault)
        assert row["outcome"] == wanted.outcome.value
        assert row["end_cycle"] == str(wanted.end_cycle)
        assert row["alarm"] == ("" if wanted.detected is None else wanted.detected.alarm)
        assert row["origin"] == "simulated"
    assert [row["input"] for row in rows] == ["0", "3", "0", "0", "0", "0"]
    assert [row["block"] for row in rows] == ["mac", "mac", "cc", "cc", "sb", "(no block)"]
    found = json.loads((tmp_path / "out" / ListedResults.FILE).read_text())
    assert found["digest"] == sha256((tmp_path / "list.csv").read_bytes()).hexdigest()
    assert found["blocks"][-1] == {
        "block": "total",
        "faults": 6,
        "statuses": {own: Counter(row["status"] for row in rows)[own] for own in STATUSES},
    }
    assert found["coverage"] is None


def test_statuses_are_those_of_the_outcomes_and_coverage_has_limits(bench, tmp_path, capsys):
    lines = [f"u_npu.u_mac.acc_q[1][{bit}] upset {time}" for bit in range(32) for time in range(0, 600, 10)]
    assert run(tmp_path, "\n".join(lines), "--random", name="list.txt") == 0
    statuses = Counter()
    for line, row in zip(lines, rows_of(tmp_path / "out"), strict=True):
        site, _, time = line.split()
        own = fake.FakeEngine(0).outcome(Fault(NUMBERS[site], int(time)))
        wanted = {Seen.MASKED: "safe", Seen.LATENT: "latent"}.get(own.seen, "observed")
        wanted = "detected" if own.detected else wanted
        assert row["status"] == wanted
        statuses[wanted] += 1
    assert min(statuses[own] for own in ("safe", "latent", "observed", "detected")) > 3
    limits = clopper_pearson(statuses["detected"], statuses["detected"] + statuses["observed"])
    found = json.loads((tmp_path / "out" / ListedResults.FILE).read_text())["coverage"]
    assert (found["lo"], found["hi"]) == pytest.approx((limits.lo, limits.hi))
    assert "random sample" in capsys.readouterr().out


def test_upsets_of_several_bits_are_injected_as_they_are_listed(bench, tmp_path):
    """The fault: the column was passed over, and each row was an upset of one bit."""
    sites = [f"u_npu.u_mac.acc_q[0][{bit}]" for bit in range(31)]
    lines = [f"{site},upset,{100 + bits},{bits}" for site in sites for bits in (1, 2)]
    assert run(tmp_path, "\n".join(["site,type,time,bits", *lines])) == 0
    rows = rows_of(tmp_path / "out")
    faults = [Fault(NUMBERS[site], 100 + bits, bits) for site in sites for bits in (1, 2)]
    for row, fault in zip(rows, faults, strict=True):
        wanted = fake.FakeEngine(0).outcome(fault)
        assert (row["outcome"], row["end_cycle"]) == (wanted.outcome.value, str(wanted.end_cycle))
        assert row["bits"] == str(fault.bits)
    assert fake.FakeEngine(0).outcome(faults[1]) != fake.FakeEngine(0).outcome(Fault(faults[1].site, 102))


def results(tmp_path, text, *more):
    (tmp_path / "theirs.csv").write_text(text)
    return main(["import", "theirs.csv", "--campaign", "small.toml", "--out", "out", "--quiet", *more])


@pytest.mark.parametrize("command", [run, results])
def test_an_upset_that_does_not_fit_its_word_is_refused(command, bench, tmp_path, capsys):
    text = "site,type,time,bits,status\nu_npu.u_mac.acc_q[0][30],upset,3,3,safe\n"
    assert command(tmp_path, text) == 2
    said = capsys.readouterr().err
    assert (
        "u_npu.u_mac.acc_q[0][30]: bits: expected at most 2, the bits that its word has from there on" in said
    )
    assert "found 3" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [run, results])
def test_an_upset_of_bits_of_which_some_are_no_hardware_is_refused(
    command, bench, monkeypatch, tmp_path, capsys
):
    absent = [Absent(NUMBERS["u_npu.u_mac.acc_q[0][5]"], 2, Hardware.CONSTANT, value=0)]
    monkeypatch.setattr(fake, "SITES", SiteTable.of(fake.SITES.elements, absent))
    head = "site,type,time,bits,status\n"
    assert command(tmp_path, f"{head}u_npu.u_mac.acc_q[0][4],upset,3,2,safe\n") == 2
    said = capsys.readouterr().err
    assert "u_npu.u_mac.acc_q[0][4]: bits: expected hardware for each of the 2 bits, found none for" in said
    assert "acc_q[0][5]" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [run, results])
def test_a_fault_that_is_there_twice_in_other_words_is_refused(command, bench, tmp_path, capsys):
    """The fault: no input and the first input by its label are the same, and both rows were counted."""
    head = "site,type,time,input,bits,status\n"
    rows = "u_npu.glue_q[0],upset,3,,,safe\nu_npu.glue_q[0],SEU,3,{},1,safe\n"
    assert command(tmp_path, head + rows.format(0)) == 2
    assert "u_npu.glue_q[0], upset, 3, input 0: is there 2 times" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert command(tmp_path, head + rows.format(3)) == 0


def weighted_list(weights):
    """As many results of others as weights, every third of them observed."""
    lines = [
        f"u_npu.u_mac.acc_q[1][{number % 32}],upset,{number},{'detected' if number % 3 else 'observed'},{own}"
        for number, own in enumerate(weights)
    ]
    return "\n".join(["site,type,time,status,weight", *lines, ""])


def test_coverage_of_a_list_with_weights_is_the_ratio_of_weights(bench, tmp_path, capsys):
    """The fault: each line counted once, whatever it stands for."""
    assert results(tmp_path, weighted_list([8, 1, 1, 4, 3, 3])) == 0
    found = json.loads((tmp_path / "out" / ListedResults.FILE).read_text())
    assert found["weighted"]
    assert found["coverage"] == {"estimate": 8 / 20, "lo": None, "hi": None}
    assert "ratio of weights: 40.00%" in capsys.readouterr().out
    assert [row["weight"] for row in rows_of(tmp_path / "out")] == ["8.0", "1.0", "1.0", "4.0", "3.0", "3.0"]


def test_coverage_of_what_is_injected_is_the_ratio_of_weights_too(bench, tmp_path):
    names = [(f"u_npu.u_mac.acc_q[1][{bit}]", time) for bit in range(32) for time in range(0, 600, 10)]
    lines = [f"{site} upset {time} weight={1 + number % 7}" for number, (site, time) in enumerate(names)]
    assert run(tmp_path, "\n".join(lines), name="list.txt") == 0
    sums = Counter()
    for number, row in enumerate(rows_of(tmp_path / "out")):
        sums[row["status"]] += 1 + number % 7
    wanted = sums["detected"] / (sums["detected"] + sums["observed"])
    found = json.loads((tmp_path / "out" / ListedResults.FILE).read_text())["coverage"]
    assert found["estimate"] == pytest.approx(wanted)
    assert (found["lo"], found["hi"]) == (None, None)


@pytest.mark.parametrize("command", [run, results])
def test_limits_of_a_random_sample_need_equal_weights(command, bench, tmp_path, capsys):
    assert command(tmp_path, weighted_list([2, 2, 2, 4]), "--random") == 2
    said = capsys.readouterr().err
    assert "weight: expected equal weights with --random" in said
    assert "found 2 to 4" in said
    assert not (tmp_path / "out").exists()
    assert command(tmp_path, weighted_list([2, 2, 2, 2]), "--random") == 0


def test_results_for_what_is_no_hardware_are_untestable(bench, monkeypatch, tmp_path, capsys):
    """The fault: they were in the coverage, and in its limits, as if the faults existed."""
    first = NUMBERS["u_npu.u_mac.acc_q[1][0]"]
    absent = [Absent(first, 2, Hardware.DUPLICATE, same_as=NUMBERS["u_npu.u_mac.acc_q[0][0]"])]
    absent += [Absent(first + 2, 1, Hardware.CONSTANT, value=0)]
    monkeypatch.setattr(fake, "SITES", SiteTable.of(fake.SITES.elements, absent))
    text = weighted_list([1] * 9).replace("acc_q[1][2],upset,2,detected", "acc_q[1][2],upset,2,untestable")
    assert results(tmp_path, text, "--random") == 0
    found = json.loads((tmp_path / "out" / ListedResults.FILE).read_text())
    limits = clopper_pearson(4, 6)
    wanted = pytest.approx((4 / 6, limits.lo, limits.hi))
    assert tuple(found["coverage"][name] for name in ("estimate", "lo", "hi")) == wanted
    assert [row["status"] for row in rows_of(tmp_path / "out")][:4] == [*["untestable"] * 3, "observed"]
    assert found["blocks"][-1]["statuses"]["untestable"] == 3
    # That the third is untestable the list says itself.
    assert "Of 9 faults, 2 are counted as untestable, whatever the list says" in capsys.readouterr().out


def test_weights_of_what_is_no_hardware_may_differ(bench, monkeypatch, tmp_path):
    """Those of a run's list do: nothing was drawn there."""
    absent = [Absent(NUMBERS["u_npu.u_mac.acc_q[1][0]"], 1, Hardware.CONSTANT, value=0)]
    monkeypatch.setattr(fake, "SITES", SiteTable.of(fake.SITES.elements, absent))
    assert results(tmp_path, weighted_list([1, 2, 2, 2]), "--random") == 0


def test_an_upset_of_bits_that_are_all_no_hardware_is_untestable(bench, monkeypatch, tmp_path):
    absent = [Absent(NUMBERS["u_npu.u_mac.acc_q[0][5]"], 2, Hardware.CONSTANT, value=0)]
    monkeypatch.setattr(fake, "SITES", SiteTable.of(fake.SITES.elements, absent))
    text = "site,type,time,bits,status\nu_npu.u_mac.acc_q[0][5],upset,3,2,detected\n"
    assert results(tmp_path, text) == 0
    assert rows_of(tmp_path / "out")[0]["status"] == "untestable"


def test_results_at_times_after_the_end_are_refused_where_that_is_known(bench, monkeypatch, tmp_path, capsys):
    """The fault: any time was taken."""
    text = "site,type,time,input,status\nu_npu.glue_q[0],upset,5000,{},safe\n"
    assert results(tmp_path, text.format("")) == 0
    assert "Times were not compared with the length of the run" in capsys.readouterr().out

    def recorded(*given, **named):
        return replace(fake.fake_bench(*given, **named), cycles=(5000, 5007))

    monkeypatch.setattr("resil.lists.inject.prepare", recorded)
    (tmp_path / "out").rename(tmp_path / "first")
    assert results(tmp_path, text.format("")) == 2
    assert "u_npu.glue_q[0]: time: expected a cycle of the run without a fault, 0 to 4,999, found 5,000" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()
    assert results(tmp_path, text.format("3")) == 0
    assert "Times were not compared" not in capsys.readouterr().out


@pytest.mark.parametrize("command", [run, results])
def test_columns_that_nothing_reads_are_named(command, bench, tmp_path, capsys):
    """Those that resil writes itself are not: it knows what they say."""
    head = ",site,type,time,status,cell,reason,weights\n"
    assert command(tmp_path, f"{head}1,u_npu.glue_q[0],upset,3,safe,DFF,masked,2\n") == 0
    assert "columns of the list that were not read: cell, weights" in capsys.readouterr().out
    said = json.loads((tmp_path / "out" / ListedResults.FILE).read_text())["remarks"]
    assert "cell, weights" in said[0]


def test_what_is_no_hardware_is_not_simulated(bench, monkeypatch, tmp_path):
    table = SiteTable.of(
        fake.SITES.elements, [Absent(NUMBERS["u_npu.u_mac.acc_q[0][5]"], 1, Hardware.CONSTANT, value=0)]
    )
    monkeypatch.setattr(fake, "SITES", table)
    assert run(tmp_path, LIST) == 0
    first = rows_of(tmp_path / "out")[0]
    assert (first["status"], first["outcome"]) == ("untestable", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("u_npu.nowhere_q[0] upset 3\nu_npu.glue_q upset 3", ["nowhere_q", "glue_q has u_npu.glue_q[0]"]),
        ("u_npu.glue_q[0] upset 5000", ["0 to 4,999, found 5,000"]),
        ("u_npu.glue_q[0] upset 5 7", ["input: expected one of 0, 3, found 7"]),
    ],
)  # fmt: skip
def test_what_the_design_does_not_have_is_refused_before_anything_is_written(
    text, says, bench, tmp_path, capsys
):
    assert run(tmp_path, text, name="list.txt") == 2
    said = capsys.readouterr().err
    for own in says:
        assert own in said
    assert not (tmp_path / "out").exists()


def test_an_engine_that_forgets_a_fault_leaves_no_results(bench, tmp_path, capsys):
    bench(forgets=NUMBERS["u_npu.u_mac.acc_q[0][5]"])
    assert run(tmp_path, LIST) == 4
    assert "u_npu.u_mac.acc_q[0][5]" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_results_of_others_are_counted_and_marked(bench, tmp_path, capsys):
    (tmp_path / "theirs.csv").write_text(
        "site,type,time,status\nu_npu.u_cc.state_q[1],sa1,,DD\n"
        "u_npu.u_cc.state_q[2],sa1,,dangerous undetected\n"
        "u_npu.glue_q[0],upset,3,untestable\n"
    )
    wanted = ["import", "theirs.csv", "--campaign", "small.toml", "--out", "out", "--quiet"]
    assert main(wanted) == 0
    said = capsys.readouterr().out
    assert "imported: outcomes that another tool says, not checked" in said
    assert "no rate and no verdict" in said
    rows = rows_of(tmp_path / "out")
    assert [row["status"] for row in rows] == ["detected", "observed", "untestable"]
    assert {row["origin"] for row in rows} == {"imported"}
    found = json.loads((tmp_path / "out" / ListedResults.FILE).read_text())
    assert (found["origin"], found["engine"]) == ("imported", "")
    # They are mixed with nothing: not with others, and no command takes them for a run.
    assert main(wanted) == 2
    assert run(tmp_path, LIST) == 2
    assert main(["report", "out"]) == 2


def test_results_without_a_status_are_refused(bench, tmp_path, capsys):
    (tmp_path / "theirs.csv").write_text(LIST)
    assert main(["import", "theirs.csv", "--campaign", "small.toml", "--out", "out"]) == 2
    assert "status: expected one of detected" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--dry-run", "--resume", "--serve"])
def test_a_list_is_run_as_a_whole(option, bench, tmp_path, capsys):
    assert run(tmp_path, LIST, option) == 2
    assert "--faults" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["set", "SET", "pulse", "glitch", "single_event_transient"])
def test_pulses_have_several_names(name, tmp_path):
    (tmp_path / "list").write_text(f"u_mac.U8/Y {name} 7\n")
    (found,) = read_list(tmp_path / "list").rows
    assert found == ListedFault("u_mac.U8/Y", "set", 7)
    assert found.held is None


# Two cells behind the storage of the fake design; one more has no sites.
CELLS = (StorageElement("u_npu.U1", LOGIC, 1, block="mac"), StorageElement("u_npu.U2", LOGIC, 2, block="cc"))
LEFT_OUT = (NoSite("u_npu.U3", "sb", "within_cycle", "Y"), NoSite("u_npu.x", "", "no_cell", "*"))


@pytest.fixture
def cells(bench, monkeypatch):
    """Make the fake design one with pins of cells, and its engine one that takes them."""
    table = PinTable((*fake.SITES.elements, *CELLS), pin_names=("Y", "Y", "A"), no_sites=LEFT_OUT, absent=())
    monkeypatch.setattr(fake, "SITES", table)

    def with_reason(self, faults, workers=1):
        """A pin of the first cell is unexcited, one of the second has no path."""
        for fault in faults:
            found = self.outcome(fault)
            place = fault.site - table.size + len(table.pin_names)
            if place >= 0:
                why = Untestable.UNEXCITED if place == 0 else Untestable.NO_PATH
                found = replace(found, seen=Seen.MASKED, detected=None, corrected=None, untestable=why)
            yield found

    monkeypatch.setattr(fake.FakeEngine, "run", with_reason)

    def campaign_of(model):
        text = TEXT.replace('kinds = ["ff"]', f'kinds = ["logic"]\nmodel = "{model}"')
        write_campaign(Path.cwd(), text)

    return campaign_of


def test_what_nothing_can_come_of_is_said_with_the_reason(cells, tmp_path, capsys):
    cells("stuck_at")
    text = "u_npu.U1/Y sa0\nu_npu.U2/A sa1\nu_npu.U3/Y sa0\nu_npu.x/* sa1\n"
    assert run(tmp_path, text, name="list.txt") == 0
    rows = [(row["status"], row["reason"], row["block"]) for row in rows_of(tmp_path / "out")]
    assert rows == [
        ("functionally_untestable", "unexcited", "mac"),
        ("untestable", "no_path", "cc"),
        ("not_attempted", "within_cycle", "sb"),
        ("not_attempted", "no_cell", "(no block)"),
    ]
    said = capsys.readouterr().out
    assert "Of 4 faults, 2 were not attempted, and may do anything" in said
    assert "Of 4 faults, 1 are functionally untestable: by the inputs that ran, which is no proof" in said
    # Counted again as what they are.
    listed = tmp_path / "out" / "faults.csv"
    asked = ["import", str(listed), "--campaign", "small.toml", "--out", "again", "--quiet"]
    assert main(asked) == 0
    again = [row["status"] for row in rows_of(tmp_path / "again")]
    assert again == [status for status, *_ in rows]


def test_what_has_no_site_here_may_have_been_simulated_by_others(cells, tmp_path):
    cells("stuck_at")
    assert (
        results(tmp_path, "site,type,status\nu_npu.U3/Y,sa0,DD\nu_npu.U3/Y,sa1,NC\nu_npu.U1/Y,sa0,NA\n") == 0
    )
    rows = [(row["status"], row["reason"]) for row in rows_of(tmp_path / "out")]
    assert rows == [("detected", ""), ("functionally_untestable", ""), ("not_attempted", "")]


@pytest.mark.parametrize("command", [run, results])
@pytest.mark.parametrize(
    ("model", "line", "says"),
    [
        ("set", "u_npu.U1/Y,upset,7", "a pin stores nothing that could be inverted"),
        ("set", "u_npu.U3/Y,SEU,7", "a pin stores nothing that could be inverted"),
        ("stuck_at", "u_npu.U1/Y,,7", "a pin stores nothing that could be inverted"),
        ("stuck_at", "u_npu.U1/Y,set,7", 'model = "stuck_at" in logic, found set; write model = "set"'),
        ("open", "u_npu.U1/Y,pulse,7", 'model = "open" in logic, found set'),
        ("set", "u_npu.U1/Y,sa0,", 'model = "set" in logic, found stuck_at_0; write model = "stuck_at"'),
        ("set", "u_npu.U3/Y,sa0,", 'model = "set" in logic, found stuck_at_0'),
        ("set", "u_npu.glue_q[0],set,7", "expected a fault of storage, found set, which strikes pins"),
        ("open", "u_npu.glue_q[0],open_0,", "expected a fault of storage, found open_0, which strikes pins"),
    ],
)
def test_a_type_that_is_none_of_where_it_strikes_is_refused(
    command, model, line, says, cells, tmp_path, capsys
):
    cells(model)
    assert command(tmp_path, f"site,type,time,status\n{line},safe\n") == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("model", "type_"), [("stuck_at", "upset"), ("set", "upset"), ("set", "sa0")])
def test_upsets_and_held_bits_of_storage_are_for_other_campaigns_than_of_logic(
    model, type_, cells, tmp_path, capsys
):
    cells(model)
    assert run(tmp_path, f"site,type,time\nu_npu.glue_q[0],{type_},7\n") == 2
    assert 'in storage; list it for a campaign whose kinds are without "logic"' in capsys.readouterr().err


def test_pulses_are_injected_at_their_times(cells, tmp_path):
    cells("set")
    assert run(tmp_path, "u_npu.U1/Y set 7\nu_npu.U1/Y SET 9\n", name="list.txt") == 0
    assert [(row["type"], row["time"]) for row in rows_of(tmp_path / "out")] == [("set", "7"), ("set", "9")]
    (tmp_path / "out").rename(tmp_path / "first")
    assert run(tmp_path, "u_npu.U1/Y set 5000\n", name="list.txt") == 2
