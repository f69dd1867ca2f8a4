# SPDX-License-Identifier: Apache-2.0
"""A memory whose words have a parity bit, a checker of it in a block of its own, and a campaign on them."""

from pathlib import Path

_SOURCE = """
module ram (input logic clk_i, input logic we_i, input logic [5:0] address_i, input logic [16:0] data_i,
            output logic [16:0] data_o);
  logic [16:0] mem_q [64];
  always_ff @(posedge clk_i) if (we_i) mem_q[address_i] <= data_i;
  assign data_o = mem_q[address_i];
endmodule

module check (input logic clk_i, input logic rst_ni, input logic valid_i, input logic [16:0] word_i,
              output logic error_o);
  logic error_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) error_q <= 1'b0;
    else error_q <= error_q | (valid_i & ^word_i);
  assign error_o = error_q;
endmodule

module count (input logic clk_i, input logic rst_ni, output logic [7:0] count_o);
  logic [7:0] count_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 8'd1;
  assign count_o = count_q;
endmodule

module dut (input logic clk_i, input logic rst_ni, output logic [7:0] data_o, output logic [5:0] address_o,
            output logic valid_o, output logic done_o, output logic error_o);
  logic [7:0] count;
  logic [16:0] word;
  count u_count (.clk_i, .rst_ni, .count_o(count));
  ram u_ram (.clk_i, .we_i(count[7:6] == 2'd0), .address_i(count[5:0]),
             .data_i({^{count, 8'h5a}, count, 8'h5a}), .data_o(word));
  check u_check (.clk_i, .rst_ni, .valid_i(valid_o), .word_i(word), .error_o);
  assign data_o = word[15:8] ^ word[7:0];
  assign address_o = count[5:0];
  assign valid_o = count[6];
  assign done_o = count == 8'd130;
endmodule

module bench (input logic clk_i, input logic rst_ni, output logic done_o, output logic error_o);
  logic [7:0] source_q [64], sink_q [64], data;
  logic [5:0] address;
  logic valid;
  dut u_dut (.clk_i, .rst_ni, .data_o(data), .address_o(address), .valid_o(valid), .done_o, .error_o);
  always_ff @(posedge clk_i) if (valid) sink_q[address] <= data ^ source_q[address];
endmodule
"""
_TARGET = """
name = "guarded-ram"
top = "bench"
dut = "u_dut"
sources = ["ram.sv"]
clock = "clk_i"
reset = "rst_ni"
done = "done_o"
error = "error_o"
[blocks]
count = "u_dut.u_count"
ram = "u_dut.u_ram"
check = "u_dut.u_check"
[memories.source]
path = "source_q"
word_bytes = 1
plusarg = "source"
observed = false
[memories.sink]
path = "sink_q"
word_bytes = 1
plusarg = "sink"
"""
_CAMPAIGN = """
[campaign]
name = "ram"
seed = 1
[target]
file = "target.toml"
[workload]
name = "words"
decision = "exact"
[[workload.images]]
memory = "source"
file = "source.hex"
[workload.output]
memory = "sink"
shape = [64]
dtype = "uint8"
[faults]
kinds = ["ff", "sram"]
injections = 400
[technology]
name = "finfet-16nm"
[safety]
claims = ["lfm_permanent"]
lfm = 0.6
permanent = "bits"
[[safety.mechanism]]
alarm = "error"
storage = ["u_dut.u_check"]
"""
_SPFM = 'claims = ["spfm_transient"]\nspfm = 0.5'


def ram_campaign(folder: Path, blocks: str = "") -> Path:
    """Write design and campaign to a folder; `blocks`, in TOML, is what the checker guards, "" for all."""
    (folder / "ram.sv").write_text(_SOURCE)
    (folder / "target.toml").write_text(_TARGET)
    (folder / "source.hex").write_text("".join(f"{word:02x}\n" for word in range(64)))
    file = folder / f"ram-{len(list(folder.glob('ram-*.toml')))}.toml"
    file.write_text(_CAMPAIGN + (f"blocks = {blocks}\n" if blocks else ""))
    return file


def combinational_campaign(folder: Path) -> Path:
    """As `ram_campaign`, with a checker that stores nothing: an alarm of gates alone."""
    head, _, rest = _SOURCE.partition("  logic error_q;\n")
    body = "  assign error_o = valid_i & ^word_i;\n"
    (folder / "ram.sv").write_text(head + body + rest[rest.index("endmodule") :])
    (folder / "target.toml").write_text(_TARGET)
    (folder / "source.hex").write_text("".join(f"{word:02x}\n" for word in range(64)))
    file = folder / "campaign.toml"
    file.write_text(
        _CAMPAIGN.replace('permanent = "bits"\n', "").replace('claims = ["lfm_permanent"]', _SPFM)
    )
    return file
