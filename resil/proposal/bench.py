# SPDX-License-Identifier: Apache-2.0
"""A bench where there is no recording: known buses connected, the rest driven from a memory of zeros."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from resil.proposal.design import OwnDesign
from resil.rtl_harness.replay.buses import Bus
from resil.rtl_harness.replay.parts import SOURCE, part_of
from resil.rtl_harness.replay.pins import instance_text
from resil.rtl_harness.replay.ports import TopPort

# Cycles that a bench without a host runs; words of its memories.
CYCLES = 1024
_HOSTS = {"APB": "resil_apb_master", "AXI4-Lite": "resil_axil_master"}
_REQUEST = ("req_valid", "req_write", "req_addr", "req_data", "rsp_valid", "rsp_data", "rsp_error")
_HOST_PORTS = {
    "APB": (
        ("psel", "penable", "pwrite", "paddr", "pwdata", "pstrb"),
        {"pready": "1'b1", "prdata": "'0", "pslverr": "1'b0"},
    ),
    "AXI4-Lite": (
        ("awvalid", "awaddr", "wvalid", "wdata", "wstrb", "bready", "arvalid", "araddr", "rready"),
        dict.fromkeys(("awready", "wready", "bvalid", "arready", "rvalid"), "1'b0")
        | dict.fromkeys(("bresp", "rdata", "rresp"), "'0"),
    ),
}


def memories(design: OwnDesign) -> list[Bus]:
    """Return the buses behind which, or in front of which, the bench has a memory."""
    return [_in_bench(bus) for bus in design.buses if part_of(bus) is not None]


def _in_bench(bus: Bus) -> Bus:
    """Return a bus with the names that its signals have in the bench."""
    return replace(bus, ports={key: replace(port, name=port.symbol) for key, port in bus.ports.items()})


def host(design: OwnDesign) -> Bus | None:
    """Return the bus on which the bench has a host; the first that it can serve."""
    found = (_in_bench(b) for b in design.buses if not b.manager and b.kind.name in _HOSTS)
    return next(found, None)


def _connected(design: OwnDesign) -> set[str]:
    buses = [*memories(design), *filter(None, [host(design)])]
    found = {port.symbol for bus in buses for port in bus.ports.values()}
    clocks = (*design.clocks, *design.same_clocks)
    return found | {port.symbol for port in (*clocks, *(reset.port for reset in design.resets))}


def _free(design: OwnDesign, direction: str) -> list[TopPort]:
    taken = _connected(design)
    return [port for port in design.ports if port.direction == direction and port.symbol not in taken]


def _width(ports: Iterable[TopPort]) -> int:
    return 8 * max(1, -(-sum(port.width for port in ports) // 8))


def bench_keys(design: OwnDesign) -> dict[str, str]:
    """Return the keys of the target file that describe the bench, as TOML."""
    keys = {"top": f'"{design.top}_bench"', "dut": '"u_dut"', "clock": '"clk_i"', "reset": '"rst_ni"'}
    keys["done"] = '"done_o"'
    tables = {"stimulus": ("u_stimulus.mem_q", _width(_free(design, "input")) // 8, False)}
    tables["sink"] = ("u_sink.mem_q", _width(_free(design, "output")) // 8, True)
    for number, bus in enumerate(memories(design)):
        part = part_of(bus)
        assert part is not None
        tables[f"memory{number}"] = (
            f"u_memory{number}.{part.memory}",
            part.word_bytes(bus),
            part is not SOURCE,
        )
    if host(design) is not None:
        tables["boot"] = ("u_boot.program_q", 16, False)
    rows = [
        f'{name} = {{ path = "{path}", word_bytes = {size}, plusarg = "{name}", '
        f"observed = {str(seen).lower()} }}"
        for name, (path, size, seen) in tables.items()
    ]
    return {**keys, "memories": "{ " + ", ".join(rows) + " }"}


def bench_work(design: OwnDesign) -> list[str]:
    """Return the table [workload] for the bench, in lines."""
    names = ", ".join(port.name for port in _free(design, "input")) or "none"
    lines = ["[workload]", "", "[[workload.images]]", 'memory = "stimulus"']
    lines += [f'file = "stimulus.hex"           # a person decides: inputs ({names}), a word a cycle']
    for number, bus in enumerate(memories(design)):
        lines += ["", f"# [[workload.images]]             # a person decides: content at {bus.title}"]
        lines += [f'# memory = "memory{number}"', '# file = "memory.bin"']
    if host(design) is not None:
        lines += ["", "[[workload.images]]", 'memory = "boot"']
        lines += ['file = "boot.hex"               # a person decides: what the host writes and waits for']
    size = _width(_free(design, "output")) // 8
    lines += ["", "[workload.output]", 'memory = "sink"                 # outputs of each cycle']
    return [*lines, f"shape = [{CYCLES}, {size}]", 'dtype = "uint8"']


def images(design: OwnDesign) -> dict[str, str]:
    """Return the memory images that the campaign names: zeros, and a host that does nothing and ends."""
    found = {"stimulus.hex": "0\n" * CYCLES}
    if host(design) is not None:
        wait = f"{0:08x}{CYCLES - 64:08x}{0:08x}{6:08x}"
        found["boot.hex"] = f"{wait}\n{'0' * 32}\n"
    return found


def bench_text(design: OwnDesign) -> str:
    """Return the bench as SystemVerilog."""
    ends = "host_done" if host(design) is not None else f"cycle_q == 32'd{CYCLES - 1}"
    parts = [
        _head(design, ends),
        *(_served(bus, number) for number, bus in enumerate(memories(design))),
        _host(host(design)),
        _design(design),
        "endmodule\n",
    ]
    return "\n".join(part for part in parts if part)


def _head(design: OwnDesign, ends: str) -> str:
    inputs, outputs = _free(design, "input"), _free(design, "output")
    alarms = [own.port for own in design.alarms]
    ports = "".join(f",\n  output logic [{port.width - 1}:0] {port.symbol}" for port in alarms)
    return f"""\
