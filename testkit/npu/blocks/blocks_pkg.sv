// SPDX-License-Identifier: Apache-2.0
/// What goes in and out of the blocks under test, one structure a direction and block.
package blocks_pkg;
  import axi_pkg::*;
  import npu_pkg::*;

  typedef struct packed {
    logic        rst_n;
    linear_req_t fetch_req;
    logic        fetch_start;
    logic        fetch_stop;
    logic        fetch_ready;
    logic        copy_start;
    copy_req_t   copy;
    logic        piece_valid;
    piece_t      piece;
    logic        piece_second;
    logic        weight_start;
    logic        weight_stop;
    logic        weight_ahead;
    logic        weight_kept;
    logic        weight_flush;
    stream_t     weight_next;
    logic        weight_ready;
    logic        scale_start;
    logic [31:0] scale_offset;
    logic [31:0] scale_length;
    logic        scale_ready;
    logic        ofm_valid;
    step_t       ofm_step;
    logic        stage_put;
    logic [127:0] stage_rd_data;
    logic        m0_ar_ready;
    logic        m0_r_valid;
    axi_r_t      m0_r;
    logic        m0_aw_ready;
    logic        m0_w_ready;
    logic        m0_b_valid;
    axi_b_t      m0_b;
    logic        m1_ar_ready;
    logic        m1_r_valid;
    axi_r_t      m1_r;
    axi_r_check_t m0_r_flip;
    axi_b_check_t m0_b_flip;
    axi_r_check_t m1_r_flip;
  } dma_in_t;

  typedef struct packed {
    logic        fetch_idle;
    logic        fetch_valid;
    logic [63:0] fetch_data;
    logic        copy_busy;
    logic        bus_error;
    logic        address_error;
    logic        streams_idle;
    logic        piece_done;
    logic        weight_idle;
    logic        weight_valid;
    logic [63:0] weight_data;
    logic        weight_last;
    logic        scale_valid;
    logic [63:0] scale_data;
    logic        scale_idle;
    logic        ofm_done;
    logic        word_wr;
    logic [5:0]  word_wr_bank;
    logic [6:0]  word_wr_addr;
    logic [63:0] word_wr_data;
    logic        stage_full;
    logic        stage_rd;
    logic [6:0]  stage_rd_addr;
    logic        m0_ar_valid;
    axi_ar_t     m0_ar;
    logic        m0_r_ready;
    logic        m0_aw_valid;
    axi_aw_t     m0_aw;
    logic        m0_w_valid;
    axi_w_t      m0_w;
    logic        m0_b_ready;
    logic        m1_ar_valid;
    axi_ar_t     m1_ar;
    logic        m1_r_ready;
    logic        parity_error;
    axi_ax_check_t m0_ar_check;
    axi_ax_check_t m0_aw_check;
    axi_w_check_t m0_w_check;
    axi_ax_check_t m1_ar_check;
  } dma_out_t;

  // MAC unit and output unit on one shared buffer, whose other ports are driven from outside.
  typedef struct packed {
    logic        rst_n;
    logic        mac_valid;
    step_t       mac_step;
    logic        mac_ifm_buffer;
    logic        mac_acc_buffer;
    logic        vec_valid;
    logic [575:0] vec;
    logic        word_wr;
    logic [5:0]  word_wr_bank;
    logic [6:0]  word_wr_addr;
    logic [63:0] word_wr_data;
    logic        probe;           // reads instead of the output unit
    logic [5:0]  probe_bank;
    logic [5:0]  probe_row;
    logic        out_valid;
    logic        out_ready;
    step_t       out_step;
    logic        out_acc_buffer;
    logic        out_ifm_buffer;
    logic        scale_valid;
    logic [63:0] scale_data;
    logic        scale_idle;
    logic        stage_full;
    logic        stage_rd;
    logic [6:0]  stage_rd_addr;
  } data_in_t;

  typedef struct packed {
    logic        mac_ready;
    logic        mac_step_done;
    logic        mac_row_done;
    logic        mac_block_done;
    logic        vec_ready;
    logic [127:0] probe_data;
    logic        out_done;
    logic        scale_start;
    logic [31:0] scale_offset;
    logic [31:0] scale_length;
    logic        scale_ready;
    logic        stage_wr;
    logic [6:0]  stage_wr_addr;
    logic [127:0] stage_wr_data;
    logic [127:0] stage_rd_data;
  } data_out_t;

  typedef struct packed {
    logic               rst_n;
    logic               valid;
    logic signed [32:0] first;   // accumulator, or the operand a
    logic signed [32:0] second;  // scale, or the operand b
    logic [5:0]         shift;
    logic [6:0]         count;
  } element_in_t;

  typedef struct packed {
    logic               valid;
    logic signed [31:0] value;
  } element_out_t;

  typedef struct packed {
    logic              rst_n;
    logic              multiply;
    logic [63:0]       ifm;
    logic              absent;
    logic [2:0]        channels_m1;
    logic              is_signed;
    logic              wide;
    logic signed [8:0] zero_point;
    logic [575:0]      weights;
  } array_in_t;

  typedef struct packed {
    logic [7:0][31:0] dot;
  } array_out_t;

  typedef struct packed {
    logic       rst_n;
    logic       start;
    logic [9:0] code;
    logic [15:0] param;
  } check_in_t;

  typedef struct packed {
    logic done;
    logic cmd_error;
    logic address_error;
    logic scale_error;
    op_t  op;
  } check_out_t;

  typedef struct packed {
    logic        rst_n;
    logic        start;
    logic        clear_irq;
    linear_req_t stream;
    logic        fetch_idle;
    logic        fetch_valid;
    logic [63:0] fetch_data;
    logic        op_busy;
    op_error_t   op_error;
    logic        copy_busy;
    logic        pmu_irq;
  } decode_in_t;

  typedef struct packed {
    logic        next_weighted;
    stream_t     next_weight;
    logic        flushing;
    logic [31:0] status;
    logic [31:0] qread;
    logic        running;
    logic        irq;
    logic        fetch_start;
    logic        fetch_stop;
    logic        fetch_ready;
    logic        op_start;
    kind_e       kind;
    stream_t     weight;
    stream_t     scale;
    logic [15:0] ofm_w_m1;
    logic        copy_start;
    copy_req_t   copy;
    logic        counted;
  } decode_out_t;

  typedef struct packed {
    logic        rst_n;
    logic        psel;
    logic        penable;
    logic        pwrite;
    logic [11:0] paddr;
    logic [31:0] pwdata;
    logic [31:0] status;
    logic [31:0] qread;
    pmu_events_t events;
    logic        unmasked;
  } apb_in_t;

  typedef struct packed {
    logic        pready;
    logic [31:0] prdata;
    logic        start;
    logic        clear_irq;
    logic        soft_reset;
    logic        pmu_irq;
    linear_req_t stream;
    region_t [7:0] regions;
  } apb_out_t;

  typedef struct packed {
    logic       rst_n;
    logic       scan_mode;
    logic       soft_reset;
    logic [4:0] wake;
  } cpm_in_t;

  typedef struct packed {
    logic       rst_n;
    logic [4:0] enable;
    logic       quiescent;
  } cpm_out_t;

  typedef struct packed {
    logic    rst_n;
    logic    ar_valid;
    axi_ar_t ar;
    logic    r_ready;
    logic    aw_valid;
    axi_aw_t aw;
    logic    w_valid;
    axi_w_t  w;
    logic    b_ready;
  } mem_in_t;

  typedef struct packed {
    logic   ar_ready;
    logic   r_valid;
    axi_r_t r;
    logic   aw_ready;
    logic   w_ready;
    logic   b_valid;
    axi_b_t b;
  } mem_out_t;

  typedef struct packed {
    logic        rst_n;
    logic        is_short;
    logic        start;
    logic        stop;
    logic        in_valid;
    logic [63:0] in_data;
    logic        in_last;
    logic        vec_ready;
  } wd_in_t;

  typedef struct packed {
    logic         in_ready;
    logic         vec_valid;
    logic [575:0] vec;
    logic         error;
  } wd_out_t;

  // The shared buffer alone, with four lanes and eight accumulator banks at most.
  typedef struct packed {
    logic        rst_n;
    logic        word_wr;
    logic [5:0]  word_wr_bank;
    logic [6:0]  word_wr_addr;
    logic [63:0] word_wr_data;
    logic [3:0]  word_rd;
    logic [3:0][5:0] word_rd_bank;
    logic [3:0][6:0] word_rd_addr;
    logic        acc_wr;
    logic [5:0]  acc_wr_group;
    logic [5:0]  acc_wr_row;
    logic [1023:0] acc_wr_data;
    logic        acc_rd;
    logic [5:0]  acc_rd_group;
    logic [5:0]  acc_rd_row;
    logic [2:0]  out_rd;
    logic [2:0][5:0] out_rd_bank;
    logic [2:0][5:0] out_rd_row;
    logic        stage_wr;
    logic [6:0]  stage_wr_addr;
    logic [127:0] stage_wr_data;
    logic        stage_rd;
    logic [6:0]  stage_rd_addr;
  } sb_in_t;

  typedef struct packed {
    logic [3:0][63:0]  word_rd_data;
    logic [1023:0]     acc_rd_data;
    logic [2:0][127:0] out_rd_data;
    logic [127:0]      stage_rd_data;
    logic              corrected;
    logic              error;
  } sb_out_t;

  typedef struct packed {
    logic [1:0][31:0] data;
    logic [1:0][38:0] flips;
  } code_in_t;

  typedef struct packed {
    logic [1:0][38:0] coded;
    logic [1:0][31:0] secded_data;
    logic             secded_corrected;
    logic             secded_error;
    logic [1:0][31:0] parity_data;
    logic             parity_corrected;
    logic             parity_error;
  } code_out_t;
endpackage
