# SPDX-License-Identifier: Apache-2.0
"""Neighbours by a placement: files, distances by brute force, and a campaign whose truth is enumerated."""

from __future__ import annotations

import io
import json
import math
import random
import shutil
from collections import Counter

import pyarrow.parquet as pq
import pytest

from resil.bench.placement import placed
from resil.campaign.campaign import load_campaign
from resil.campaign.clusters import LARGEST
from resil.campaign.placement_settings import PlacementSettings
from resil.campaign.text import resolved_text
from resil.cli import main
from resil.errors import CampaignError
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.protection.corners import corners_of
from resil.protection.options import ProtectionError
from resil.rtl_harness.design.sites import Absent, Hardware, SiteTable, StorageElement

TABLE = SiteTable.of(
    [
        StorageElement("u_dut.a_q", "ff", 4),
        StorageElement("u_dut.u_b.w_q[2]", "ff", 3, lsb=4),
        StorageElement("u_dut.on_q", "ff", 1),
        StorageElement("u_dut.mem_q", "sram", 8, 4),
    ],
    [Absent(3, 1, Hardware.CONSTANT, value=0)],
)
A, MEM, ON, W = (TABLE.offsets[i] for i in range(4))
DEF = """VERSION 5.8 ;
DESIGN dut ;
UNITS DISTANCE MICRONS 2000 ;
COMPONENTS 8 ; # placed
- a_q_reg\\[0\\] DFFX1 + PLACED ( 0 0 ) N ;
- a_q_reg[1] DFFX1 + SOURCE DIST + PLACED ( 2000 0 ) FS ;
- a_q[2]$_DFFE_PN0P_ DFFX1
  + FIXED ( 0 4000 ) N ;
- u_b/w_q_reg[2][4] DFFX1 + PLACED ( 1000 0 ) N ;
- u_b/w_q_reg_2__5_ DFFX1 + PLACED ( 9000 0 ) N ;
- u_b.w_q[2][6] DFFX1 + UNPLACED ;
- on_q_reg DFFX1 + PLACED ( 3000 -200 ) N ;
- U1234 NAND2X1 + PLACED ( 100 100 ) N ;
END COMPONENTS
END DESIGN
"""


def placed_by(tmp_path, text, name="cells.csv", reach=5.0, kinds=("ff",), table=TABLE):
    (tmp_path / name).write_text(text)
    return placed(table, PlacementSettings(tmp_path / name, reach), "u_dut", kinds)


def test_a_def_file_gives_the_positions_of_registers(tmp_path):
    found = placed_by(tmp_path, DEF, "cells.def").sites
    # In um: a0 (0, 0), a1 (1, 0), a2 (0, 2), w4 (0.5, 0), w5 (4.5, 0), on (1.5, -0.1).
    assert found.cluster(A, LARGEST) == (A, W, A + 1)
    assert found.cluster(A + 1, LARGEST)[1:] == (W, ON)
    assert found.cluster(A + 2, 3) == (A + 2, A, W)
    assert found.cluster(W + 1, 3) == (W + 1, ON, A + 1)


def test_what_has_no_position_flips_the_next_bits_of_its_word(tmp_path):
    found = placed_by(tmp_path, DEF, "cells.def")
    sites = found.sites
    assert "1 of 7 flip-flops have no position in cells.def (u_dut.u_b.w_q[2][6])" in found.warnings[0]
    assert (sites.cluster(W + 2, 3), sites.room(W + 2)) == ((W + 2,), 1)
    assert sites.cluster(MEM + 5, 3) == (MEM + 5, MEM + 6, MEM + 7)
    assert (sites.cluster(MEM + 7, 3), sites.room(MEM + 7)) == ((MEM + 7,), 1)


def test_nothing_beyond_reach_flips(tmp_path):
    sites = placed_by(tmp_path, DEF, "cells.def", reach=0.6).sites
    assert sites.cluster(A, 3) == (A, W)
    assert sites.room(A + 2) == 1


