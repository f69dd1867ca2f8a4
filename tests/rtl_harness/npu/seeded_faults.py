# SPDX-License-Identifier: Apache-2.0
"""A fault in the RTL, or in the bench around it, for each assertion: one that makes it fail.

A fault is a list of places, all wrong at once: a file, the text around an expression, which stands between
the brackets ⟦ and ⟧ and once in the file, and what is there instead.
"""

from __future__ import annotations

Place = tuple[str, str, str]

_NO_READS = [
    ("axi_mem.sv", "ar_ready_o = ⟦level_q != (QueueW + 1)'(MaxReads)⟧;", "1'b1"),
    ("axi_mem.sv", "r_valid_o  = ⟦level_q != '0 && wait_q[0] == '0 && pace_q == '0⟧;", "1'b0"),
]
_NO_ANSWERS = [
    ("axi_mem.sv", "aw_ready_o = ⟦writes_q != WriteW'(MaxWrites)⟧ &&", "1'b1"),
    ("axi_mem.sv", "b_valid_o  = ⟦due_q[WriteLatency-1]⟧;", "1'b0"),
]

SEEDED: dict[str, list[Place]] = {
    # APB: the host, or the slave, does not keep to the protocol
    "ApbAccessFollowsSetUp": [
        ("boot.sv", "penable_o = ⟦state_q == WriteAccess || state_q == ReadAccess⟧;", "1'b0")
    ],
    "ApbEnableNeedsSelect": [
        ("boot.sv", ": ⟦state_q inside {WriteAccess, ReadSetup, ReadAccess}⟧;", "state_q == ReadSetup")
    ],
    "ApbHoldsUntilReady": [("boot.sv", "pwdata_o  = ⟦entry[31:0]⟧;", "entry[31:0] ^ {32{penable_o}}")],
    "ApbEnds": [("cc_apb.sv", "assign pready_o = ⟦ready_q⟧;", "1'b0")],
    "ApbReadsUnimplementedAsZero": [
        ("boot.sv", "entry[43:32] : ⟦StatusAddress⟧;", "12'h405"),
        ("cc_apb.sv", "prdata_o = ⟦pmu_data_i⟧;", "32'd1"),
    ],
    # Reads
    "ArStaysUntilTaken": [("dma_rd_port.sv", "free = ⟦!ar_valid_q || ar_ready_i⟧;", "1'b1")],
    "ArHasAnId": [("dma_rd_port.sv", "= '{id: ⟦ar_id_q⟧,", "3'd6")],
    "ArIsAligned": [("dma_rd_port.sv", "addr: {ar_q.word, ⟦3'd0⟧}", "3'd4")],
    "ArStaysInItsPage": [("dma_rd_port.sv", "addr: {⟦ar_q.word⟧, 3'd0}", "ar_q.word | 29'h1FF")],
    "ArIsShort": [("dma_rd_port.sv", "len: ⟦8'(ar_q.len)⟧,", "8'd40")],
    "ArIsOfWholeBeats": [("dma_rd_port.sv", "len: 8'(ar_q.len), size: ⟦AxiSize8⟧,", "3'd2")],
    "ReadsAreBounded": [
        ("dma_rd_port.sv", "ar_valid_q <= ⟦any⟧;", "any || ar_valid_q"),
        *_NO_READS,
    ],
    "RWasAskedFor": [("axi_mem.sv", "id: ⟦id_q[0]⟧,", "3'd6")],
    "RStaysUntilTaken": [("bus_faults.sv", "r_valid_o  = r_valid_i && (!stall_r || ⟦r_shown_q⟧);", "1'b0")],
    "RLastEndsItsBurst": [("axi_mem.sv", "last       = ⟦beats_q[0] == '0⟧;", "beats_q[0] <= 8'd1")],
    "RIsTaken": [("dma_receive.sv", "r_ready_o = ⟦valid_q⟧ &&", "1'b0")],
    # Writes
    "AwStaysUntilTaken": [
        ("dma_wr_port.sv", "pick_q     <= pick;\n      end else if (⟦aw_ready_i⟧) begin", "1'b1")
    ],
    "WStaysUntilTaken": [("dma_wr_port.sv", "last: last};\n      end else if (⟦w_ready_i⟧) begin", "1'b1")],
    "AwHasAnId": [("dma_wr_port.sv", "= '{id: ⟦{2'd0, pick_q}⟧,", "3'd5")],
    "AwIsAligned": [("dma_wr_port.sv", "addr: {aw_q.word, ⟦3'd0⟧}", "3'd4")],
    "AwStaysInItsPage": [("dma_wr_port.sv", "addr: {⟦aw_q.word⟧, 3'd0}", "aw_q.word | 29'h1FF")],
    "AwIsShort": [("dma_wr_port.sv", "len: ⟦8'(aw_q.len)⟧,", "8'd20")],
    "AwIsOfWholeBeats": [("dma_wr_port.sv", "len: 8'(aw_q.len), size: ⟦AxiSize8⟧,", "3'd2")],
    "AwStaysInARegion": [("dma_wr_port.sv", "addr: {⟦aw_q.word⟧, 3'd0}", "aw_q.word ^ 29'h40000")],
    "WHasAnAddress": [("dma_wr_port.sv", "assign aw_valid_o  = ⟦aw_valid_q⟧;", "1'b0")],
    "WLastEndsItsBurst": [("dma_wr_port.sv", "strb: strb_i[pick_q], last: ⟦last⟧}", "1'b1")],
    "WWritesSomething": [("dma_wr_port.sv", "strb: ⟦strb_i[pick_q]⟧,", "8'd0")],
    "WritesAreBounded": [
        ("dma_wr_port.sv", "&& ⟦on_way_q[pick] != MaxOnWay⟧;", "1'b1"),
        *_NO_ANSWERS,
    ],
    "BIsOwed": [("axi_mem.sv", "id: ⟦due_id_q[WriteLatency-1]⟧,", "3'd5")],
    "BStaysUntilTaken": [
        ("dma_wr_port.sv", "b_ready_o   = ⟦1'b1⟧;", "w_valid_q"),
        ("bus_faults.sv", "b_valid_o = b_valid_i && (!stall_b || ⟦b_shown_q⟧);", "1'b0"),
    ],
    "BIsTaken": [("dma_wr_port.sv", "b_ready_o   = ⟦1'b1⟧;", "1'b0")],
    # Buffers between the units
    "ParametersWait": [("ao_channels.sv", "load     = valid && ⟦!full_q⟧ &&", "1'b1")],
    "ParametersAreWhole": [
        ("ao_walk.sv", "next_o         = ⟦loaded_i⟧ && weighted", "1'b1"),
    ],
    "PieceFindsFreeBuffer": [
        ("cc_sequencer.sv", "piece_valid_o = piece_walk && ⟦!ifm_full_q[ifm_wr_q]⟧;", "1'b1")
    ],
    "PieceIsReleasedWhenFull": [("cc_sequencer.sv", "!weight_pending_q && ⟦ifm_full_q[ifm_rd_q]⟧", "1'b1")],
    "SumsFindFreeBuffer": [("cc_sequencer.sv", "(!mac_step_q.first || ⟦!acc_used_q[acc_wr_q]⟧)", "1'b1")],
    "SumsAreFullOnce": [("cc_sequencer.sv", "acc_done_q             <= ⟦!acc_done_q⟧;", "acc_done_q")],
    "SumsAreReleasedWhenFull": [
        ("cc_sequencer.sv", "(elementwise ? ifm_full_q[ifm_rd_q] : ⟦acc_full_q[acc_rd_q]⟧);", "1'b1")
    ],
    # Queues and credits
    "FifoHasRoom": [("dma_runs.sv", "put     = open_q && ⟦!full⟧ &&", "1'b1")],
    "FifoHasAnEntry": [("dma_receive.sv", "load   = ⟦valid_i⟧ && (!valid_q", "1'b1")],
    "FifoTellsEmpty": [("fifo.sv", "empty_o = ⟦level_q == '0⟧;", "level_q <= (PtrW + 1)'(1)")],
    "FifoTellsFull": [
        ("fifo.sv", "full_o  = ⟦level_q >= (PtrW + 1)'(Depth)⟧;", "level_q >= (PtrW + 1)'(Depth - 1)")
    ],
    "FifoKeepsOrder": [("fifo.sv", "data_o  = ⟦entry_q[head_q]⟧;", "entry_q[tail_q]")],
    "CreditsAreKept": [("dma_linear.sv", ": '0) + ⟦CountW'(give)⟧;", "'0")],
    "QueueHasRoom": [("wd.sv", "weight_push  = pushed_valid && ⟦pushed_ready⟧ &&", "1'b1")],
    "QueueHasItems": [
        (
            "wd.sv",
            "weight_heads = ⟦weight_count < IndexCountW'(Rate) ? RateW'(weight_count) : RateW'(Rate)⟧;",
            "RateW'(Rate)",
        )
    ],
    # The NPU as a whole
    "StreamMakesHeadway": [("cc_sequencer.sv", "piece_valid_o = ⟦piece_walk⟧ &&", "1'b0")],
    "StreamEndsWithInterrupt": [("cc_control.sv", "set_irq_o = ⟦1'b1⟧;", "1'b0")],
    "OperationBelongsToStream": [
        ("cc_control.sv", "Stop: begin\n        if (⟦!op_busy_i && !copy_busy_i⟧) begin", "1'b1"),
        ("cc_control.sv", "Drain: begin\n        if (⟦!op_busy_i && !copy_busy_i⟧) begin", "1'b1"),
    ],
    "OperationEndsOnce": [("cc_sequencer.sv", "if (⟦done_o⟧) busy_q <= 1'b0;", "1'b0")],
    "OperationEndsWhatRuns": [("cc_sequencer.sv", "done_o = ⟦busy_q⟧ &&", "1'b1")],
    "BusIsUsedByStreams": [
        ("cc_control.sv", "if (⟦fetch_idle_i⟧) begin", "1'b1"),
        ("dma_linear.sv", "end else begin\n          to_ask_q  <= ⟦'0⟧;", "to_ask_q"),
    ],
    "IdleIsQuiescent": [("cpm.sv", "quiescent_q <= ⟦awake == '0⟧;", "1'b0")],
    "QuiescentIsIdle": [("cpm.sv", "quiescent_q <= ⟦awake == '0⟧;", "1'b1")],
    # States and arbiters
    "StateIsLegal": [("cc_control.sv", "if (param == '0) state_d = ⟦WaitOp⟧;", "state_e'(5'd25)")],
    "OneClientIsServed": [("dma_rd_port.sv", "if (valid_i[i] && ⟦!any⟧) begin", "1'b1")],
    # Shared buffer
    "BankReadsNoRowThatIsWritten": [("mac_accumulate.sv", "lower_clear_i) && ⟦!forward⟧;", "1'b1")],
    "BankIsReadOnce": [("npu_pkg.sv", "if (operand2) return ⟦op.ib2_start⟧ +", "6'd2")],
    "BankIsWrittenOnce": [("cc_pieces.sv", ": ⟦ifm_buffer_bank(op_i, Lanes, buffer_d)⟧;", "6'd0")],
    "BankExists": [("dma_receive.sv", "wr_bank_o = ⟦wr_bank_q⟧;", "6'd63")],
    "StreamStaysUntilTaken": [("dma_linear.sv", "valid_o = ⟦!empty⟧;", "!empty && !r_valid_i")],
    # What each module keeps to
    "RuleHolds of cpm": [("cpm.sv", "awake[d] = ⟦wake_i[d]⟧ ||", "1'b0")],
    "RuleHolds of cc_blocks": [("cc_blocks.sv", "assign last_x = ⟦left_x <= 16'(op_i.blk_w_m1)⟧;", "1'b0")],
    "RuleHolds of cc_steps": [("cc_steps.sv", "assign last_kx    = ⟦left_kx < 7'(sub_x)⟧;", "1'b0")],
    "RuleHolds of cc_pieces": [("cc_pieces.sv", "8'd1 : ⟦next_step.iw⟧;", "8'd0")],
    "RuleHolds of dma": [("dma.sv", "weight_valid_o = weight_valid && ⟦!weight_kept_i⟧;", "1'b1")],
    "RuleHolds of dma_piece": [
        ("dma_piece.sv", "Fetch: if (⟦!walking && !asking && none_asked && none⟧) state_q", "1'b1")
    ],
    "RuleHolds of dma_runs": [("dma_bursts.sv", "(split_q || ⟦!full_i⟧)", "1'b1")],
    "RuleHolds of dma_collect": [("dma_collect.sv", "whole   = ⟦len_q == LastLen⟧ ||", "1'b0")],
    "RuleHolds of dma_copy": [
        ("dma_copy.sv", "CountW'(src_push_i) - ⟦CountW'(src_valid_i && src_ready_o)⟧;", "'0")
    ],
    "RuleHolds of dma_merge": [
        ("dma_merge.sv", "bytes      = last_bytes ? ⟦left_q[3:0]⟧ : to_beat;", "4'd0")
    ],
    "RuleHolds of wd_bits": [("wd_bits.sv", "last_q || ⟦count_q <= CountW'(Size - BeatBits)⟧;", "1'b1")],
    "RuleHolds of wd_packer": [
        (
            "wd_packer.sv",
            "else if (this_ends) first_d = ⟦stop - (short_i ? AtW'(ShortWeights) : AtW'(VecWeights))⟧;",
            "stop",
        )
    ],
    "RuleHolds of wd_pairs": [("wd_pairs.sv", "&& ⟦weight_count_i > RateW'(i)⟧;", "1'b1")],
    "RuleHolds of mac": [("mac.sv", "take_group_q.new_vector && ⟦weighted⟧;", "1'b1")],
    "RuleHolds of mac_sequencer": [("mac_sequencer.sv", "assign ready_o = ⟦!busy_q⟧;", "1'b1")],
    "RuleHolds of mac_walk": [
        ("mac_walk.sv", "channels_q    <= last_channels ? ⟦'0⟧ : channels_q + 5'd1;", "channels_q + 5'd1")
    ],
    "RuleHolds of mac_axis": [
        ("mac_axis.sv", "coord_q <= ⟦coord_q + 9'(group_distance)⟧;", "coord_q - 9'(group_distance)")
    ],
    "RuleHolds of ao": [("ao.sv", "take && ⟦op_i.ifm2_used⟧, take};", "1'b1")],
    "RuleHolds of ao_walk": [("ao_walk.sv", "x_q <= last_x ? ⟦'0⟧ : x_q + 6'd1;", "x_q + 6'd1")],
    "RuleHolds of ao_pack": [("ao_pack.sv", "from_q <= row_ends_i ? ⟦'0⟧ : from_q", "4'd1")],
    "RuleHolds of ao_lookup": [("ao_lookup.sv", "rd_bank_o = ⟦TableBank | 6'(at[10])⟧;", "6'd0")],
    "RuleHolds of ao_window": [("ao_window.sv", "return to > from ? ⟦7'(to - from)⟧ : '0;", "7'd127")],
    "ReportStays of cc_status": [("cc_status.sv", "error_q <= ⟦error_q | found⟧;", "found")],
    "ValueWaits of cc_pmu": [
        ("cc_pmu.sv", "if (⟦run_q⟧) begin", "1'b1"),
        ("cc_pmu.sv", "if (⟦enable_q[Cycles]⟧) begin", "1'b1"),
    ],
    "ValueWaits of cc_regs": [
        ("cc_regs.sv", "else regs_q <= ⟦regs_d⟧;", "regs_d ^ $bits(regs_d)'(!regs_d[0])")
    ],
    "ValueWaits of cc_copy": [("cc_copy.sv", "end else if (⟦start_i⟧) begin", "1'b1")],
    "ValueWaits of cc_check": [("cc_check.sv", "if (⟦stage_q[1]⟧) begin", "1'b1")],
    "ValueWaits of cc_sizes": [("cc_sizes.sv", "if (⟦start_i⟧) begin", "1'b1")],
    "ValueWaits of mac_accumulate": [
        ("mac_accumulate.sv", "add_q <= valid_i;\n      if (⟦valid_i⟧) begin", "1'b1")
    ],
    "ValueWaits of mac_array": [
        ("mac_array.sv", "else if (⟦multiply_i⟧) product_q", "1'b1"),
        ("mac_array.sv", "product_q <= ⟦product_d⟧;", "~product_q"),
    ],
    "ValueWaits of ao_source": [("ao_source.sv", "else if (en_i && ⟦valid_i⟧) begin", "1'b1")],
    "ValueWaits of ao_operands": [("ao_operands.sv", "else if (en_i && ⟦valid_i⟧) begin", "1'b1")],
    "ValueWaits of ao_combine": [("ao_combine.sv", "else if (en_i && ⟦valid_i⟧) begin", "1'b1")],
    "ValueWaits of ao_scale": [
        ("ao_scale.sv", "if (⟦valid_i[0]⟧) begin", "1'b1"),
        ("ao_scale.sv", "mul_q       <= ⟦69'(value_i) * 69'(factor_i)⟧;", "~mul_q"),
    ],
    "ValueWaits of ao_reciprocal": [
        ("ao_reciprocal.sv", "else if (en_i && ⟦valid_i⟧) count_q", "1'b1"),
        ("ao_reciprocal.sv", "count_q <= ⟦count_i⟧;", "~count_q"),
    ],
    "ValueWaits of ao_finish": [("ao_finish.sv", "else if (en_i && ⟦valid_i⟧) value_q", "1'b1")],
    "ValueWaits of ao_acc_address": [("ao_acc_address.sv", "end else if (⟦next_i⟧) begin", "1'b1")],
    "ValueWaits of ao_operand_address": [("ao_operand_address.sv", "end else if (⟦next_i⟧) begin", "1'b1")],
    "ValueWaits of dma_receive": [("dma_receive.sv", "end else if (⟦pop⟧) begin\n        valid_q", "1'b1")],
    "ValueWaits of dma_bursts": [("dma_bursts.sv", "if (⟦asks⟧) begin", "1'b1")],
    "ValueWaits of dma_position": [("dma_position.sv", "end else if (⟦wrap_i⟧) begin", "1'b1")],
    "ValueWaits of wd_palette": [("wd_palette.sv", "end else if (en_i && ⟦load_i⟧) begin", "1'b1")],
    "ValueWaits of wd_values": [("wd_values.sv", "if (⟦slice_start_i⟧) carry_q", "1'b1")],
}
