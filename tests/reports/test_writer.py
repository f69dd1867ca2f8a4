# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import pytest

from resil.reports import ReportError, write_files


def test_text_and_bytes_are_written_and_replaced(tmp_path):
    written = write_files({"a.txt": "µ\n", "sub/b.bin": b"\x00\r\n"}, tmp_path / "new")
    assert [path.relative_to(tmp_path / "new").as_posix() for path in written] == ["a.txt", "sub/b.bin"]
    assert written[0].read_bytes() == "µ\n".encode()
    assert written[1].read_bytes() == b"\x00\r\n"
    write_files({"a.txt": "again"}, tmp_path / "new")
    assert written[0].read_text() == "again"
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a.txt", "sub"]


def test_files_get_the_usual_permissions(tmp_path):
    (written,) = write_files({"a.txt": ""}, tmp_path)
    umask = os.umask(0o022)
    os.umask(umask)
    assert written.stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize("name", ["../a", "/a", "x/../../a", "", "."])
def test_nothing_is_written_if_one_name_leads_elsewhere(tmp_path, name):
    with pytest.raises(ReportError, match="inside this folder"):
        write_files({"good": "x", name: "y"}, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_refusal_of_the_disk_names_the_file_and_leaves_the_old_one(tmp_path, monkeypatch):
    write_files({"a.txt": "old"}, tmp_path)

    def refuse(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(ReportError, match=r"a\.txt: cannot write.*No space left"):
        write_files({"a.txt": "new"}, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "f").write_text("")
    with pytest.raises(ReportError, match="cannot write this report"):
        write_files({"a": "x"}, tmp_path / "f")
