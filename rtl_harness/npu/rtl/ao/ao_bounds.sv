// SPDX-License-Identifier: Apache-2.0
/// Least and greatest element that an operation stores, or looks up.
///
/// Should the activation's bounds be in the wrong order, its upper one holds.
module ao_bounds
  import npu_pkg::*;
(
  input  op_t                op_i,
  output logic signed [16:0] low_o,
  output logic signed [16:0] high_o
);
  logic signed [16:0] lowest, highest;  // of the type
  always_comb begin
    unique case ({op_i.ofm.log2_bytes, op_i.ofm_signed})
      3'b000:  {lowest, highest} = {17'sd0, 17'sd255};
      3'b001:  {lowest, highest} = {-17'sd128, 17'sd127};
      3'b010:  {lowest, highest} = {17'sd0, 17'sd65535};
      default: {lowest, highest} = {-17'sd32768, 17'sd32767};
    endcase
    if (op_i.clip_int8) {lowest, highest} = {-17'sd128, 17'sd127};
  end

  function automatic logic signed [16:0] clamp(logic signed [16:0] v, logic signed [16:0] from,
                                               logic signed [16:0] to);
    return v < from ? from : (v > to ? to : v);
  endfunction

  logic signed [16:0] least, greatest;  // of the activation
  assign greatest = 17'($signed(op_i.activation_max));
  assign least    = $signed(op_i.activation_min) > $signed(op_i.activation_max)
                    ? greatest : 17'($signed(op_i.activation_min));
  assign low_o    = clamp(least, lowest, highest);
  assign high_o   = clamp(greatest, lowest, highest);
endmodule
