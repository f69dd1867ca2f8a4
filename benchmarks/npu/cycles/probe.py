# SPDX-License-Identifier: Apache-2.0
"""A simulator of the bench that says of each operation when its stages began and ended (`probe.sva`)."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CompiledNetwork, compile_bytes
from resil.networks.ends import each_shape
from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.fast.native.runner import readmemh_text
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.workload import layout, npu_workload
from resil.rtl_harness.tools import compiler_version, find_verilator, make_verilated, verilate

Tensors = list[npt.NDArray[np.generic]]

SIZES = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256")
PROBE = Path(__file__).parent / "probe.sva"
MEMORIES = {"FlashWords": 262144, "SramWords": 131072}
LIMIT = 30_000_000
FLAGS = (
    *("--cc", "--exe", "--no-timing", "--prefix", "Vtop", "--output-split", "40000"),
    *("--x-assign", "0", "--x-initial", "unique", "--noassert", "-Wno-fatal", "-Wno-lint", "-o", "simulator"),
)
MAIN = f"""
#include <cstdio>
#include "Vtop.h"
#include "verilated.h"
int main(int argc, char** argv) {{
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vtop top(&context);
  top.rst_ni = 0;
  for (int cycle = 0; cycle < {LIMIT} && !top.done_o; ++cycle) {{
    if (cycle == 8) top.rst_ni = 1;
    top.clk_i = 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
  }}
  std::printf("done %d %d\\n", int(top.done_o), int(top.error_o));
  top.final();
  return 0;
}}
"""
_START = ("idle_since", "started")
_END = ("ended", "mac_first", "mac_last", "ao_first", "ao_last", "no_vector", "no_ifm")


@dataclass(frozen=True)
class Stages:
    """Cycles of one operation, by what they went to; those before `no_vector` follow one another.

    Attributes:
        name: Of the layer's output, as Vela gives it.
        kind: "conv", "depthwise", "pool" or "elementwise".
        vela: Vela's estimate, 0 if it says nothing.
        command: From the end of the operation before: commands, and copies that they wait for.
        start: To the first work: reading the first piece of the input, both of them if elementwise.
        work: To the last sum of the MAC unit, if there is one.
        output: From there to the last element of the output unit.
        write: To the last answer of the memory.
        no_vector: Cycles in which the MAC unit waited for weights.
        no_ifm: Cycles in which it waited for a piece of the input, the first included.
    """

    name: str
    kind: str
    vela: int
    command: int
    start: int
    work: int
    output: int
    write: int
    no_vector: int
    no_ifm: int

    @property
    def cycles(self) -> int:
        """From the end of the operation before to its own."""
        return self.command + self.start + self.work + self.output + self.write


@dataclass(frozen=True)
class Run:
    """One inference: the whole stream's cycles and Vela's estimate, and its operations."""

    network: str
    npu: str
    cycles: int
    vela: int
    operations: tuple[Stages, ...]


def build(target: Target) -> Path:
    """Return the simulator of `target` with the probe, built or from the cache."""
    sources = (*target.sources, PROBE)
    parameters = {**target.parameters, **MEMORIES}

    def fill(folder: Path) -> None:
        (folder / "main.cpp").write_text(MAIN)
        verilate(
            [
                *FLAGS,
                *("--top-module", target.top, "--Mdir", "obj", *map(str, sources), "main.cpp"),
                *(f"-G{name}={value}" for name, value in parameters.items()),
            ],
            folder,
        )
        make_verilated("Vtop.mk", folder / "obj", {"OPT_FAST": "-O1", "OPT_GLOBAL": "-O0"})

    key = content_key(sources, parameters, FLAGS, MAIN, (find_verilator().version, compiler_version()))
    return cached_folder("cycles", key, fill) / "obj" / "simulator"


def measure(name: str, data: bytes, npu: str, seed: int = 1) -> Run:
    """Run a .tflite file's bytes once on noise.

    Raises:
        RuntimeError: It did not end well, or an output is not the functional model's.
    """
    compiled = compile_bytes(data, Path(f"{name}.tflite"), npu)
    rng = np.random.default_rng(seed)
    tensors: Tensors = [rng.integers(-128, 128, slot.shape).astype(slot.dtype) for slot in compiled.inputs]
    lines, sram = _simulate(build(load_target(npu)), npu_workload(compiled, tensors))
    if lines["done"] != [[1, 0]]:
        raise RuntimeError(f"{name} on {npu}: expected done 1 and error 0, found {lines['done']}")
    _compare(compiled, tensors, sram)
    begin, end = lines["stream"][0]
    pairs = zip(compiled.operations, lines["start"], lines["end"], strict=True)
    operations = []
    for operation, started, ended in pairs:
        at = dict(zip(_START, started, strict=True)) | dict(zip(_END, ended, strict=True))
        elementwise = operation.kind == "elementwise"
        first = at["ao_first" if elementwise else "mac_first"]
        last = first if elementwise else at["mac_last"]
        operations.append(
            Stages(
                operation.name, operation.kind, operation.vela_cycles or 0,
                at["started"] - at["idle_since"], first - at["started"], last - first,
                at["ao_last"] - last, at["ended"] - at["ao_last"], at["no_vector"], at["no_ifm"],
            )
        )  # fmt: skip
    return Run(name, npu, end - begin, compiled.vela_total_cycles, tuple(operations))


def _simulate(simulator: Path, workload: Workload) -> tuple[dict[str, list[list[int]]], bytes]:
    """Return the numbers of each line by its first word, and what is left in the SRAM."""
    with tempfile.TemporaryDirectory(prefix="resil-cycles-") as folder:
        left = Path(folder) / "left"
        arguments = [f"+left={left}"]
        for memory, image in workload.images.items():
            file = Path(folder) / memory
            file.write_text(readmemh_text(image, 8))
            arguments.append(f"+{memory}={file}")
        arguments += [f"+{memory}_words={words}" for memory, words in workload.words.items()]
        done = subprocess.run([simulator, *arguments], check=True, capture_output=True, text=True)
        words = [word for word in left.read_text().split() if not word.startswith(("/", "@"))]
    lines: dict[str, list[list[int]]] = {"start": [], "end": [], "stream": [], "done": []}
    for line in done.stdout.splitlines():
        first, *numbers = line.split() or [""]
        if first in lines:
            lines[first].append([int(number) for number in numbers])
    return lines, b"".join(int(word, 16).to_bytes(8, "little") for word in words)


def _compare(compiled: CompiledNetwork, tensors: Tensors, sram: bytes) -> None:
    given = [tensor.reshape(1, *each_shape(tensor.shape)) for tensor in tensors]
    placed = layout(compiled)
    for slot, expected in zip(compiled.outputs, infer(compiled, given, "functional").outputs, strict=True):
        start = placed.slot_offset(slot)
        found = np.frombuffer(sram[start : start + slot.size], slot.dtype)
        wrong = int(np.count_nonzero(found != np.asarray(expected).reshape(-1)))
        if wrong:
            raise RuntimeError(
                f"{compiled.name} on {compiled.accelerator}, output {slot.name}: {wrong} of {found.size} "
                "elements are not the functional model's"
            )
