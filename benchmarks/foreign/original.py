# SPDX-License-Identifier: Apache-2.0
"""Upsets that a run has injected into a recorded design, once more in the testbench that was recorded.

Run as `python -m benchmarks.foreign.original RUN --files FILE ... --top TESTBENCH --instance PATH --clock
NAME [--most N] [--seed N] [--json]` from the root of the project, with Icarus Verilog on the path. RUN is a
finished run of `resil init --waves`, FILE are the testbench and the design, PATH the design in the testbench,
as TESTBENCH.u_dut, and NAME its clock.

Of resil come the faults, what it saw of them, and which flip-flops serve for several variables of the source,
which are inverted together. Icarus compiles the files, and a module that is written here inverts the bit in
the middle of the fault's cycle and compares all outputs of the design at the end of each cycle with those of
a run without a fault. The testbench reacts to wrong outputs as it does. Up to the first wrong output that
makes no difference, so a fault is *observed* by the run if and only if an output differs here in any cycle.
The testbench runs once: each fault has a copy of the process of Icarus, from its cycle to the first
difference.

Undefined values are a third value here, and 0 in a replay. A fault is left out, and counted, whose bit is
undefined in its cycle, or that makes an output undefined, or in whose cycle the testbench ends.

The exit code is 4 if a fault is observed in one way alone, else 0.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from resil.files import read_parquet
from resil.folder.finished import require_measured
from resil.folder.store import SITES
from resil.lists.of_run import listed
from resil.record.listed import LATENT, OBSERVED, SAFE
from resil.results.run import FinishedRun, site_names
from resil.rtl_harness.replay.bench import INSTANCE

SEEN = {OBSERVED: True, SAFE: False, LATENT: False}
_DESIGN = f"{INSTANCE}."  # in the bench of a replay
_ONE = "1024'd1"  # wider than any register


@dataclass(frozen=True)
class Bit:
    """A bit of a variable, or of a word of a memory, in the design; counted from the lowest."""

    place: str
    number: int


@dataclass(frozen=True)
class Upset:
    """A fault of the run.

    Attributes:
        site: Its name there.
        bits: That the flip-flop is in the source code.
        cycle: After whose edge they are inverted.
        observed: Whether the run says that an output is wrong.
    """

    site: str
    bits: tuple[Bit, ...]
    cycle: int
    observed: bool


@dataclass(frozen=True)
class Compared:
    """What came out.

    Attributes:
        faults: That were injected again.
        undefined: That were left out, as their bit is undefined, or what comes of it.
        late: That were left out, as the testbench ends before their cycle is compared.
        observed: Of those that were injected, by both.
        different: Those that one of both observes, in words.
    """

    faults: int
    undefined: int
    late: int
    observed: int
    different: tuple[str, ...]


def read_upsets(run_dir: Path) -> list[Upset]:
    """Return the upsets of single bits that a run has injected.

    Raises:
        ValueError: A site of the run is no storage of a replayed design.
        StoreError, ConsistencyError: The run is not finished, has failed, or was altered.
    """
    bits, run = storage_bits(run_dir), FinishedRun(run_dir)
    require_measured(run.found)
    columns = listed(run)
    rows = zip(*(columns[name] for name in ("site", "type", "time", "status", "bits")), strict=True)
    single = [
        (str(site), int(time), SEEN[str(status)])
        for site, kind, time, status, size in rows
        if status in SEEN and kind == "upset" and int(size) == 1
    ]
    if others := [site for site, _, _ in single if site not in bits]:
        raise ValueError(
            f"{run_dir}: expected storage of a replayed design, {_DESIGN}NAME, found {others[0]}"
        )
    return [Upset(site, bits[site], cycle, observed) for site, cycle, observed in single]


def storage_bits(run_dir: Path) -> dict[str, tuple[Bit, ...]]:
    """Return by its name which bits of the source code each fault site of a run is."""
    sites = read_parquet(run_dir / SITES).to_pandas()
    names = list(site_names(sites.rename(columns={"path": "register"})))
    found: dict[str, list[Bit]] = {}
    for place, row in enumerate(sites.to_dict("records")):
        shared = row["same_as"]
        name = names[place if pd.isna(shared) else int(shared)]
        path = row["path"].removeprefix(_DESIGN)
        if path == row["path"]:
            continue
        word = f"[{row['word']}]" if row["kind"] == "sram" or row["word"] else ""
        found.setdefault(name, []).append(Bit(f"{path}{word}", row["bit"]))
    return {name: tuple(bits) for name, bits in found.items()}


class OriginalBench:
    """The testbench, in whose design bits are inverted."""

    def __init__(self, folder: Path, files: Sequence[Path], top: str, instance: str, clock: str) -> None:
        self._folder = folder
        self._files = files
        self._top = top
        self._instance = instance
        self._clock = f"{instance}.{clock}"
        self.outputs = self._outputs()
        self._shown = f"{{{', '.join(f'{instance}.{name}' for name in self.outputs)}}}"

    def golden(self) -> list[str]:
        """Return the outputs of each cycle without a fault, as text."""
        return self._simulated(f"""
  always @(negedge {self._clock}) #0.001 $fdisplay(file, "%b", {self._shown});""")

    def inject(self, upsets: Sequence[Upset], golden: Sequence[str]) -> list[list[str] | None]:
        """Return the outputs of each cycle for each upset, up to the first that is not golden.

        The word `undefined` stands for the outputs from the cycle of an upset on whose bit is undefined.
        None is for an upset in whose cycle the testbench ends, before it could be injected.

        Raises:
            ValueError: The testbench does not do the same once more, or a copy of it has not ended.
        """
        order = sorted(range(len(upsets)), key=lambda i: upsets[i].cycle)
        values = self._folder / "golden"
        values.write_text("\n".join(golden), encoding="utf-8")
        cycles = self._folder / "cycles"
        cycles.write_text("\n".join(f"{upsets[i].cycle:x}" for i in order), encoding="utf-8")
        known = [f"        {n}: known = {self._is_known(upsets[i])}" for n, i in enumerate(order)]
        flips = [f"        {n}: {self._flip(upsets[i])}" for n, i in enumerate(order)]
        text = self._simulated(f"""
  integer cycle = -1, compared = -1, next = 0, number = -1, place = 0;
  reg known = 1, ended = 0;
  reg [{len(golden[0]) - 1}:0] golden [0:{len(golden) - 1}];
  reg [31:0] cycles [0:{len(order) - 1}];
  initial begin $readmemb("{values}", golden); $readmemh("{cycles}", cycles); end
  always @(posedge {self._clock}) cycle = cycle + 1;
  always @(negedge {self._clock}) begin
    while (number < 0 && next < {len(order)} && cycles[next] == cycle) begin
      if ($resil_copy == 0) begin
        number = next;
        $fdisplay(file, "#%0d", number);
        case (number)
{chr(10).join(known)}
        endcase
        if (!known) begin $fdisplay(file, "undefined"); ended = 1; $finish; end
        case (number)
{chr(10).join(flips)}
        endcase
        #0;
      end
      next = next + 1;
    end
    #0.001 compared = cycle;
    if (!ended) begin
      if (place < {len(golden)} && {self._shown} === golden[place]) place = place + 1;
      else begin $fdisplay(file, "%b", {self._shown}); ended = 1; $finish; end
    end
  end
  final begin
    if (number < 0) $fdisplay(file, "@%0d", cycle, "@%0d", compared);
    $fdisplay(file, "=%0d", place);
  end""")
        found: dict[int, list[str] | None] = {}
        number, last, seen, differs = -1, -1, -1, list[str]()
        for line in text:
            if line.startswith("#"):
                number, differs = int(line[1:]), []
            elif line.startswith("@"):
                last, seen = (int(own) for own in line[1:].split("@"))
            elif line.startswith("="):
                outputs = [*golden[: int(line[1:])], *differs]
                if number < 0 and (differs or len(outputs) != len(golden)):
                    raise ValueError(
                        f"the testbench does not do the same once more: cycle {line[1:]} differs"
                    )
                if number >= 0:
                    found[order[number]] = outputs
                number, differs = -1, []
            else:
                differs = [line]
        # A replay has one edge more than its recording.
        found |= {i: None for i, own in enumerate(upsets) if seen < own.cycle <= last + 1}
        if missing := [own for i, own in enumerate(upsets) if i not in found]:
            said = f"{missing[0].site}, cycle {missing[0].cycle}"
            raise ValueError(f"expected an end of the testbench for each upset, found none for {said}")
        return [found[i] for i in range(len(upsets))]

    def _simulated(self, body: str) -> list[str]:
        """Run the testbench beside a module with this body, which writes to `file`; return the lines."""
        shown, source = self._folder / "shown", self._folder / "resil_original.v"
        shown.unlink(missing_ok=True)
        text = f"""`timescale 1ns/1ps
module resil_original;
  integer file;
  initial file = $fopen("{shown}", "a");{body}
endmodule
"""
        source.write_text(text, encoding="utf-8")
        copied = Path(__file__).with_name("copied.c")
        self._call(["iverilog-vpi", "--name=resil_copy", str(copied)], self._folder)
        words = ["iverilog", "-g2012", "-s", self._top, "-s", "resil_original", "-o", str(self._program)]
        words += [f"-L{self._folder}", "-mresil_copy", *map(str, self._files), str(source)]
        self._call(words)
        # What the testbench records by itself is not written once more.
        self._call(["vvp", "-N", f"-M{self._folder}", "-mresil_copy", str(self._program), "-none"])
        return shown.read_text(encoding="utf-8").split()

    @property
    def _program(self) -> Path:
        return self._folder / "original.vvp"

    def _flip(self, upset: Upset) -> str:
        flips = (f"{place} = {place} ^ ({_ONE} << {number});" for place, number in self._places(upset))
        return f"begin {' '.join(flips)} end"

    def _is_known(self, upset: Upset) -> str:
        return " && ".join(f"^(({place} >> {n}) & {_ONE}) !== 1'bx" for place, n in self._places(upset)) + ";"

    def _places(self, upset: Upset) -> list[tuple[str, int]]:
        return [(f"{self._instance}.{bit.place}", bit.number) for bit in upset.bits]

    def _outputs(self) -> list[str]:
        """Return the names of the design's outputs, as Icarus itself lists them in its intermediate form."""
        listed = self._folder / "listed.vvp"
        self._call(["iverilog", "-g2012", "-s", self._top, "-o", str(listed), *map(str, self._files)])
        scope = re.compile(r'^(S_\w+) \.scope \w+, "([^"]+)" "[^"]*" [\d ,]*(S_\w+)?;', re.M)
        text = listed.read_text(encoding="utf-8", errors="replace")
        names = {own: (name, above) for own, name, above in scope.findall(text)}

        def path(own: str) -> str:
            name, above = names[own]
            return f"{path(above)}.{name}" if above in names else name

        for own in names:
            if path(own) == self._instance:
                body = text.split(f"{own} .scope", 1)[1].split("\nS_", 1)[0]
                return re.findall(r'\.port_info \d+ /OUTPUT \d+ "([^"]+)"', body)
        raise ValueError(f"{self._instance}: expected an instance of {self._top}, found {len(names)} others")

    def _call(self, words: Sequence[str], folder: Path | None = None) -> None:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode:
            raise ValueError(f"{words[0]} failed: {(done.stdout + done.stderr)[-600:]}")


