# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from resil.rtl_harness.engine.fast.native import build
from resil.rtl_harness.engine.fast.native.build import build_model, variables_at
from resil.rtl_harness.errors import HarnessError, SimulationError, ToolMissingError
from testkit.errors import about
from tests.rtl_harness.engine.fast.native.design import ELEMENTS, HERE, closed_target


def source(folder, text):
    file = folder / "bench.sv"
    file.write_text(text)
    return closed_target(top="bench", sources=(file,), alarms={}, status="", operation="")


def bench(ports, done):
    return f"module bench(input logic clk_i, rst_ni, {ports}); assign done_o = {done}; endmodule\n"


def test_same_content_is_built_once(closed_library, tmp_path):
    moved = tmp_path / "closed.sv"
    moved.write_text((HERE / "closed.sv").read_text())
    assert build_model(closed_target(sources=(moved,)), {}, variables_at(ELEMENTS)) == closed_library.path


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_open_input_is_named(own_cache, tmp_path):
    text = bench("input logic go_i, output logic done_o", "go_i")
    with pytest.raises(HarnessError, match=r"only clock and reset as inputs, found go_i too"):
        build_model(source(tmp_path, text), {}, [])


def test_missing_port_is_named(own_cache, tmp_path):
    text = bench("output logic end_o", "clk_i").replace("assign done_o", "assign end_o")
    with pytest.raises(HarnessError, match=r"done = 'done_o' is no such port of top bench, which has end_o"):
        build_model(source(tmp_path, text), {}, [])


def test_wide_port_is_named(own_cache, tmp_path):
    text = bench("output logic [64:0] done_o", "65'(clk_i)")
    with pytest.raises(HarnessError, match="has 65 bits; at most 64"):
        build_model(source(tmp_path, text), {}, [])


def test_broken_source_shows_the_message_and_leaves_nothing(own_cache, tmp_path):
    with pytest.raises(SimulationError, match="syntax error"):
        build_model(source(tmp_path, "module bench(; endmodule\n"), {}, [])
    left = [p for p in own_cache.rglob("*") if p.is_file() and p.suffix != ".lock"]
    assert {p.relative_to(own_cache).parts[0] for p in left} == {"sources"}


def test_shared_objects_follow_their_sources(closed_library, monkeypatch, tmp_path):
    before = build.shared_objects()
    assert build.shared_objects() == before
    changed = tmp_path / "activity.cpp"
    changed.write_text((build.HERE / "activity.cpp").read_text() + "\nint resil_changed = 1;\n")
    headers = [*(tmp_path / file.name for file in build.HEADERS)]
    for file in headers:
        file.write_text((build.HERE / file.name).read_text())
    others = tuple(file for file in build.SHARED if file.name != changed.name)
    monkeypatch.setattr(build, "SHARED", (changed,))
    monkeypatch.setattr(build, "HEADERS", tuple(headers))
    [made] = build.shared_objects()
    assert b"resil_changed" in made.read_bytes()
    assert b"resil_changed" not in next(f for f in before if f.name == "activity.o").read_bytes()
    headers[0].write_text(headers[0].read_text() + "\n// changed\n")
    assert build.shared_objects() != [made]
    assert len(before) == 1 + len(others)


def test_a_change_of_the_shared_parts_only_links_the_design_anew(closed_library, monkeypatch, tmp_path):
    changed = tmp_path / "activity.cpp"
    for file in (*build.HEADERS, build.HERE / changed.name):
        (tmp_path / file.name).write_text(file.read_text())
    changed.write_text(changed.read_text() + "\nint resil_changed = 2;\n")
    others = [file for file in build.SHARED if file.name != changed.name]
    monkeypatch.setattr(build, "SHARED", (changed, *others))
    monkeypatch.setattr(build, "verilate_copies", None)
    made = build_model(closed_target(), {}, variables_at(ELEMENTS))
    assert made != closed_library.path
    assert b"resil_changed" in made.read_bytes()


def test_dynamic_state_is_refused(tmp_path):
    text = """
    module bench(input logic clk_i, rst_ni, output logic done_o);
      int waiting [$];
      always_ff @(posedge clk_i) if (rst_ni) waiting.push_back(1);
      assign done_o = waiting.size() > 3;
    endmodule
    """
    with pytest.raises(SimulationError, match="dynamic type"):
        build_model(source(tmp_path, text), {}, [])


def test_missing_source_and_compiler_are_named(own_cache, monkeypatch, tmp_path):
    with pytest.raises(HarnessError, check=about("sources")):
        build_model(closed_target(sources=(Path("nowhere.sv"),)), {}, [])
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolMissingError, match="no-such-compiler"):
        build_model(closed_target(parameters={"Words": 16}), {}, [])
