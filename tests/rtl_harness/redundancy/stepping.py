# SPDX-License-Identifier: Apache-2.0
"""A small design whose hangs stand still, or go on, and a campaign on it."""

from pathlib import Path

from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from testkit.netlists import synthesised
from tests.rtl_harness.redundancy.designs import EXAMPLES

_SOURCE = Path(__file__).with_name("stepper.sv")
_TARGET = """
name = "stepper"
top = "stepper_bench"
dut = "u_dut"
sources = ["{memory}", "{source}"]
clock = "clk_i"
reset = "rst_ni"
done = "done_o"
status = "status_o"
operation = "ops_done_o"
[blocks]
stepper = "u_dut"
[memories.source]
path = "u_source.mem_q"
word_bytes = 4
plusarg = "source"
observed = false
[memories.sink]
path = "u_sink.mem_q"
word_bytes = 8
plusarg = "sink"
"""
_CAMPAIGN = """
[campaign]
name = "{name}"
seed = {seed}
[target]
file = "stepper.toml"
[workload]
name = "{name}"
decision = "exact"
[[workload.images]]
memory = "source"
files = ["{name}.hex"]
[workload.output]
memory = "sink"
offset = 0
shape = [12]
dtype = "uint64"
[faults]
kinds = ["ff"]
injections = {injections}
[execution]
timeout = "{timeout}"
[technology]
name = "finfet-16nm"
[budget]
fit = 0.1
rationale = "a test"
hazardous = ["hang"]
"""


def words(seed: int) -> list[int]:
    return [(seed * 2654435761 + i * 40503 * (seed + i)) % 2**32 for i in range(64)]


def stepper(folder: Path) -> Target:
    """Write the target file to a folder, and return the target."""
    text = _TARGET.format(memory=EXAMPLES / "rtl" / "memory.sv", source=_SOURCE)
    (folder / "stepper.toml").write_text(text)
    return load_target(folder / "stepper.toml")


def stepper_netlist(folder: Path, *, scan: bool = False) -> Target:
    """Write the stepper as a netlist of cells, and return the target that has it in its bench."""
    core, bench = _SOURCE.read_text().split("module stepper_bench")
    (folder / "core.sv").write_text(core)
    (folder / "bench.sv").write_text(f"module stepper_bench{bench}")
    synthesised([folder / "core.sv"], "stepper", folder, scan=scan)
    text = _TARGET.format(memory=EXAMPLES / "rtl" / "memory.sv", source="netlist.v")
    text = text.replace("sources = [", 'cells = "cells.lib"\nsources = ["bench.sv", ')
    (folder / "netlist.toml").write_text(text)
    return load_target(folder / "netlist.toml")


def stepper_work(seed: int = 1) -> Workload:
    image = b"".join(word.to_bytes(4, "little") for word in words(seed))
    return Workload("stepper", {"source": image}, OutputSpec("sink", 0, (12,), "uint64"), decide=exact)


def stepper_campaign(
    folder: Path, name: str, seed: int, injections: int = 1500, timeout: str = "inference"
) -> Path:
    """Write a campaign, its target and its words to a folder, and return it."""
    stepper(folder)
    (folder / f"{name}.hex").write_text("".join(f"{word:08x}\n" for word in words(seed)))
    text = _CAMPAIGN.format(name=name, seed=seed, injections=injections, timeout=timeout)
    (folder / f"{name}.toml").write_text(text)
    return folder / f"{name}.toml"
