# SPDX-License-Identifier: Apache-2.0
"""Two models of each cell of a library, side by side in a testbench."""

from __future__ import annotations

from collections.abc import Mapping

from resil.rtl_harness.design.cells import CellType


def cell_bench(models: Mapping[str, str], cells: Mapping[str, CellType], steps: int) -> str:
    """Return a testbench that drives two models of each cell alike, one pin at a time.

    It prints each difference of an output as `cell.pin`, and their number at the end. A pin that is called
    `notifier` stays 0.

    Args:
        models: Names of the second models by those of the cells.
        cells: Their pins.
        steps: Of which the second half is compared; before, storage comes to be defined.
    """
    lines, checks = ["`timescale 1ns / 1ps", "module tb;", "  int different = 0;", "  int seed = 1;"], []
    drives = []
    for name, cell in cells.items():
        inputs = [pin for pin in cell.inputs if pin not in cell.outputs]
        lines += [f"  logic {name}_{pin} = 1'b0;" for pin in inputs]
        pins = ", ".join(f".{pin}({name}_{pin})" for pin in inputs)
        for side, module in (("a", name), ("b", models[name])):
            outs = "".join(f", .{pin}({side}_{name}_{pin})" for pin in cell.outputs)
            lines += [f"  wire {side}_{name}_{pin};" for pin in cell.outputs]
            lines.append(f"  {module} {side}_{name} ({(pins + outs).removeprefix(', ')});")
        drives += [f"{name}_{pin} = $urandom();" for pin in inputs if pin != "notifier"]
        checks += [
            f'if (a_{name}_{pin} !== b_{name}_{pin}) begin different++; $display("{name}.{pin}"); end'
            for pin in cell.outputs
        ]
    picked = "\n".join(f"        {i}: {drive}" for i, drive in enumerate(drives))
    lines.append(
        f"""
  initial begin
    // Nothing is compared before each flip-flop was clocked.
    for (int step = 0; step < {steps}; step++) begin
      #10;
      case ($urandom_range({len(drives) - 1}))
{picked}
        default: ;
      endcase
      #5;
      if (step > {steps // 2}) begin
{chr(10).join(8 * " " + check for check in checks)}
      end
    end
    $display("different %0d", different);
    $finish;
  end
endmodule"""
    )
    return "\n".join(lines)
