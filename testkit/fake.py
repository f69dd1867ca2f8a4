# SPDX-License-Identifier: Apache-2.0
"""A bench without a simulator: outcomes are a hash of the fault, each costs a little time.

`python -m testkit.fake ARGUMENTS` is the command line with this bench; the environment variable
FAKE_SECONDS sets the time of an injection, FAKE_GATE names a file: as long as it is there a process makes 800
of them at most; FAKE_FULL says after how many part files the disk is full, FAKE_PART_ROWS how many rows a
part file has.
"""

from __future__ import annotations

import errno
import itertools
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

import resil.farm.executor
import resil.folder.execute
import resil.folder.parts
import resil.prepare.bench
import resil.protection.build_rtl
import resil.protection.verify
import resil.run.campaign
import resil.run.dry_run
import resil.run.recorded_bench
from resil.bench.bench import Area, AreaFacts, Bench, NetworkFacts, OperationFacts, OutputFacts
from resil.bench.identity import Identity, ending_definition
from resil.campaign.campaign import Campaign
from resil.cli import main as command_line
from resil.prepare.identity import library_digest
from resil.progress import Progress
from resil.rtl_harness.design.sites import SiteTable, StorageElement
from resil.rtl_harness.engine.contract import Audited, Engine, GoldenRun
from resil.rtl_harness.errors import AuditError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, Reported, Rise, RunEnd, Seen
from resil.work.data_set import PILOT_INPUTS

CYCLES = 5000
SITES = SiteTable.of(
    [
        StorageElement("u_npu.u_mac.acc_q[0]", "ff", 32, block="mac"),
        StorageElement("u_npu.u_mac.acc_q[1]", "ff", 32, block="mac"),
        StorageElement("u_npu.u_cc.state_q", "ff", 3, block="cc", lsb=1),
        StorageElement("u_npu.u_sb.mem_q", "sram", 64, depth=16, block="sb", first_word=4),
        StorageElement("u_npu.u_sb.addr_q", "ff", 4, block="sb"),
        StorageElement("u_npu.glue_q", "ff", 1, block=""),
    ]
)


AREA = {"cc": Area(120.0), "mac": Area(900.5), "sb": Area(300.0, 1024.0), "cpm": Area(4.0)}


# Injections that this process has begun beside a gate, by the time at which the gate was made.
_passed: Counter[int] = Counter()
THROUGH_GATE = 800


def _wait() -> None:
    """Take the time of an injection; beyond the first ones also until there is no gate."""
    if seconds := float(os.environ.get("FAKE_SECONDS", "0")):
        time.sleep(seconds)
    gate = Path(os.environ.get("FAKE_GATE", "no gate"))
    with suppress(FileNotFoundError):
        made = gate.stat().st_mtime_ns
        _passed[made] += 1
        while _passed[made] > THROUGH_GATE and gate.exists():
            time.sleep(0.02)


@dataclass(frozen=True)
class FakeEngine:
    """Answers in an order of its own that depends on the number of workers.

    Attributes:
        position: Place of the input.
        lies: Site whose outcome is another at every call.
        forgets: Site that is left out of the answers.
        repeats: Site that is answered for twice.
        breaks: Site at which the simulator dies.
        withdraws: Site at which an audit fails in the end.
        refutes: Site at which an audit of what an earlier session kept fails.
        deaf: No fault changes the output.
        constant: All inputs give the same output.
        kept: What it was given to audit of earlier sessions.
        answered: The faults that it has answered for.
        notes: What it has to say.
    """

    position: int
    lies: int | None = None
    forgets: int | None = None
    repeats: int | None = None
    breaks: int | None = None
    withdraws: int | None = None
    refutes: int | None = None
    deaf: bool = False
    constant: bool = False
    kept: list[Injection] = field(default_factory=list)
    answered: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=lambda: ["of the fake"])
    name: str = "cocotb"

    def golden(self) -> GoldenRun:
        cycles = CYCLES + 7 * self.position
        return GoldenRun(
            RunEnd(True, cycles, 0x22, bytes([5, 1 if self.constant else 1 + self.position]), "0" * 16),
            (2000, cycles),
            ((0, 0), (2000, 1), (cycles, 2)),
        )

    def expect(self, faults: int, first: Engine | None = None) -> None:
        pass

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        order = list(faults)
        random.Random(workers).shuffle(order)
        for fault in order:
            _wait()
            if fault.site == self.breaks:
                raise SimulationError("the simulator died")
            if fault.site != self.forgets:
                self.answered.append(fault)
                yield self.outcome(fault)
            if fault.site == self.repeats:
                yield self.outcome(fault)
        if self.withdraws is not None:
            raise AuditError("the audit found a difference", min(faults))

    @property
    def audits(self) -> dict[str, Audited]:
        found = {"guessed": Audited(len(self.answered), 1), "kept": Audited(len(self.kept), 1)}
        return {kind: audited for kind, audited in found.items() if audited.answers}

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        self.kept.extend(injections)
        for injection in self.kept:
            assert injection == self.outcome(injection.fault)
            if injection.fault.site == self.refutes:
                raise AuditError("the run to the end gives another", injection.fault)

    def __enter__(self) -> FakeEngine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        if waves is not None:
            waves.write_bytes(b"waves")
        return self.outcome(fault)

    def outcome(self, fault: Fault) -> Injection:
        salt = os.urandom(8) if fault.site == self.lies else b""
        number = sha256(repr((fault, self.position)).encode() + salt).digest()
        seen = [Seen.MASKED] * 12 + [Seen.LATENT, Seen.SDC_TOLERABLE, Seen.SDC_CRITICAL, Seen.HANG]
        effect = seen[number[0] % 16]
        if self.deaf and effect in (Seen.SDC_TOLERABLE, Seen.SDC_CRITICAL):
            effect = Seen.LATENT
        detected = corrected = None
        if effect is Seen.LATENT and number[1] % 2:
            detected = Rise("error", Reported.DETECTED, fault.cycle + number[12])
        if effect is Seen.HANG and number[1] % 4 == 0:
            detected = Rise("parity", Reported.DETECTED, fault.cycle + 2)
        if effect is Seen.MASKED and number[1] % 8 == 0:
            corrected = Rise("ecc", Reported.CORRECTED, fault.cycle + 1)
        end, output = CYCLES + number[2], number[4:12].hex()
        return Injection(fault, effect, end, number[3], output, detected, corrected)


