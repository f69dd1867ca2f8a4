# SPDX-License-Identifier: Apache-2.0
"""docs/reference/files.md names every column and key of the files of a run, and nothing that is not there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from resil.cli import main
from resil.record.assessor import AssessorKit
from resil.record.explanation import Explanation
from resil.record.fields import DOCUMENTS, json_schema
from resil.record.listed import ListedResults
from resil.record.mechanism_faults import MechanismFaults
from resil.record.mechanisms import MechanismAudit
from resil.record.patterns import ErrorPatterns
from resil.record.protection import Protection
from resil.record.protection_build import Build
from resil.record.protection_confirmation import Confirmation
from resil.record.stored_audit import StoredAudit
from resil.record.study import StudyRecord
from resil.record.trace import Trace
from resil.record.underway import Underway
from resil.record.validation import Validation
from resil.reference.documents import with_documents
from testkit import fake
from testkit.campaigns import TEXT, write_campaign
from tests.resil import studies

# `tests/resil/trace`, `.../sensitivity`, `.../watch`, `.../protection/test_verify.py`,
# `.../run/test_stored_audit.py`, `.../validation`, `.../mechanisms` and `.../assessor` have these.
BUILT = (
    Trace,
    Explanation,
    MechanismAudit,
    MechanismFaults,
    ErrorPatterns,
    Underway,
    Build,
    Confirmation,
    StoredAudit,
    Validation,
    AssessorKit,
)
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "files.md"
PLAN = '[sampling]\nplan = "uniform"\n'  # divides faults by register class too
NAME = re.compile(r"`([^`]+)`")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        main(["run", str(write_campaign(folder, TEXT + PLAN)), "--out", str(folder / "run"), "--quiet"])
    return folder / "run"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    text = studies.TEXT + "[protection]\nwanted = true\n"
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        main(["study", str(studies.write_study(folder, text)), "--out", str(folder / "out"), "--quiet"])
    return folder / "out"


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """Folder of a fault list."""
    folder = tmp_path_factory.mktemp("listed")
    file = folder / "faults.csv"
    file.write_text("site,type,time\nu_npu.u_mac.acc_q[0][5],upset,100\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resil.lists.inject.prepare", fake.fake_bench)
        campaign = str(write_campaign(folder))
        main(["run", campaign, "--faults", str(file), "--out", str(folder / "out"), "--quiet"])
    return folder / "out"


@pytest.fixture(scope="module")
def over_units(tmp_path_factory):
    """Folder of a run with a plan over two runs."""
    folder, runs = tmp_path_factory.mktemp("units"), []
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 4000")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        for seed in (7, 8):
            own = folder / str(seed)
            own.mkdir()
            other = text.replace("zoo:digits", "zoo:digits_separable") if seed == 8 else text
            file = write_campaign(own, other.replace("seed = 7", f"seed = {seed}"))
            main(["run", str(file), "--out", str(own / "run"), "--quiet"])
            runs.append(str(own / "run"))
        main(["protect", *runs, "--fit-share", "0.5", "--quiet"])
    return folder / "7" / "run"


def documented(heading):
    """Names before the colon of each item below a heading."""
    (section,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
    entries = re.findall(r"^- (`.*?)(?=^- |^\S|\Z)", section, re.M | re.S)
    return [name for entry in entries for name in NAME.findall(re.split(r":\s", entry, maxsplit=1)[0])]


def test_lists_of_fields_come_from_the_classes_of_the_documents():
    assert PAGE.read_text() == with_documents(PAGE.read_text()), (
        "run: python -m resil.reference docs/reference"
    )


@pytest.mark.parametrize("document", [own for own in DOCUMENTS if own not in BUILT])
def test_files_are_read_by_the_classes_that_the_page_lists(document, folder, study, listed, over_units):
    place = {Protection: over_units, StudyRecord: study, ListedResults: listed}.get(document, folder)
    text = (place / document.FILE).read_text()
    assert document.read(text).text() == text
    assert json_schema(document)["required"] == list(json.loads(text))


def test_columns_of_tables(folder, study):
    part = next((folder / "injections").glob("*.parquet"))
    assert documented("injections/part-*.parquet") == pq.read_schema(part).names
    sites = documented("sites.parquet")
    # A run that strikes cells has one more.
    sites.remove("pin")
    # Of netlists.
    sites.remove("rtl_register")
    assert sites == pq.read_schema(folder / "sites.parquet").names
    assert documented("strata.parquet") == pq.read_schema(folder / "strata.parquet").names
    assert sorted(documented("study.parquet")) == sorted(pq.read_schema(study / "study.parquet").names)
    assert documented("blocks.csv") == (folder / "blocks.csv").read_text().splitlines()[0].split(",")
