// SPDX-License-Identifier: Apache-2.0
/// The closed bench: NPU, SRAM, flash and a boot sequencer. Clock and reset are its only inputs.
///
/// The memories' parameters are those of Vela's system configuration Ethos_U55_High_End_Embedded, axi_mem's
/// named after Vela's: <memory>_read_latency, _write_latency, _max_reads, _max_writes, and the cycles that a beat
/// takes, 1 / <memory>_clock_scale. With BusFaults the
/// two buses stall and fail as +sram_faults=FILE and +flash_faults=FILE say, see bus_faults; without, they are wires.
/// With BusParity the memories check what they are given, see axi_check.
/// With several Inferences the host goes on after the first one, see boot; without, nothing of that is there.
module bench_top
  import axi_pkg::*;
  import npu_pkg::*;
#(
  parameter int unsigned FlashWords         = 65536,  // of 64 bits, of which the workload takes some
  parameter int unsigned SramWords          = 65536,
  parameter int unsigned BootWords          = 64,
  parameter int unsigned Macs               = 32,
  parameter bit          ClockGates         = 1'b0,
  parameter bit          RegionCheck        = 1'b1,
  parameter int unsigned BufferCode         = 0,
  parameter bit          BusParity          = 1'b0,
  parameter int unsigned SramReadLatency    = 32,
  parameter int unsigned SramWriteLatency   = 32,
  parameter int unsigned SramMaxReads       = 4,
  parameter int unsigned SramMaxWrites      = 4,
  parameter int unsigned FlashReadLatency   = 64,
  parameter int unsigned FlashMaxReads      = 2,
  parameter int unsigned FlashBeatInterval  = 8,
  parameter bit          BusFaults          = 1'b0,
  parameter int unsigned Inferences         = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic        error_o,
  output logic [31:0] status_o,
  output logic [15:0] ops_done_o,
  output logic [7:0]  inferences_o,
  // Alarms of the NPU's own mechanisms, which are there with BufferCode and BusParity
  output logic        buffer_corrected_o,
  output logic        buffer_error_o,
  output logic        bus_parity_o        // found by the NPU or by the memories
);
  if (BusParity && BusFaults) begin : gen_no_such_bus
    $error("BusParity with BusFaults: the disturbed bus has no check bits; set one of them");
  end

  logic psel, penable, pwrite, pready, irq, op_done;
  logic [11:0] paddr;
  logic [31:0] pwdata, prdata;
  logic m0_ar_valid, m0_ar_ready, m0_r_valid, m0_r_ready, m0_aw_valid, m0_aw_ready;
  logic m0_w_valid, m0_w_ready, m0_b_valid, m0_b_ready;
  logic m1_ar_valid, m1_ar_ready, m1_r_valid, m1_r_ready;
  axi_ar_t m0_ar, m1_ar;
  axi_r_t m0_r, m1_r;
  axi_aw_t m0_aw;
  axi_w_t m0_w;
  axi_b_t m0_b;
  axi_ax_check_t m0_ar_check, m0_aw_check, m1_ar_check;
  axi_w_check_t m0_w_check;
  axi_r_check_t m0_r_check, m1_r_check;
  axi_b_check_t m0_b_check;

  logic npu_reset, mem_valid, npu_rst_n;
  logic [31:0] mem_addr;
  boot #(
    .Words     (BootWords),
    .Inferences(Inferences)
  ) u_boot (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .psel_o      (psel),
    .penable_o   (penable),
    .pwrite_o    (pwrite),
    .paddr_o     (paddr),
    .pwdata_o    (pwdata),
    .pready_i    (pready),
    .prdata_i    (prdata),
    .irq_i       (irq),
    .npu_reset_o (npu_reset),
    .mem_valid_o (mem_valid),
    .mem_addr_o  (mem_addr),
    .inferences_o(inferences_o),
    .done_o      (done_o),
    .status_o    (status_o)
  );
  if (Inferences > 1) begin : gen_npu_reset
    assign npu_rst_n = rst_ni && !npu_reset;
  end else begin : gen_no_npu_reset
    logic unused_reset;
    assign npu_rst_n    = rst_ni;
    assign unused_reset = npu_reset;
  end
  // bus, command, weight, address and scale errors
  assign error_o = status_o[2] || status_o[4] || status_o[7] || status_o[9] || status_o[10];

  logic quiescent, npu_parity_error;
  npu #(
    .Macs       (Macs),
    .ClockGates (ClockGates),
    .RegionCheck(RegionCheck),
    .BufferCode (BufferCode),
    .BusParity  (BusParity)
  ) u_npu (
    .clk_i        (clk_i),
    .rst_ni       (npu_rst_n),
    .scan_mode_i  (1'b0),
    .psel_i       (psel),
    .penable_i    (penable),
    .pwrite_i     (pwrite),
    .paddr_i      (paddr),
    .pwdata_i     (pwdata),
    .pready_o     (pready),
    .prdata_o     (prdata),
    .irq_o        (irq),
    .quiescent_o  (quiescent),
    .op_done_o    (op_done),
    .buffer_corrected_o(buffer_corrected_o),
    .buffer_error_o    (buffer_error_o),
    .bus_parity_error_o(npu_parity_error),
    .m0_ar_valid_o(m0_ar_valid),
    .m0_ar_ready_i(m0_ar_ready),
    .m0_ar_o      (m0_ar),
    .m0_ar_check_o(m0_ar_check),
    .m0_r_valid_i (m0_r_valid),
    .m0_r_ready_o (m0_r_ready),
    .m0_r_i       (m0_r),
    .m0_r_check_i (m0_r_check),
    .m0_aw_valid_o(m0_aw_valid),
    .m0_aw_ready_i(m0_aw_ready),
    .m0_aw_o      (m0_aw),
    .m0_aw_check_o(m0_aw_check),
    .m0_w_valid_o (m0_w_valid),
    .m0_w_ready_i (m0_w_ready),
    .m0_w_o       (m0_w),
    .m0_w_check_o (m0_w_check),
    .m0_b_valid_i (m0_b_valid),
    .m0_b_ready_o (m0_b_ready),
    .m0_b_i       (m0_b),
    .m0_b_check_i (m0_b_check),
    .m1_ar_valid_o(m1_ar_valid),
    .m1_ar_ready_i(m1_ar_ready),
    .m1_ar_o      (m1_ar),
    .m1_ar_check_o(m1_ar_check),
    .m1_r_valid_i (m1_r_valid),
    .m1_r_ready_o (m1_r_ready),
    .m1_r_i       (m1_r),
    .m1_r_check_i (m1_r_check)
  );

  if (BusParity) begin : gen_checks
    logic sram_wrong, flash_wrong;
    axi_b_check_t none_b_check;
    axi_check u_sram_check (
      .clk_i     (clk_i),
      .rst_ni    (npu_rst_n),
      .ar_valid_i(m0_ar_valid),
      .ar_i      (m0_ar),
      .ar_check_i(m0_ar_check),
      .r_valid_i (m0_r_valid),
      .r_i       (m0_r),
      .r_check_o (m0_r_check),
      .aw_valid_i(m0_aw_valid),
      .aw_i      (m0_aw),
      .aw_check_i(m0_aw_check),
      .w_valid_i (m0_w_valid),
      .w_i       (m0_w),
      .w_check_i (m0_w_check),
      .b_valid_i (m0_b_valid),
      .b_i       (m0_b),
      .b_check_o (m0_b_check),
      .error_o   (sram_wrong)
    );
    axi_check u_flash_check (
      .clk_i     (clk_i),
      .rst_ni    (npu_rst_n),
      .ar_valid_i(m1_ar_valid),
      .ar_i      (m1_ar),
      .ar_check_i(m1_ar_check),
      .r_valid_i (m1_r_valid),
      .r_i       (m1_r),
      .r_check_o (m1_r_check),
      .aw_valid_i(1'b0),
      .aw_i      ('0),
      .aw_check_i('1),
      .w_valid_i (1'b0),
      .w_i       ('0),
      .w_check_i ('1),
      .b_valid_i (1'b0),
      .b_i       ('0),
      .b_check_o (none_b_check),
      .error_o   (flash_wrong)
    );
    assign bus_parity_o = npu_parity_error || sram_wrong || flash_wrong;
    logic unused_check;
    assign unused_check = ^none_b_check;
  end else begin : gen_no_checks
    assign m0_r_check   = '0;
    assign m1_r_check   = '0;
    assign m0_b_check   = '0;
    assign bus_parity_o = 1'b0;
    logic unused_checks;
    assign unused_checks = ^{m0_ar_check, m0_aw_check, m0_w_check, m1_ar_check, npu_parity_error};
  end

  logic sram_ar_valid, sram_ar_ready, sram_r_valid, sram_r_ready, sram_aw_valid, sram_aw_ready;
  logic sram_w_valid, sram_w_ready, sram_b_valid, sram_b_ready;
  logic flash_ar_valid, flash_ar_ready, flash_r_valid, flash_r_ready, flash_aw_ready, flash_w_ready;
  logic flash_b_valid;
  axi_ar_t sram_ar, flash_ar;
  axi_r_t sram_r, flash_r;
  axi_aw_t sram_aw;
  axi_w_t sram_w;
  axi_b_t sram_b, flash_b;

  axi_mem #(
    .Words       (SramWords),
    .Base        (32'h2000_0000),
    .ReadLatency (SramReadLatency),
    .WriteLatency(SramWriteLatency),
    .MaxReads    (SramMaxReads),
    .MaxWrites   (SramMaxWrites),
    .HostPort    (Inferences > 1),
    .PlusArg     ("sram")
  ) u_sram (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .ar_valid_i(sram_ar_valid),
    .ar_ready_o(sram_ar_ready),
    .ar_i      (sram_ar),
    .r_valid_o (sram_r_valid),
    .r_ready_i (sram_r_ready),
    .r_o       (sram_r),
    .aw_valid_i(sram_aw_valid),
    .aw_ready_o(sram_aw_ready),
    .aw_i      (sram_aw),
    .w_valid_i (sram_w_valid),
    .w_ready_o (sram_w_ready),
    .w_i       (sram_w),
    .b_valid_o (sram_b_valid),
    .b_ready_i (sram_b_ready),
    .b_o       (sram_b),

    .host_valid_i(mem_valid),
    .host_addr_i (mem_addr),
    .host_data_i (pwdata)
  );

  axi_mem #(
    .Words       (FlashWords),
    .Base        (32'h1000_0000),
    .Writable    (1'b0),
    .ReadLatency (FlashReadLatency),
    .MaxReads    (FlashMaxReads),
    .MaxWrites   (1),
    .BeatInterval(FlashBeatInterval),
    .PlusArg     ("flash")
  ) u_flash (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .ar_valid_i(flash_ar_valid),
    .ar_ready_o(flash_ar_ready),
    .ar_i      (flash_ar),
    .r_valid_o (flash_r_valid),
    .r_ready_i (flash_r_ready),
    .r_o       (flash_r),
    .aw_valid_i(1'b0),
    .aw_ready_o(flash_aw_ready),
    .aw_i      ('0),
    .w_valid_i (1'b0),
    .w_ready_o (flash_w_ready),
    .w_i       ('0),
    .b_valid_o (flash_b_valid),
    .b_ready_i (1'b1),
    .b_o       (flash_b),

    .host_valid_i(1'b0),
    .host_addr_i ('0),
    .host_data_i ('0)
  );

  if (BusFaults) begin : gen_faults
    bus_faults #(
      .PlusArg("sram_faults")
    ) u_sram_faults (
      .clk_i     (clk_i),
      .rst_ni    (rst_ni),
      .ar_valid_i(m0_ar_valid),
      .ar_ready_o(m0_ar_ready),
      .ar_i      (m0_ar),
      .r_valid_o (m0_r_valid),
      .r_ready_i (m0_r_ready),
      .r_o       (m0_r),
      .aw_valid_i(m0_aw_valid),
      .aw_ready_o(m0_aw_ready),
      .aw_i      (m0_aw),
      .w_valid_i (m0_w_valid),
      .w_ready_o (m0_w_ready),
      .w_i       (m0_w),
      .b_valid_o (m0_b_valid),
      .b_ready_i (m0_b_ready),
      .b_o       (m0_b),
      .ar_valid_o(sram_ar_valid),
      .ar_ready_i(sram_ar_ready),
      .ar_o      (sram_ar),
      .r_valid_i (sram_r_valid),
      .r_ready_o (sram_r_ready),
      .r_i       (sram_r),
      .aw_valid_o(sram_aw_valid),
      .aw_ready_i(sram_aw_ready),
      .aw_o      (sram_aw),
      .w_valid_o (sram_w_valid),
      .w_ready_i (sram_w_ready),
      .w_o       (sram_w),
      .b_valid_i (sram_b_valid),
      .b_ready_o (sram_b_ready),
      .b_i       (sram_b)
    );

    logic m1_aw_ready, m1_w_ready, m1_b_valid, none_aw_valid, none_w_valid, none_b_ready;
    axi_b_t m1_b;
    axi_aw_t none_aw;
    axi_w_t none_w;
    bus_faults #(
      .PlusArg("flash_faults")
    ) u_flash_faults (
      .clk_i     (clk_i),
      .rst_ni    (rst_ni),
      .ar_valid_i(m1_ar_valid),
      .ar_ready_o(m1_ar_ready),
      .ar_i      (m1_ar),
      .r_valid_o (m1_r_valid),
      .r_ready_i (m1_r_ready),
      .r_o       (m1_r),
      .aw_valid_i(1'b0),
      .aw_ready_o(m1_aw_ready),
      .aw_i      ('0),
      .w_valid_i (1'b0),
      .w_ready_o (m1_w_ready),
      .w_i       ('0),
      .b_valid_o (m1_b_valid),
      .b_ready_i (1'b1),
      .b_o       (m1_b),
      .ar_valid_o(flash_ar_valid),
      .ar_ready_i(flash_ar_ready),
      .ar_o      (flash_ar),
      .r_valid_i (flash_r_valid),
      .r_ready_o (flash_r_ready),
      .r_i       (flash_r),
      .aw_valid_o(none_aw_valid),
      .aw_ready_i(1'b0),
      .aw_o      (none_aw),
      .w_valid_o (none_w_valid),
      .w_ready_i (1'b0),
      .w_o       (none_w),
      .b_valid_i (1'b0),
      .b_ready_o (none_b_ready),
      .b_i       ('0)
    );
    logic unused_writes;
    assign unused_writes = ^{m1_aw_ready, m1_w_ready, m1_b_valid, m1_b,
                             none_aw_valid, none_aw, none_w_valid, none_w, none_b_ready};
  end else begin : gen_wires
    assign sram_ar_valid  = m0_ar_valid;
    assign sram_ar        = m0_ar;
    assign m0_ar_ready    = sram_ar_ready;
    assign m0_r_valid     = sram_r_valid;
    assign m0_r           = sram_r;
    assign sram_r_ready   = m0_r_ready;
    assign sram_aw_valid  = m0_aw_valid;
    assign sram_aw        = m0_aw;
    assign m0_aw_ready    = sram_aw_ready;
    assign sram_w_valid   = m0_w_valid;
    assign sram_w         = m0_w;
    assign m0_w_ready     = sram_w_ready;
    assign m0_b_valid     = sram_b_valid;
    assign m0_b           = sram_b;
    assign sram_b_ready   = m0_b_ready;
    assign flash_ar_valid = m1_ar_valid;
    assign flash_ar       = m1_ar;
    assign m1_ar_ready    = flash_ar_ready;
    assign m1_r_valid     = flash_r_valid;
    assign m1_r           = flash_r;
    assign flash_r_ready  = m1_r_ready;
  end

  logic unused;
  assign unused = ^{flash_aw_ready, flash_w_ready, flash_b_valid, flash_b, quiescent};

  logic [15:0] ops_done_q;
  assign ops_done_o = ops_done_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ops_done_q <= '0;
    else if (op_done) ops_done_q <= ops_done_q + 16'd1;
  end
endmodule
