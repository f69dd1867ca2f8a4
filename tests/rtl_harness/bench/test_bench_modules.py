# SPDX-License-Identifier: Apache-2.0
"""The shipped bench modules under random traffic, against a model of AXI4 memory and of the hosts."""

from __future__ import annotations

import doctest
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness import bench
from resil.rtl_harness.bench import (
    BootStep,
    boot_program,
    check,
    interrupt,
    mark,
    poll,
    read,
    wait,
    write,
)
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import (
    SHIPPED_TARGETS,
    Target,
    TargetAlarm,
    TargetMemory,
)
from resil.rtl_harness.engine.fast.native.build import SourceVariable
from resil.rtl_harness.engine.fast.native.library import OutputPort, Stop
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.memories import readmemh_text
from resil.rtl_harness.engine.workload import OutputSpec, Workload

HERE = Path(__file__).parent
BASE = 0x4000_0000
FIXED, INCREMENT, WRAP, RESERVED = range(4)
OKAY, FAILED = 0, 2


@dataclass(frozen=True)
class Memory:
    name: str
    width: int
    words: int
    read_latency: int
    write_latency: int
    interval: int = 1

    @property
    def bytes(self):
        return self.width // 8


MEMORIES = [Memory("a", 32, 64, 5, 3), Memory("b", 512, 48, 3, 1), Memory("c", 64, 128, 20, 7, 4)]


@dataclass(frozen=True)
class Burst:
    write: bool
    addr: int
    len: int
    size: int
    burst: int
    id: int
    no_last: bool = False

    def entry(self):
        fields = [(self.addr, 0), (self.len, 32), (self.size, 40), (self.burst, 44), (self.write, 46)]
        fields += [(self.id, 48), (self.no_last, 52)]
        return sum(int(value) << place for value, place in fields)


def random_script(memory, count, seed):
    rng = np.random.default_rng(seed)
    span = memory.words * memory.bytes
    full = memory.bytes.bit_length() - 1
    script = []
    for _ in range(count):
        size = int(rng.integers(0, full + 1)) if rng.random() < 0.4 else full
        burst = int(rng.choice([FIXED, INCREMENT, INCREMENT, INCREMENT, WRAP]))
        length = int(rng.choice([1, 3, 7, 15] if burst == WRAP else [0, 0, 1, 2, 5, 15]))
        offset = int(rng.integers(0, span))
        if burst == WRAP:
            offset &= -(1 << size)
        odd = rng.random()
        if odd < 0.05:
            offset = span + int(rng.integers(0, 2**30))
        elif odd < 0.1:
            offset = int(rng.integers(-64, 0))
        elif odd < 0.13:
            burst = RESERVED
        elif odd < 0.16:
            size = full + 1 if full < 7 else size
        write = bool(rng.random() < 0.5)
        no_last = write and rng.random() < 0.05
        script.append(Burst(write, BASE + offset, length, size, burst, int(rng.integers(0, 8)), no_last))
    return script


def beats(burst):
    """Addresses of a burst's beats, as the AXI4 specification's formulas give them."""
    size = 1 << burst.size
    aligned = burst.addr // size * size
    total = size * (burst.len + 1)
    low = burst.addr // total * total
    for n in range(burst.len + 1):
        if burst.burst == FIXED or n == 0:
            yield burst.addr
        elif burst.burst == WRAP:
            yield low + (burst.addr - low + n * size) % total
        else:
            yield aligned + n * size


def model(memory, content, script):
    """Return the read beats (last, id, resp, data), the write answers (id, resp) and the final content."""
    content = bytearray(content)
    reads, writes = [], []
    count = 0
    for burst in script:
        bad = burst.burst == RESERVED or 1 << burst.size > memory.bytes
        failed = False
        for number, address in enumerate(beats(burst)):
            last = number == burst.len
            word = (address - BASE) // memory.bytes
            hit = not bad and 0 <= word < memory.words
            place = slice(word * memory.bytes, (word + 1) * memory.bytes)
            if not burst.write:
                data = int.from_bytes(content[place], "little") if hit else 0
                reads.append((last, burst.id, OKAY if hit else FAILED, data))
                continue
            hit = hit and not (last and burst.no_last)
            failed |= not hit
            mix = count * 0x9E37_79B1 & 0xFFFF_FFFF
            strobe = 15 if mix >> 16 & 1 else mix >> 12 & 15
            count += 1
            if hit:
                for i in range(memory.bytes):
                    if strobe >> i % 4 & 1:
                        content[place.start + i] = mix >> 8 * (i % 4) & 255
        if burst.write:
            writes.append((burst.id, FAILED if failed else OKAY))
    return reads, writes, bytes(content)


