# SPDX-License-Identifier: Apache-2.0
"""What `resil doctor` finds, and what is refused by the same before anything is built."""

from __future__ import annotations

import pytest

from resil import installation
from resil.bench.engines import check_waves
from resil.rtl_harness.engine.reference import build
from resil.rtl_harness.errors import ToolMissingError


@pytest.mark.parametrize("missing", [(), ("lz4.h",), ("lz4.h", "zlib.h")])
def test_headers_for_waveforms_are_named_and_are_optional(missing, monkeypatch):
    monkeypatch.setattr(installation, "missing_fst_headers", lambda: missing)
    finding = installation._fst()
    assert finding.status == ("optional" if missing else "ok")
    assert all(header in finding.found for header in missing or build.FST_HEADERS)
    assert bool(finding.remedy) == bool(missing)


def test_a_header_that_is_not_there_is_found_missing(monkeypatch):
    monkeypatch.setattr(build, "FST_HEADERS", ("vector", "no_such_header.h"))
    assert build.missing_fst_headers() == ("no_such_header.h",)


def test_an_fst_file_is_refused_before_anything_is_built(tmp_path, monkeypatch):
    """The fault: the simulator was elaborated first, minutes later the header was missed."""
    monkeypatch.setattr(build, "missing_fst_headers", lambda: ("lz4.h",))
    with pytest.raises(ToolMissingError, match=r"found no lz4\.h; install them"):
        check_waves(tmp_path / "x.fst", None)
    check_waves(tmp_path / "x.vcd", None)
