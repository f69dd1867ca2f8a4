# SPDX-License-Identifier: Apache-2.0
import pytest

from resil.rtl_harness import tools
from resil.rtl_harness.errors import SimulationError, ToolMissingError
from testkit.errors import about


def test_verilator_runs(tmp_path):
    assert tools.find_verilator().root.joinpath("include", "verilated.mk").is_file()
    tools.verilate(["--version"], tmp_path)


def test_missing_compiler_names_the_remedy(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(ToolMissingError, match=r"found none of g\+\+.*install g\+\+"):
        tools.find_compiler()


def test_chosen_compiler_that_is_missing(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    with pytest.raises(ToolMissingError, check=about("a C++20 compiler")):
        tools.find_compiler()


def test_missing_make(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("MAKE", raising=False)
    with pytest.raises(ToolMissingError, check=about("GNU make")):
        tools.find_make()


def test_failure_shows_the_end_of_the_log(tmp_path):
    (tmp_path / "bad.sv").write_text("module bad; wire x = ; endmodule\n")
    with pytest.raises(SimulationError, check=about("Verilator")):
        tools.verilate(["--lint-only", "bad.sv"], tmp_path)


def test_folder_with_spaces_is_refused(tmp_path):
    folder = tmp_path / "two words"
    with pytest.raises(SimulationError, check=about("cwd")):
        tools.make_verilated("Vtop.mk", folder, {})


def test_tail():
    assert tools.tail("a\nb\nc\n", 2) == "b\nc"
