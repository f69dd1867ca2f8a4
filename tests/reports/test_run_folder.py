from __future__ import annotations

import json

import pytest

from reports import ReportError, load_run, render, write_figures, write_files


@pytest.fixture
def run_folder(tmp_path, summary_document, protection_document):
    write_files(
        {"summary.json": json.dumps(summary_document), "protection.json": json.dumps(protection_document)},
        tmp_path,
    )
    return tmp_path


def test_a_folder_is_loaded_and_rendered(run_folder, summary, protection, summary_document):
    assert load_run(run_folder) == (summary, protection)
    assert set(render(summary_document)) == {"blocks.csv", "fmeda.xlsx", "report.html"}
    (run_folder / "protection.json").unlink()
    assert load_run(run_folder) == (summary, None)


def test_figures_of_a_run_are_written(run_folder, tmp_path):
    written = write_figures(run_folder, tmp_path / "img", frozenset({"overview.svg"}))
    assert [path.name for path in written] == ["overview.svg"]
    assert len(write_figures(run_folder, tmp_path / "img")) == 8
    with pytest.raises(ReportError, match=r"expected figures among .*overview\.svg.*found moon\.svg"):
        write_figures(run_folder, tmp_path / "img", frozenset({"moon.svg"}))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("summary.json", None, r"summary\.json: there is no such file.*--resume"),
        ("summary.json", "{", r"summary\.json: expected a JSON document"),
        ("summary.json", "[]", "expected a JSON object, found list"),
        ("protection.json", '{"schema": 1}', r"protection\.json: result: this field is missing"),
    ],
)
def test_damaged_folders_are_refused(run_folder, name, text, message):
    if text is None:
        (run_folder / name).unlink()
    else:
        (run_folder / name).write_text(text)
    with pytest.raises(ReportError, match=message):
        load_run(run_folder)