class Hosted:
    """The bench compiled once; runs programs and scripts."""

    def __init__(self):
        memories = {}
        for memory in MEMORIES:
            n = memory.name
            memories[f"{n}_script"] = TargetMemory(f"u_{n}.script_q", 8, f"{n}_script")
            memories[f"{n}_mem"] = TargetMemory(f"u_{n}.u_mem.mem_q", memory.bytes, f"{n}_mem")
            memories[f"{n}_reads"] = TargetMemory(f"u_{n}.reads_q", memory.bytes + 8, "unused")
            memories[f"{n}_writes"] = TargetMemory(f"u_{n}.writes_q", 8, "unused")
            memories[f"{n}_issued"] = TargetMemory(f"u_{n}.issued_q", 4, "unused")
        for host in ("axil", "apb"):
            memories[host] = TargetMemory(f"u_{host}.u_boot.program_q", 16, host)
        sources = (*sorted((SHIPPED_TARGETS.parent / "bench").glob("*.sv")), *sorted(HERE.glob("*.sv")))
        ports = {"status": "status_o", "operation": "operations_o"}
        ports["alarms"] = {"error": TargetAlarm("error_o")}
        self.target = Target(
            *("bench modules", "bench", sources, "clk_i", "rst_ni", "u_a", "done_o", {}, memories), **ports
        )
        extra = [SourceVariable("traffic", name) for name in ("broken_q", "r_log_q", "b_log_q", "w_count_q")]
        extra += [SourceVariable("resil_boot", "error_q"), SourceVariable("device", "word_q")]
        self.runner = Runner(self.target, {}, extra)

    @contextmanager
    def run(self, scripts=None, contents=None, programs=None, limit=200_000):
        images = {}
        for memory in MEMORIES:
            script = (scripts or {}).get(memory.name, [])
            images[f"{memory.name}_script"] = entries(script)
            images[f"{memory.name}_mem"] = (contents or {}).get(memory.name, b"")
        for host in ("axil", "apb"):
            images[host] = boot_program((programs or {}).get(host, []))[: 16 * 16]
        self.workload = Workload("traffic", images, OutputSpec("a_mem", 0, (1,)))
        with self.runner.started(self.workload) as instance:
            self.stop = instance.run(limit)
            yield instance

    def content(self, instance, memory):
        return self.runner.memory(instance, memory, self.workload)

    def log(self, instance, memory, count):
        raw = self.content(instance, memory)
        size = self.target.memories[memory].word_bytes
        return [int.from_bytes(raw[i * size : (i + 1) * size], "little") for i in range(count)]


def entries(script):
    return b"".join(burst.entry().to_bytes(8, "little") for burst in script) + (1 << 47).to_bytes(8, "little")


@pytest.fixture(scope="module")
def hosted():
    return Hosted()


def value(instance, path):
    return instance.read(instance.find(path))


@pytest.mark.parametrize("seed", range(4))
def test_memories_do_what_the_specification_says(hosted, seed):
    rng = np.random.default_rng(100 + seed)
    scripts = {m.name: random_script(m, 150, 10 * seed + i) for i, m in enumerate(MEMORIES)}
    contents = {m.name: rng.bytes(m.words * m.bytes) for m in MEMORIES}
    with hosted.run(scripts, contents) as instance:
        assert hosted.stop is Stop.DONE
        for memory in MEMORIES:
            name = memory.name
            reads, writes, final = model(memory, contents[name], scripts[name])
            assert value(instance, f"u_{name}.r_log_q") == len(reads)
            assert value(instance, f"u_{name}.b_log_q") == len(writes)
            found = hosted.log(instance, f"{name}_reads", len(reads))
            width = memory.width
            assert [
                (bool(r >> width + 7 & 1), r >> width + 4 & 7, r >> width & 3, r & (1 << width) - 1)
                for r in found
            ] == reads
            assert [
                (b >> 4 & 7, b & 3) for b in hosted.log(instance, f"{name}_writes", len(writes))
            ] == writes
            assert hosted.content(instance, f"{name}_mem") == final
            assert value(instance, f"u_{name}.broken_q") == 0
            assert {r[2] for r in reads} == {w[1] for w in writes} == {OKAY, FAILED}


