# SPDX-License-Identifier: Apache-2.0
"""Proof of what codes on memories do, for all words and all places of wrong bits.

A code is made of exclusive ors, which solvers of satisfiability are slow at: a word of 64 bits takes them
minutes. But what is made of exclusive ors alone is affine, and an affine function is zero everywhere if it
is at zero and at each word with one bit set. So it is proven that encoder and syndrome are affine, by their
gates; that the decoder corrects and reports by the syndrome alone; of words with at most one bit set, that
without a wrong bit the syndrome is zero; and of the word zero, that up to two wrong bits do what they should.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.elaboration.yosys import run_yosys
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy.codes import DECODERS, ENCODERS, Coded, check_bits
from resil.rtl_harness.redundancy.groups import Mechanism

_CHECK = """
module resil_check (
  input  logic [{data}-1:0]  data_i,
  input  logic [{total}-1:0] error_i,
  output logic [{total}-1:0] affine_o,
  output logic               bad_o
);
  logic [{check}-1:0] check;
  logic [{data}-1:0] q;
  logic single, multi;
  {encoder} #(.Width({data}){ways}) u_enc (.data_i, .check_o(check));
  {decoder} #(.Width({data}){ways}) u_dut (
    .data_i (data_i ^ error_i[{data}-1:0]),
    .check_i(check ^ error_i[{data}+:{check}]),
    .data_o (q){pins}
  );
  logic [{total}-1:0] rest;
  logic none, one, two, few;
  assign rest = error_i & (error_i - 1'b1);
  assign none = error_i == '0;
  assign one  = !none && rest == '0;
  assign two  = rest != '0 && (rest & (rest - 1'b1)) == '0;
  assign few  = (data_i & (data_i - 1'b1)) == '0;
  {claims}
endmodule
"""
_SECDED = """
  logic wrong;
  assign affine_o = {total}'(u_dut.syndrome);
  always_comb begin
    wrong = 1'b0;
    if (none) wrong = q != data_i || single || multi || u_dut.syndrome != '0;
    if (one) wrong = q != data_i || !single || multi;
    if (two) wrong = single || !multi;
  end
  assign bad_o = (data_i == '0 || (few && none)) && wrong;
"""
# The word is not looked at: it goes through as it is. Wrong neighbours lie under parity bits in turn.
_PARITY = """
  logic [{number}-1:0] syndrome;
  logic [{total}-1:0] lowest;
  logic is_cluster;
  assign single   = 1'b0;
  assign syndrome = u_dut.expected ^ u_dut.check_i;
  assign affine_o = {total}'(syndrome);
  assign lowest   = error_i & (~error_i + 1'b1);
  always_comb begin
    is_cluster = 1'b0;
    for (int unsigned i = 1; i <= {number}; i++)
      is_cluster |= !none && error_i == {total}'(lowest * (({total} + 1)'(1) << i) - lowest);
  end
  assign bad_o    = multi != (syndrome != '0) || (few && none && multi)
                    || (data_i == '0 && (one || is_cluster) && !multi)
                    || q != (data_i ^ error_i[{data}-1:0]);
"""
_ALONE = """
module resil_check (
  input  logic [{data}-1:0]  a_i, b_i,
  input  logic [{check}-1:0] c_i, d_i,
  output logic               bad_o
);
  logic [{data}-1:0] a, b;
  logic [1:0] single, multi;
  {decoder} #(.Width({data})) u_a (
    .data_i(a_i), .check_i(c_i), .data_o(a), .single_error_o(single[0]), .multi_error_o(multi[0]));
  {decoder} #(.Width({data})) u_b (
    .data_i(b_i), .check_i(d_i), .data_o(b), .single_error_o(single[1]), .multi_error_o(multi[1]));
  assign bad_o = u_a.syndrome == u_b.syndrome && ((a ^ a_i) != (b ^ b_i) || ^single || ^multi);
endmodule
"""
_AFFINE = {"$_XOR_", "$_XNOR_", "$_NOT_", "$_BUF_"}


def prove_codes(rtl: Path, memories: Sequence[Coded]) -> int:
    """Prove of each code and width that is used what it does with wrong bits.

    Of SECDED: with none the word is right and nothing is reported, with one in word or check bits it is right
    and reported as corrected, with two as detected. Of parity: it is reported exactly when their number under
    a parity bit is odd, and so is every cluster of as many neighbours as there are parity bits in turn.

    Args:
        rtl: Folder that holds encoders and decoders.
        memories: With codes.

    Returns:
        How many widths of codes were proven.

    Raises:
        HarnessError: A code does something else.
    """
    wanted = sorted({(m.mechanism, bits, m.ways) for m in memories for bits in m.parts})
    with tempfile.TemporaryDirectory() as name:
        for mechanism, width, ways in wanted:
            why = _wrong(rtl.resolve(), mechanism, (width, ways), Path(name))
            if why:
                raise HarnessError(
                    f"{DECODERS[mechanism]}: expected of words of {width} bits that wrong bits are corrected "
                    f"or reported as {mechanism} does; {why}: do not use this RTL",
                    DECODERS[mechanism],
                )
    return len(wanted)


def _wrong(rtl: Path, mechanism: Mechanism, size: tuple[int, int], work: Path) -> str:
    """Say what could not be proven; "" if all was."""
    width, ways = size
    secded = mechanism is Mechanism.SECDED
    check = check_bits(mechanism, width, ways)
    names: dict[str, object] = {"data": width, "check": check, "total": width + check}
    names |= {"encoder": ENCODERS[mechanism], "decoder": DECODERS[mechanism]}
    names |= {"number": check, "ways": "" if secded else f", .Ways({check})"}
    claims = (_SECDED if secded else _PARITY).format(**names)
    pins = ", .single_error_o(single)" if secded else ""
    text = _CHECK.format(**names, claims=claims, pins=f"{pins}, .multi_error_o(multi)")
    _read(rtl, text, ["simplemap", "opt -full", "write_json gates.json"], work)
    module = json.loads((work / "gates.json").read_text(encoding="utf-8"))["modules"]["resil_check"]
    if odd := _not_affine(module, module["ports"]["affine_o"]["bits"]):
        return f"the code is not made of exclusive ors alone, but of {', '.join(sorted(odd))}, too"
    if not _proven(rtl, text, [], work):
        return "that could not be proven"
    if secded:
        cut = ["cutpoint w:u_a.syndrome", "cutpoint w:u_b.syndrome"]
        if not _proven(rtl, _ALONE.format(**names), cut, work):
            return "it could not be proven that the syndrome alone decides"
    return ""


def _proven(rtl: Path, text: str, cut: Sequence[str], work: Path) -> bool:
    log = _read(rtl, text, [*cut, "opt -full", "sat -prove bad_o 0 resil_check"], work)
    return "SAT proof finished - no model found: SUCCESS!" in log


def _read(rtl: Path, text: str, then: Sequence[str], work: Path) -> str:
    (work / "check.sv").write_text(text, encoding="utf-8")
    sources = [*map(str, sorted(rtl.glob("resil_*.sv"))), "check.sv"]
    (work / "check.f").write_text("".join(f'"{file}"\n' for file in sources), encoding="utf-8")
    script = ["read_slang -f check.f --top resil_check", "proc", "flatten", *then]
    return run_yosys(script, work, "reading codes of memories")


def _not_affine(module: Mapping[str, Any], nets: Collection[int | str]) -> set[str]:
    """Return the kinds of gates before nets that are no affine function of what they are given."""
    drivers = {bit: cell for cell in module["cells"].values() for bit in cell["connections"].get("Y", [])}
    todo, seen, odd = list(nets), set(), set()
    while todo:
        net = todo.pop()
        if net in seen or net not in drivers:
            continue
        seen.add(net)
        cell = drivers[net]
        inputs = [bit for pin, bits in cell["connections"].items() if pin != "Y" for bit in bits]
        if cell["type"] not in _AFFINE and len([bit for bit in inputs if isinstance(bit, int)]) > 1:
            odd.add(cell["type"])
        todo += inputs
    return odd
