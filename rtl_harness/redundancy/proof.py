# SPDX-License-Identifier: Apache-2.0
"""What must hold of protected RTL before anything is injected into it: proofs, none of which simulates."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.yosys import read_commands, run_yosys
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy.codes import REPORTS, Coded
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.lockstep import Lockstep
from resil.rtl_harness.redundancy.netlist import MODULES, Redundant
from resil.rtl_harness.redundancy.renamed_storage import copies_of
from resil.rtl_harness.redundancy.watchdog import INSTANCE

# Copies of each mechanism, with what is wrong if one of them holds anything at all and the others are right.
_CLAIMS: Mapping[Mechanism, Mapping[str, str]] = {
    Mechanism.TRIPLICATION: {
        copy: f"q != right_q || err != (u_dut.{copy}.q_q != right_q)"
        for copy in ("u_copy_a", "u_copy_b", "u_copy_c")
    },
    Mechanism.DUPLICATION: {
        "u_copy_a": "err != (u_dut.u_copy_a.q_q != right_q)",
        "u_copy_b": "q != right_q || err != (u_dut.u_copy_b.q_q != right_q)",
    },
    Mechanism.PARITY: {
        "u_data": "err != (parity(u_dut.u_data.q_q) != parity(right_q)) || (is_cluster && !err)",
        "u_parity": "q != right_q || err != (u_dut.u_parity.q_q != parity(right_q))",
    },
}
_CHECK = """
module resil_check #(
  parameter int unsigned Width = 1,
  parameter int unsigned Ways  = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic             bad_o
);
  logic [Width-1:0] q, right_q;
  logic err;
{helpers}
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) right_q <= '0; else right_q <= d_i;
  {module} #(.Width(Width){ways}) u_dut (.clk_i, .rst_ni, .d_i, .q_o(q), .err_o(err));
  assign bad_o = {claim};
