// E10: each message that is handed over is sent once, flit by flit; flits neither get lost nor come twice.
logic was_reset;
initial was_reset = 1'b0;
`ifdef FORMAL
(* anyconst *) logic [15:0] watched;  // a message, any one
`else
localparam logic [15:0] watched = 16'd2;
`endif
logic [BODY_BITS-1:0] its_header;
logic                 is_inside;        // it came and has not been sent
logic [15:0]          put, released, finished;
logic [FLIT_BITS-1:0] next_flit, asked;  // `asked`: granules of this message that memory has been asked for
wire  [15:0]          waiting = put - released;  // messages of rows that have not fired
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  put <= rst ? '0 : put + 16'(write);
  released <= rst ? '0 : released + 16'(enqueue);
  finished <= rst ? '0 : finished + 16'(tx_last);
  if (rst) begin
    is_inside <= 1'b0;
  end else if (write && put == watched) begin
    is_inside <= 1'b1;
    its_header <= header;
  end else if (tx_last && finished == watched) begin
    is_inside <= 1'b0;
  end
  if (rst || !is_busy || tx_last) asked <= '0;
  else asked <= asked + FLIT_BITS'(read_valid && read_ready);
  if (rst) next_flit <= '0;
  else if (tx_valid) next_flit <= tx_last ? '0 : next_flit + 1'b1;
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (enqueue == 0 || (!is_full && waiting + 16'(write && !IS_COPY_UNIT) >= 16'(enqueue)));
  assume (!write || 32'(waiting) < ROWS);
  assume (put < 16'h7000);
  if (HAS_SIZES) assume (!write || header[SIZE_LSB+:SIZE_BITS] != 0);
end
`else
`CERTREE_PROPERTY(lane_gets_what_fires, (enqueue == 0 || (!is_full && waiting + 16'(write && !IS_COPY_UNIT) >= 16'(enqueue))) && (!write || 32'(waiting) < ROWS))
`endif
`CERTREE_PROPERTY(lane_sends_each_message_once, released - finished == 16'(held) && written == PLACE_BITS'(put) && sent == PLACE_BITS'(finished))
`CERTREE_PROPERTY(lane_tells_whether_it_holds_any, is_held == (released != finished))
`CERTREE_PROPERTY(lane_sends_flits_in_order, next_flit == flit && flit < flits && (is_busy || (flit == 0 && has_data)))
`CERTREE_PROPERTY(lane_queue_is_bounded, 32'(held) <= QUEUE + 1 && 32'(waiting) <= ROWS)
`CERTREE_PROPERTY(lane_marks_first_and_last, (tx_first == (tx_valid && next_flit == 0)) && (tx_last == (tx_valid && next_flit == flits - 1'b1)))
`CERTREE_PROPERTY(lane_reads_granule_after_granule, !is_busy || ((has_data || 32'(flit) >= HEAD) && (asked == (32'(flit) + 32'(has_data) < HEAD ? '0 : FLIT_BITS'(32'(flit) + 32'(has_data) - HEAD)) || (has_data && is_last))))
`CERTREE_PROPERTY(lane_reads_where_the_chunk_is, !is_busy || read_addr == ADDR_BITS'(current[ADDR_LSB+:ADDR_BITS] + ADDR_BITS'(asked)))
`CERTREE_PROPERTY(lane_reads_no_more_than_a_message, !read_valid || 32'(asked) + HEAD < 32'(flits))
`CERTREE_PROPERTY(lane_knows_what_it_holds, finished <= released && released <= put && is_inside == (put > watched && finished <= watched))
`CERTREE_PROPERTY(lane_keeps_each_message, !is_inside || messages[PLACE_BITS'(watched)] == its_header)
`CERTREE_PROPERTY(lane_sends_what_it_was_given, !is_inside || finished != watched || !tx_first || tx_header == {its_header, node})