// SPDX-License-Identifier: Apache-2.0
/// A closed bench of {design.top}, proposed by resil init: a person decides what it is driven with.
module {design.top}_bench (
  input  logic clk_i,
  input  logic rst_ni,
  output logic done_o{ports}
);

  logic [31:0] cycle_q;
  logic done_q;
  assign done_o = done_q;
  logic host_done;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycle_q <= '0;
      done_q <= 1'b0;
    end else begin
      if (cycle_q != 32'd{CYCLES - 1}) cycle_q <= cycle_q + 1'b1;
      if ({ends}) done_q <= 1'b1;
    end
  end

  // Inputs that are on no bus that the bench knows: a word a cycle, zeros until a person decides.
{_declared(inputs, design)}\
  logic [{_width(inputs) - 1}:0] stimulus;
{_replay_memory("stimulus", _width(inputs), "1'b0", "'0", "stimulus")}\
{_split(inputs, design)}
  // What the outputs were in each cycle.
{_declared([port for port in outputs if port not in alarms], design)}\
  logic [{_width(outputs) - 1}:0] sink, unused_sink;
  assign sink = {_width(outputs)}'({{{", ".join(port.symbol for port in outputs) or "1'b0"}}});
{_replay_memory("sink", _width(outputs), "!done_q", "sink", "unused_sink")}"""


def _declared(ports: Iterable[TopPort], design: OwnDesign) -> str:
    return "".join(
        f"  logic [{port.width - 1}:0] {port.symbol};\n" for port in ports if port not in design.clocks
    )


def _split(inputs: list[TopPort], design: OwnDesign) -> str:
    lines, low = [], 0
    for port in inputs:
        lines.append(f"  assign {port.symbol} = stimulus[{low + port.width - 1}:{low}];\n")
        low += port.width
    return "".join(lines)


def _replay_memory(name: str, width: int, write: str, data: str, read: str) -> str:
    return f"""\
  resil_replay_mem #(.Words({CYCLES}), .Width({width}), .PlusArg("{name}")) u_{name} (
    .clk_i, .we_i({write}), .address_i(cycle_q[{(CYCLES - 1).bit_length() - 1}:0]),
    .data_i({data}), .data_o({read})
  );