@pytest.mark.parametrize("grid", [12, 2])
def test_neighbours_are_those_of_brute_force(grid, tmp_path):
    """Random positions on a coarse grid, so that many are equally far; bits of memories among them."""
    draw = random.Random(5)
    table = SiteTable.of([StorageElement(f"u_dut.r{i}_q", "ff", 8) for i in range(40)])
    at = {site: (draw.randrange(grid), draw.randrange(grid) / 2) for site in range(table.size)}
    rows = "".join(f"{table[site].name},{x},{y}\n" for site, (x, y) in at.items())
    sites = placed_by(tmp_path, "site,x,y\n" + rows, reach=1.6, table=table).sites
    for site in range(table.size):
        near = sorted(
            (round(math.dist(at[site], at[own]), 9), own)
            for own in at
            if own != site and math.dist(at[site], at[own]) <= 1.6
        )
        assert sites.cluster(site, LARGEST)[1:] == tuple(own for _, own in near[: LARGEST - 1])


def test_the_text_says_what_codes_lose(tmp_path):
    """Two words of two bits side by side: of the pairs two of four lie in one word, unseen by parity."""
    table = SiteTable.of([StorageElement("u_dut.a_q", "ff", 2), StorageElement("u_dut.b_q", "ff", 2)])
    rows = "site,x,y\nu_dut.a_q[0],0,0\nu_dut.a_q[1],1,0\nu_dut.b_q[0],1.9,0\nu_dut.b_q[1],3.0,0\n"
    text = placed_by(tmp_path, rows, table=table, reach=2.5).text
    # a0: a1; a1: b0; b0: a1; b1: b0.
    said = "are not seen by a parity bit a word"
    assert f"of those of 2 bits 0.5 {said}, 0.5 are not corrected by SECDED" in text
    # Of three two lie in one word always; a parity bit of the other sees it.
    assert f"of those of 3 bits 0 {said}, 1 are not corrected by SECDED" in text


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("cell,x,y\na,1,2\n", "c.csv", "expected the columns site, x and y"),
        ("site,x,y\nu_dut.a_q[0],1,two\n", "c.csv", "row 1: expected x and y in um"),
        ("site,x,y\nu_dut.a_q[0],1,nan\n", "c.csv", "row 1: expected x and y in um"),
        ("site,x,y\nnowhere,1,2\n", "c.csv", "found no name of one"),
        ("site,x,y\nu_dut.a_q[0],1,2\na_q_reg[0],3,4\n", "c.csv", "expected one position a bit"),
        ("site,x,y\nu_dut.a_q[0],1,2\n", "c.csv", "found none of 6 of 7"),
        (DEF.replace("COMPONENTS 8", "COMPONENTS 9"), "c.def", "expected 9 components, as it says, found 8"),
        (DEF.replace("UNITS", "UNIT"), "c.def", "found no units"),
        (DEF[: DEF.index("END COMPONENTS")], "c.def", "found no such section"),
    ],
)
def test_placements_that_are_refused(text, name, says, tmp_path):
    with pytest.raises(CampaignError, match=says) as raised:
        placed_by(tmp_path, text, name)
    assert raised.value.field == "faults.placement"


TARGET = """
name = "placed"
top = "placed"
sources = ["placed.sv"]
clock = "clk_i"
reset = "rst_ni"
dut = "u_core"
done = "done_o"
exclude = ["u_core.count_q"]

[blocks]
core = "u_core"

[alarms]
parity = { output = "parity_error_o", reports = "detected" }

[memories]
output = { path = "out_q", word_bytes = 2, plusarg = "output" }
"""
CAMPAIGN = """
[campaign]
name = "placed"
seed = 3

[target]
file = "target.toml"

[workload]
images = [{ memory = "output", file = "zero.hex" }]

[workload.output]
memory = "output"
shape = [1]
dtype = "uint16"

[faults]
kinds = ["ff"]
injections = 126
clusters = { 1 = 0.2, 2 = 0.4, 3 = 0.4 }
placement = "cells.csv"
reach_um = 4.0

[technology]
name = "finfet-16nm"
"""
CYCLES = 9
WORDS = {"u_core.a_q": 5, "u_core.b_q": 5, "u_core.c_q": 4}