def is_observed(golden: Sequence[str], outputs: Sequence[str]) -> bool | None:
    """Say whether outputs, a line of bits a cycle, are not the golden ones; None if undefined bits decide."""
    for expected, found in zip(golden, outputs, strict=False):
        if found == expected:
            continue
        pairs = [pair for pair in zip(expected, found, strict=False) if pair[0] != pair[1]]
        # A line of another length is the word that the bit of the fault is undefined.
        if len(expected) != len(found) or any(bit not in "01" for pair in pairs for bit in pair):
            return None
        return True
    return len(golden) != len(outputs)


def compared(upsets: Sequence[Upset], bench: OriginalBench) -> Compared:
    """Inject upsets into the testbench, each by itself."""
    golden = bench.golden()
    if not golden:
        raise ValueError("the testbench ends without a cycle of the design's clock")
    found: Counter[str] = Counter()
    different = []
    for upset, outputs in zip(upsets, bench.inject(upsets, golden), strict=True):
        if outputs is None:
            found["late"] += 1
            continue
        observed = is_observed(golden, outputs)
        if observed is None:
            found["undefined"] += 1
            continue
        found["faults"] += 1
        found["observed"] += observed and upset.observed
        if observed != upset.observed:
            said = {True: "observed", False: "not observed"}
            words = f"{said[observed]} in the testbench, {said[upset.observed]} by the run"
            different.append(f"{upset.site}, cycle {upset.cycle}: {words}")
    return Compared(found["faults"], found["undefined"], found["late"], found["observed"], tuple(different))


def main() -> int:
    """Compare, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--files", type=Path, nargs="+", required=True)
    parser.add_argument("--top", required=True)
    parser.add_argument("--instance", required=True)
    parser.add_argument("--clock", required=True)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    upsets = read_upsets(options.run)
    chosen = sorted(random.Random(options.seed).sample(range(len(upsets)), min(options.most, len(upsets))))
    with tempfile.TemporaryDirectory() as folder:
        bench = OriginalBench(Path(folder), options.files, options.top, options.instance, options.clock)
        result = compared([upsets[i] for i in chosen], bench)
    if options.json:
        print(json.dumps(asdict(result)))
    else:
        print(
            f"{result.faults} upsets, {result.observed} observed by both, {len(result.different)} different"
        )
        print(f"{result.undefined} left out, as their bit is undefined in its cycle, or what comes of it")
        print(f"{result.late} left out, as the testbench ends before their cycle is compared")
        print("\n".join(result.different))
    return 4 if result.different else 0


if __name__ == "__main__":
    raise SystemExit(main())
