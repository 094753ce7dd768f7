// E10: each message that is handed over is sent once, flit by flit; flits neither get lost nor come twice.
logic was_reset;
initial was_reset = 1'b0;
`ifdef FORMAL
(* anyconst *) logic [15:0] watched;  // a message, any one
`else
localparam logic [15:0] watched = 16'd2;
`endif
logic [BODY_BITS-1:0] its_header, place_header, mask;
logic                 is_inside;      // it came and has not been sent
wire  [15:0]          ahead = watched - finished;
always_comb begin
  mask = '1;
  mask[ADDR_LSB+:ADDR_BITS] = '0;     // moves on as granules are read
  place_header = its_header;
  for (int unsigned place = 0; place < QUEUE; place++) if (32'(ahead) == place + 1) place_header = queue[place*BODY_BITS+:BODY_BITS];
end
logic [15:0] taken, finished;
logic [FLIT_BITS-1:0] next_flit, asked;  // `asked`: granules of this message that memory has been asked for
logic [ADDR_BITS-1:0] its_addr;         // of its first granule
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  taken <= rst ? '0 : taken + 16'(enqueue);
  finished <= rst ? '0 : finished + 16'(tx_last);
  if (rst) begin
    is_inside <= 1'b0;
  end else if (enqueue && taken == watched) begin
    is_inside <= 1'b1;
    its_header <= header;
  end else if (tx_last && finished == watched) begin
    is_inside <= 1'b0;
  end
  if (rst || takes_next) asked <= '0;
  else asked <= asked + FLIT_BITS'(read_valid && read_ready);
  if (takes_next) its_addr <= following[ADDR_LSB+:ADDR_BITS];
  if (rst) next_flit <= '0;
  else if (tx_valid) next_flit <= tx_last ? '0 : next_flit + 1'b1;
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!enqueue || !is_full);
  assume (taken < 16'h7000);
end
`endif
`CERTREE_PROPERTY(lane_sends_each_message_once, taken - finished == 16'(queued) + 16'(is_busy))
`CERTREE_PROPERTY(lane_sends_flits_in_order, next_flit == (is_busy ? flit : FLIT_BITS'(0)) && (32'(flit) < FLITS || !is_busy))
`CERTREE_PROPERTY(lane_queue_is_bounded, 32'(queued) <= QUEUE && (is_busy || queued == 0))
`CERTREE_PROPERTY(lane_marks_first_and_last, (tx_first == (tx_valid && next_flit == 0)) && (tx_last == (tx_valid && 32'(next_flit) == FLITS - 1)))
`CERTREE_PROPERTY(lane_reads_granule_after_granule, !is_busy || ((has_data || 32'(flit) >= HEAD) && (asked == (32'(flit) + 32'(has_data) < HEAD ? '0 : FLIT_BITS'(32'(flit) + 32'(has_data) - HEAD)) || (has_data && is_last))))
`CERTREE_PROPERTY(lane_reads_where_the_chunk_is, !is_busy || read_addr == ADDR_BITS'(its_addr + ADDR_BITS'(asked)))
`CERTREE_PROPERTY(lane_reads_no_more_than_a_message, !read_valid || 32'(asked) < FLITS - HEAD)
`CERTREE_PROPERTY(lane_knows_what_it_holds, finished <= taken && is_inside == (taken > watched && finished <= watched))
`CERTREE_PROPERTY(lane_keeps_each_message, !is_inside || ahead == 0 || place_header == its_header)
`CERTREE_PROPERTY(lane_sends_what_it_was_given, !is_inside || ahead != 0 || ((current & mask) == (its_header & mask) && its_addr == its_header[ADDR_LSB+:ADDR_BITS] && (!tx_first || tx_header == {its_header, node})))