endmodule
"""
# Parity in turn, and wrong bits that are neighbours, of which no two lie under one parity bit.
_NEIGHBOURS = """
  function automatic logic [Ways-1:0] parity(logic [Width-1:0] word);
    parity = '0;
    for (int unsigned i = 0; i < Width; i++) parity[i % Ways] ^= word[i];
  endfunction
  logic [Width-1:0] wrong, lowest;
  logic is_cluster;
  assign wrong = u_dut.u_data.q_q ^ right_q;
  assign lowest = wrong & (~wrong + 1'b1);
  always_comb begin
    is_cluster = 1'b0;
    for (int unsigned i = 1; i <= Ways; i++)
      is_cluster |= wrong != '0 && wrong == Width'(lowest * ((Width + 1)'(1) << i) - lowest);
  end
"""
_STORES = ("$dff", "$dffe", "$adff", "$adffe", "$sdff", "$sdffe", "$aldff", "$aldffe", "$dffsr", "$dlatch")


def prove_mechanisms(rtl: Path, registers: Sequence[Redundant]) -> int:
    """Prove of each mechanism and width that is used what it does when one of its copies is wrong.

    Whatever one copy holds, in any cycle: a vote stays right, and an error is reported exactly when there is
    one (of parity: when the number of wrong bits under one of its bits is odd, and so of every cluster of as
    many wrong neighbours as it has parity bits in turn). By temporal induction from reset.

    Args:
        rtl: Folder that holds the redundant registers.
        registers: That were built.

    Returns:
        How many proofs there were.

    Raises:
        HarnessError: A mechanism does something else.
    """
    wanted = sorted({(register.mechanism, register.bits, register.ways) for register in registers})
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for mechanism, width, ways in wanted:
            for copy, claim in _CLAIMS[mechanism].items():
                _prove(rtl.resolve(), mechanism, (width, ways), copy, claim, work)
    return sum(len(_CLAIMS[mechanism]) for mechanism, _, _ in wanted)


def _prove(rtl: Path, mechanism: Mechanism, size: tuple[int, int], copy: str, claim: str, work: Path) -> None:
    width, ways = size
    parity = mechanism is Mechanism.PARITY
    own = {"helpers": _NEIGHBOURS if parity else "", "ways": ", .Ways(Ways)" if parity else ""}
    text = _CHECK.format(module=MODULES[mechanism], claim=claim, **own)
    (work / "check.sv").write_text(text, encoding="utf-8")
    sources = ["check.sv", *map(str, sorted(rtl.glob("resil_*.sv")))]
    (work / "check.f").write_text("".join(f'"{file}"\n' for file in sources), encoding="utf-8")
    script = [
        f"read_slang -f check.f --top resil_check -G Width={width} -G Ways={ways}",
        *("proc", "flatten", "async2sync", f"cutpoint w:u_dut.{copy}.q_q", "opt_clean"),
        "sat -tempinduct -maxsteps 2 -seq 1 -set-at 1 rst_ni 0 -prove bad_o 0 resil_check",
    ]
    if "Induction step proven: SUCCESS!" not in run_yosys(script, work, f"reading {MODULES[mechanism]}"):
        raise HarnessError(
            f"{MODULES[mechanism]}: expected of {width} bits that it is right, and reports, with {copy} "
            "wrong; that could not be proven, do not use this RTL",
            MODULES[mechanism],
        )


def check_alarms(
    target: Target,
    elaboration: Elaboration,
    registers: Sequence[Redundant],
    memories: Sequence[Coded] = (),
    *,
    watchdog: bool = False,
    in_lockstep: Sequence[Lockstep] = (),
) -> None:
    """Check that every copy of every redundant register reaches the register that keeps its alarm.

    And that all that decoders of memories report does.

    Args:
        target: The protected design.
        elaboration: Its storage.
        registers: That were built.
        memories: With codes.
        watchdog: There is one, whose alarm is to reach it too.
        in_lockstep: Blocks with a copy, whose comparators' alarms are to reach it too.

    Raises:
        HarnessError: An alarm is open.
    """
    alert = f"{target.dut}.u_resil_alert"
    stop = "".join(f":-{kind}" for kind in _STORES)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        read = read_commands(target, elaboration.parameters, [], work)
        lists = [f"select -write {pin}.txt w:{alert}.{pin} %ci*{stop} w:* %i" for pin in _PINS.values()]
        run_yosys([*read, "flatten", *lists], work, f"alarms of {target.name}")
        seen = {pin: _wires(work / f"{pin}.txt") for pin in _PINS.values()}
    for register in registers:
        pin = _PINS[register.mechanism.corrects]
        for path in _copies(elaboration, register):
            if path not in seen[pin]:
                raise _open(path, f"{alert}.{pin}")
    expired = [f"{target.dut}.{INSTANCE}.expired_o"] if watchdog else []
    for output in [*expired, *(f"{own.compare}.differ_o" for own in in_lockstep)]:
        if output not in seen[_PINS[False]]:
            raise _open(output, f"{alert}.{_PINS[False]}")
    for memory in memories:
        for decoder in memory.decoders:
            for corrects, output in REPORTS[memory.mechanism].items():
                if f"{decoder}.{output}" not in seen[_PINS[corrects]]:
                    raise _open(f"{decoder}.{output}", f"{alert}.{_PINS[corrects]}")


def _open(path: str, alert: str) -> HarnessError:
    return HarnessError(
        f"{path}: expected that an error of it reaches {alert}, found that it does not: an alarm is open; do "
        "not use this RTL",
        path,
    )


_PINS = {True: "minor_i", False: "major_i"}


def _wires(file: Path) -> set[str]:
    return {line.partition("/")[2] for line in file.read_text(encoding="utf-8").splitlines()}


def check_copies(elaboration: Elaboration, registers: Sequence[Redundant]) -> None:
    """Check that synthesis leaves every bit of every copy.

    Args:
        elaboration: Storage of the protected design, with what is hardware.
        registers: That were built.

    Raises:
        HarnessError: A copy was merged with another, or removed.
    """
    sites = elaboration.sites
    gone = {site: run for run in sites.absent for site in range(run.first, run.end)}
    found = {element.path: index for index, element in enumerate(sites.elements)}
    for register in registers:
        for path in _copies(elaboration, register):
            first = sites.offsets[found[path]]
            for site in range(first, first + sites.elements[found[path]].bits):
                if site in gone:
                    what = gone[site].hardware
                    same = gone[site].same_as
                    twin = (
                        f" as {sites[same].name}" if what is Hardware.DUPLICATE and same is not None else ""
                    )
                    raise HarnessError(
                        f"{sites[site].name}: expected a flip-flop of its own after synthesis, found "
                        f"{what.value}{twin}; keep (* keep *) and (* keep_hierarchy *) on the copies",
                        sites[site].name,
                    )


def _copies(elaboration: Elaboration, register: Redundant) -> Iterator[str]:
    """Yield the paths of a redundant register's copies.

    Raises:
        HarnessError: One is missing.
    """
    known = {element.path for element in elaboration.sites.elements}
    for path in copies_of(register).values():
        if path not in known:
            raise HarnessError(f"{path}: expected a register, found none in the protected design", path)
        yield path
