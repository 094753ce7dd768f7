// E10: each message that is handed over is sent once, flit by flit; flits neither get lost nor come twice.
logic was_reset;
initial was_reset = 1'b0;
logic [15:0] taken, finished;
logic [FLIT_BITS-1:0] next_flit;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  taken <= rst ? '0 : taken + 16'(enqueue);
  finished <= rst ? '0 : finished + 16'(tx_last);
  if (rst) next_flit <= '0;
  else if (tx_valid) next_flit <= tx_last ? '0 : next_flit + 1'b1;
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!enqueue || !is_full);
end
`endif
`CERTREE_PROPERTY(lane_sends_each_message_once, taken - finished == 16'(queued) + 16'(is_busy))
`CERTREE_PROPERTY(lane_sends_flits_in_order, next_flit == (is_busy ? flit : FLIT_BITS'(0)) && (32'(flit) < FLITS || !is_busy))
`CERTREE_PROPERTY(lane_queue_is_bounded, 32'(queued) <= QUEUE && (is_busy || queued == 0))
`CERTREE_PROPERTY(lane_marks_first_and_last, (tx_first == (tx_valid && next_flit == 0)) && (tx_last == (tx_valid && 32'(next_flit) == FLITS - 1)))
`CERTREE_PROPERTY(lane_reads_granule_after_granule, !is_busy || 32'(wanted) >= FLITS || addr == ADDR_BITS'(current[ADDR_LSB+:ADDR_BITS] + (32'(wanted) < HEAD ? '0 : ADDR_BITS'(wanted) - ADDR_BITS'(HEAD))))
`CERTREE_PROPERTY(lane_reads_no_more_than_a_message, !read_valid || (32'(wanted) >= HEAD && 32'(wanted) < FLITS))