def fake_bench(
    campaign: Campaign,
    progress: Progress | None = None,
    *,
    simulates: int = 0,
    before: bytes = b"\0\0",
    again: bytes = b"\xff\xff",
    compiled: bool = False,
    **engine: int,
) -> Bench:
    """Stands in for `resil.prepare.bench.prepare`; `before`, `again` and `compiled` are of its output."""
    listed, drawn = campaign.network.inputs, campaign.data_set
    inputs = listed if isinstance(listed, tuple) else (0,)
    if drawn is not None:
        inputs = tuple(range(drawn.hardest or drawn.draw or PILOT_INPUTS))
    # The usual network of tests has the digest of all others there; one of another name its own.
    path = campaign.network.path
    digest = "n" * 64 if path == "zoo:digits" else sha256(path.encode()).hexdigest()
    definition = {"network": digest, "target": "t" * 32, "seed": str(campaign.seed)}
    definition |= {"kinds": " ".join(campaign.faults.kinds), "inputs": " ".join(map(str, inputs))}
    definition |= {"strata": campaign.sampling.strata, "fault model": campaign.faults.model}
    definition |= ending_definition(campaign.execution)
    return Bench(
        network=NetworkFacts(
            "fake",
            campaign.network.path,
            digest,
            (OperationFacts(0, "conv", "conv", 1900), OperationFacts(1, "fc", "conv", None)),
            1234,
            4000,
            "top1",
        ),
        target_name="fake-npu",
        top="bench_top",
        blocks=("cc", "mac", "sb", "cpm"),
        alarms={"error": "detected", "parity": "detected", "ecc": "corrected"},
        sites=SITES,
        inputs=inputs,
        identity=Identity(definition),
        hashes={"network": digest, "target": "t" * 32},
        engine=lambda position: FakeEngine(position, **engine),
        area=lambda: AreaFacts(AREA, "GE", library=library_digest(campaign.liberty)),
        output=OutputFacts("bytes 0 to 1 of memory out", (before,) * len(inputs), lambda: again, compiled),
        parameters={"Macs": int(str(campaign.target).rpartition("-")[2])},
        workloads=tuple(f"{digest}, input {label}" for label in inputs),
    )


def install(monkeypatch, **given: object) -> None:
    """Put the fake bench in the place of the real one, for one test; `given` as of `fake_bench`."""
    for module in (resil.run.campaign, resil.run.dry_run, resil.prepare.bench, resil.run.recorded_bench):
        monkeypatch.setattr(module, "prepare", partial(fake_bench, **given))


def _until_full(parts: int) -> Callable[..., None]:
    """Write so many part files; then the disk is full."""
    write, left = resil.folder.parts.pq.write_table, itertools.count(parts, -1)

    def write_table(table: pa.Table, *given: object, **named: object) -> None:
        if "injection" in table.column_names and next(left) <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(table, *given, **named)

    return write_table


def main() -> int:
    resil.run.campaign.prepare = fake_bench
    rows = int(os.environ.get("FAKE_PART_ROWS", "7"))
    resil.folder.execute.PART_ROWS = resil.farm.executor.PART_ROWS = rows
    if parts := int(os.environ.get("FAKE_FULL", "0")):
        resil.folder.parts.pq.write_table = _until_full(parts)
    return command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