@pytest.fixture(scope="module")
def design(repository, tmp_path_factory):
    """The words take turns on a row, a um apart."""
    folder = tmp_path_factory.mktemp("placed")
    shutil.copy(repository / "tests" / "rtl_harness" / "engine" / "placed.sv", folder)
    order = [f"{path}[{bit}]" for bit in range(5) for path, width in WORDS.items() if bit < width]
    rows = [f"{name},{place},0" for place, name in enumerate(order)]
    for name, text in (("target.toml", TARGET), ("campaign.toml", CAMPAIGN), ("zero.hex", "0\n")):
        (folder / name).write_text(text)
    (folder / "cells.csv").write_text("site,x,y\n" + "\n".join(rows) + "\n")
    return folder


def outcome(hit, cycle):
    """What comes of flipped bits, by arithmetic: see placed.sv."""
    masks = {path: sum(1 << bit for own, bit in hit if own == path) for path in WORDS}
    alarm = any(masks[path].bit_count() % 2 for path in ("u_core.a_q", "u_core.b_q"))
    if cycle < 4:
        masks["u_core.b_q"] = 0
    data = masks["u_core.a_q"] & 15 or masks["u_core.b_q"] & 15 or masks["u_core.c_q"]
    left = any(masks.values())
    seen = "latent" if cycle == CYCLES - 1 else "sdc_critical" if data else "latent" if left else "masked"
    return "due" if alarm else seen


def test_a_campaign_over_all_faults_is_what_arithmetic_says(design, tmp_path, monkeypatch):
    """Every bit in every cycle once, each with the size that was drawn for it, is enumerated."""
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(design / "campaign.toml"), "--out", "run", "--quiet"]) == 0
    rows = pq.read_table(tmp_path / "run" / "injections").to_pylist()
    sites = prepare(load_campaign(design / "campaign.toml"), Progress(io.StringIO())).sites
    order = [(path, bit) for bit in range(5) for path, width in WORDS.items() if bit < width]
    drawn = Counter()
    for row in rows:
        own = sites[row["site"]]
        place = order.index((own.element.path, own.bit))
        near = sorted((abs(p - place), sites_number(sites, order[p]), order[p]) for p in range(len(order)))
        hit = [order[place], *(name for distance, _, name in near[1 : row["bits"]] if distance <= 4)]
        assert row["outcome"] == outcome(hit, row["cycle"]), (hit, row["cycle"])
        drawn[row["site"], row["cycle"]] += 1
    assert len(drawn) == len(rows) == 14 * CYCLES
    assert {row["bits"] for row in rows} == {1, 2, 3}
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    said = {own["topic"]: own["text"] for own in summary["assumptions"]}
    assert "not seen by a parity bit" in said["placement"]
    assert "lie nearest on the die" in said["scope"]
    assert main(["replay", "run", str(rows[0]["injection"]), "--quiet"]) == 0
    # Another placement is another campaign.
    other = design / "cells.csv"
    before = other.read_text()
    try:
        other.write_text(before.replace(",13,0", ",14,0"))
        assert main(["run", str(design / "campaign.toml"), "--out", "run", "--quiet"]) == 2
    finally:
        other.write_text(before)


def sites_number(sites, name):
    path, bit = name
    return next(sites.offsets[i] + bit for i, e in enumerate(sites.elements) if e.path == path)


def test_protection_is_not_chosen_from_neighbours(design):
    with pytest.raises(ProtectionError, match="expected upsets within words"):
        corners_of(load_campaign(design / "campaign.toml"))


def test_the_resolved_campaign_has_the_placement(design):
    campaign = load_campaign(design / "campaign.toml")
    again = design / "again.toml"
    again.write_text(resolved_text(campaign))
    assert load_campaign(again).faults == campaign.faults


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("reach_um = 4.0\n", "", "reach_um: expected a number"),
        ("clusters = { 1 = 0.2, 2 = 0.4, 3 = 0.4 }\n", "", "upsets of several bits with it"),
        ('placement = "cells.csv"\n', "", "the key with placement only"),
        ('placement = "cells.csv"', 'placement = "zero.hex"', "ends in .csv or .def"),
    ],
)
def test_keys_that_do_not_fit_are_refused(old, new, says, design):
    file = design / "wrong.toml"
    file.write_text(CAMPAIGN.replace(old, new))
    with pytest.raises(CampaignError, match=says):
        load_campaign(file)