"""


def _served(bus: Bus, number: int) -> str:
    part = part_of(bus)
    assert part is not None
    declared = "".join(f"  logic [{port.width - 1}:0] {port.name};\n" for port in bus.ports.values())
    given = {**part.parameters(bus), "Words": str(CYCLES), "PlusArg": f'"memory{number}"'}
    parameters = ", ".join(f".{name}({value})" for name, value in given.items())
    pins = part.pins(bus)
    connected = {name for name in pins.values() if name}
    joined = ",\n    ".join([".clk_i", ".rst_ni", *(f".{pin}({value})" for pin, value in pins.items())])
    tied = "".join(
        f"  assign {port.name} = '0;\n"
        for port in bus.ports.values()
        if port.direction == "input" and port.name not in connected
    )
    return f"""\
  // {bus.title}
{declared}{tied}  {part.module} #(
    {parameters}
  ) u_memory{number} (
    {joined}
  );
"""


def _host(bus: Bus | None) -> str:
    if bus is None:
        return "  assign host_done = 1'b0;\n"
    outputs, inputs = _HOST_PORTS[bus.kind.name]
    declared = "".join(f"  logic [{port.width - 1}:0] {port.name};\n" for port in bus.ports.values())
    wires = "".join(f"  logic {'[31:0] ' if n.endswith(('addr', 'data')) else ''}{n};\n" for n in _REQUEST)
    pins = [f".{n}_i({n})" for n in _REQUEST[:4]] + [f".{n}_o({n})" for n in _REQUEST[4:]]
    whole, taken = [], []
    for signal in outputs:
        if signal not in bus.ports:
            pins.append(f".{signal}_o()")
            continue
        wide = {"addr": 32, "data": 32, "strb": 4}.get(signal[-4:], 1)
        whole.append(f"  logic [{wide - 1}:0] host_{signal};\n")
        taken.append(f"  assign {bus.ports[signal].name} = {bus.ports[signal].width}'(host_{signal});\n")
        pins.append(f".{signal}_o(host_{signal})")
    for signal, absent in inputs.items():
        name = bus.ports[signal].name if signal in bus.ports else absent
        pins.append(f".{signal}_i({f'32{chr(39)}({name})' if signal.endswith('data') else name})")
    joined = ",\n    ".join([".clk_i", ".rst_ni", *pins])
    back = [f".{n}_o({n})" for n in _REQUEST[:4]] + [f".{n}_i({n})" for n in _REQUEST[4:]]
    boot = ", ".join([".clk_i", ".rst_ni", ".irq_i('0)", *back, ".done_o(host_done)"])
    tied = "".join(
        f"  assign {port.name} = '0;\n"
        for signal, port in bus.ports.items()
        if port.direction == "input" and signal not in outputs
    )
    return f"""\
  // {bus.title}: a host that runs the program of the memory boot
{declared}{wires}{"".join(whole)}{"".join(taken)}{tied}  resil_boot #(.Words(64), .PlusArg("boot")) u_boot (
    {boot}, .error_o(), .status_o(), .operations_o()
  );
  {_HOSTS[bus.kind.name]} u_host (
    {joined}
  );
"""


def _design(design: OwnDesign) -> str:
    given = {port.name: "clk_i" for port in (*design.clocks, *design.same_clocks)}
    given |= {own.port.name: "rst_ni" if own.active_low else "!rst_ni" for own in design.resets}
    nets = "".join(
        f"  wire [{p.width - 1}:0] {p.symbol};   // a person decides: nothing drives it but the design\n"
        for p in design.ports
        if p.is_inout
    )
    connected = [(port, given.get(port.name, port.symbol)) for port in design.ports]
    return nets + instance_text(design.top, design.parameters, "u_dut", connected)
