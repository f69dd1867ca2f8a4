# SPDX-License-Identifier: Apache-2.0
"""Waveforms as GHDL writes them: the replay is that of the same waveform in another format."""

import numpy as np

from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.replay.closed import ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.images import images_of
from resil.rtl_harness.replay.recording import Span
from resil.rtl_harness.replay.waves import Waves
from testkit.ghw import GhwWriter
from tests.rtl_harness.replay.model import HERE, INPUTS, PERIOD, WIDTHS, Ledger, stimulus, write_vcd
from tests.rtl_harness.replay.replayed import Replayed, closed_by

CYCLES, NANOSECOND = 60, 1_000_000


def write_ghw(file, inputs, levels="01"):
    """Write what `write_vcd` writes; values are weak with the levels "LH"."""
    ports = {
        name: ("in" if name in (*INPUTS, "clk_i") else "out", () if width == 1 else (width,))
        for name, width in WIDTHS.items()
    }
    made, ledger = GhwWriter(["tb", "u_dut"], ports), Ledger()

    def bits(values):
        return {
            name: "".join(levels[int(bit)] for bit in f"{value:0{WIDTHS[name]}b}")
            for name, value in values.items()
        }

    for cycle, given in enumerate(inputs):
        ledger.settle(given)
        made.change(NANOSECOND * PERIOD * cycle, bits({"clk_i": 0, **given, **ledger.outputs()}))
        ledger.edge(given)
        middle = PERIOD * cycle + PERIOD // 2
        made.change(NANOSECOND * middle, bits({"clk_i": 1, **ledger.outputs()}))
    made.change(NANOSECOND * PERIOD * len(inputs), {"clk_i": levels[0]})
    return made.write(file)


def test_a_replay_is_that_of_the_other_format(tmp_path):
    inputs = stimulus(CYCLES, seed=4)
    target = tmp_path / "ledger.toml"
    target.write_text(f'name = "ledger"\ntop = "ledger"\nsources = ["{HERE}/ledger.sv"]\nclock = "clk_i"\n')
    files = [
        write_vcd(tmp_path / "a.vcd", inputs),
        write_ghw(tmp_path / "a.ghw", inputs),
        write_ghw(tmp_path / "weak.ghw", inputs, "LH"),
    ]
    closed = close_by_recordings(
        load_target(target), ReplayRequest(tuple(Span(own, "TB.U_DUT") for own in files)), target
    )
    one, *others = (images_of(own, closed.layout, closed.rules) for own in closed.recordings)
    assert [own.memories for own in others] == [one.memories] * 2
    assert closed.recordings[1].waves.time(int(closed.recordings[1].times[0])) == "5,000,000 fs"
    window = ReplayRequest((Span(files[1], "tb.u_dut", "0 ns", "200 ns"),))
    assert close_by_recordings(load_target(target), window, target).recordings[0].cycles == 20
    replay = Replayed(closed_by(target, files[1]))
    assert replay.golden(PlainEngine).end.output == replay.expected


def test_levels_that_are_no_value_and_arrays(tmp_path):
    made = GhwWriter(["top"], {"clk": ("in", ()), "level": ("in", (9,)), "words": ("in", (2, 4))})
    made.change(0, {"clk": "0", "level": "UX01ZWLH-", "words": "01010011"})
    made.change(5, {"clk": "1", "words": "1100ZZ11"})
    waves = Waves(made.write(tmp_path / "a.ghw"))
    parts = waves.parts("top")

    def read(name, width, time):
        values, known = waves.signal(parts[name], width).sampled(np.array([time]), before=False)
        pairs = zip(values[0][::-1], known[0][::-1], strict=True)
        return "".join(str(int(v)) if k else "x" for v, k in pairs)

    assert read("level", 9, 0) == "xx01xx01x"
    assert [read(f"words[{i}]", 4, time) for time in (0, 5) for i in (0, 1)] == [
        "0101",
        "0011",
        "1100",
        "xx11",
    ]