def test_latency_and_bandwidth(hosted):
    memory = MEMORIES[2]
    script = [Burst(False, BASE, 3, 3, INCREMENT, 1), Burst(False, BASE, 0, 3, INCREMENT, 2)]
    script += [Burst(True, BASE, 2, 3, INCREMENT, 3)]
    with hosted.run({memory.name: script}) as instance:
        issued = hosted.log(instance, "c_issued", 3)
        offered = [r >> memory.width + 32 for r in hosted.log(instance, "c_reads", 5)]
        answered = hosted.log(instance, "c_writes", 1)[0] >> 32
    first = issued[0] + memory.read_latency
    assert issued[1] == issued[0] + 1
    assert offered == [first + memory.interval * n for n in range(5)]
    last_beat = issued[2] + 2 + memory.interval * 2
    assert answered == last_beat + memory.write_latency


def test_one_beat_a_cycle_over_many_bursts(hosted):
    """With BeatInterval 1 and nobody who stalls, single beats follow one another without a gap."""
    script = [Burst(False, BASE + 64 * n, 0, 6, INCREMENT, 0) for n in range(40)]
    with hosted.run({"b": script}) as instance:
        issued = hosted.log(instance, "b_issued", 40)
    assert issued[39] - issued[0] < 100


@pytest.mark.parametrize("host", ["axil", "apb"])
def test_hosts_run_programs(hosted, host):
    place = {"axil": 0, "apb": 32}[host]
    program = [
        *(write(0x04, 0xCAFE_F00D), mark(), check(0x04, 0xF00D, 0xFFFF)),
        *(write(0x1C, 50), poll(0x1C, 0, 0xFF), mark(), interrupt(1), wait(9)),
        *(write(0x08, 7), read(0x08), mark()),
    ]
    with hosted.run(programs={host: program}) as instance:
        assert hosted.stop is Stop.DONE
        assert instance.alarms_up == 0
        assert instance.port(OutputPort.STATUS) >> place & 0xFFFF_FFFF == 7
        assert instance.port(OutputPort.OPERATION) >> place // 2 & 0xFFFF == 3
        assert value(instance, f"u_{host}.u_device.word_q") >> 32 & 0xFFFF_FFFF == 0xCAFE_F00D
        assert instance.cycle > 60


@pytest.mark.parametrize("host", ["axil", "apb"])
@pytest.mark.parametrize(
    "program",
    [
        [check(0x04, 1), write(0x04, 9)],
        [write(0x20, 1), write(0x04, 9)],
        [read(0x24), write(0x04, 9)],
        [write(0x08, 1)] * 16,
    ],
    ids=["check", "bus error on write", "bus error on read", "no end"],
)
def test_hosts_report_errors_and_stop(hosted, host, program):
    if len(program) == 16:
        steps = {host: program[:15]}
        with hosted.run(programs=steps) as instance:
            assert instance.alarms_up == 0
    with hosted.run(programs={host: program}, limit=2000) as instance:
        assert hosted.stop is Stop.DONE
        assert instance.alarms_up == 1
        assert value(instance, f"u_{host}.u_boot.error_q") == 1
        assert value(instance, f"u_{host}.u_device.word_q") >> 32 & 0xFFFF_FFFF == 0


@pytest.mark.parametrize("program", [[interrupt(2)], [poll(0x04, 1)]])
def test_a_host_waits_as_long_as_it_takes(hosted, program):
    with hosted.run(programs={"axil": program}, limit=3000):
        assert hosted.stop is Stop.LIMIT


def test_numbers_of_a_step_have_32_bits():
    with pytest.raises(ValueError, match="address: expected 32 bits, found 0x100000000"):
        write(1 << 32, 0)
    assert BootStep(bench.BootOperation.END) == BootStep(bench.BootOperation.END, 0, 0, 0)
    assert doctest.testmod(bench).failed == 0
    assert readmemh_text(boot_program([]), 16) == 32 * "0" + "\n"


def test_elaboration_finds_every_array_as_one_memory(hosted):
    found = elaborate(hosted.target)
    everything = {e.path: e for e in (*found.bench_elements, *found.sites.elements)}
    for name, memory in hosted.target.memories.items():
        element = everything[memory.path]
        assert (element.kind, element.width) == ("sram", 8 * memory.word_bytes), name
    assert found.unmapped == ()
