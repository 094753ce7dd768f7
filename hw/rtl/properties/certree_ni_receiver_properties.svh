// M7, D5, B6: a message that the list has and the epoch of the open bank sent is written granule by granule where it belongs, and is
// complete once, with its last flit; any other is dropped and reported.
logic was_reset;
initial was_reset = 1'b0;
logic [FLIT_BITS-1:0]   came;           // flits of this message
logic [HEADER_BITS-1:0] its_header;
logic                   its_listed, its_place, was_mixed;
wire                    starts = rx_valid && came == 0;
wire                    now_listed = look_key == rx_header[certree_ni_pkg::HEADER_KEY_LSB+:KEY_BITS]
                                     && 32'(rx_header[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS]) < 32'(arrivals);
wire                    now_current = rx_header[certree_ni_pkg::HEADER_EPOCH_LSB] == epoch;
wire                    ends = rx_valid && 32'(came) == FLITS - 1;
wire                    is_sum = its_header[certree_ni_pkg::HEADER_OP_LSB+:2] == 2'd1;
logic [ADDR_BITS-1:0]   its_base;       // of its first granule
wire [ADDR_BITS-1:0]    staged = {1'b1, (ADDR_BITS - 1)'((2 * LANE + (its_place ? 1 : 0)) * (1 << PLACE_BITS))};
wire [ADDR_BITS-1:0]    its_addr = its_base + ADDR_BITS'(came) - ADDR_BITS'(HEAD);
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst) begin
    came <= '0;
    its_place <= 1'b0;
    its_listed <= 1'b0;
    was_mixed <= 1'b0;
  end else begin
    was_mixed <= (starts && !now_current) || (takes_over && (starts ? now_listed && now_current : its_listed && came != 0 && !ends));
    if (rx_valid) came <= ends ? '0 : came + 1'b1;
    if (starts) begin
      its_header <= rx_header;
      its_base <= rx_header[certree_ni_pkg::HEADER_OP_LSB+:2] == 2'd1 ? staged : rx_header[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS];
    end
    if (takes_over) its_listed <= 1'b0;
    else if (starts) its_listed <= now_listed && now_current;
    if (takes_over) its_place <= 1'b0;
    else if (ends && its_listed && is_sum) its_place <= !its_place;
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!rx_valid || rx_first == (came == 0));  // M1: messages of a lane come one after the other
end
`endif
`CERTREE_PROPERTY(receiver_counts_flits, flit == came && 32'(came) < FLITS && place == its_place && (came == 0 || (header == its_header && is_known == its_listed)) && (came != 0 || !is_known))
`CERTREE_PROPERTY(receiver_begins_and_completes_once, begins == (starts && now_listed && now_current) && is_complete == (ends && came != 0 && its_listed))
`CERTREE_PROPERTY(receiver_reports_what_is_not_listed, is_unexpected == (starts && now_current && !now_listed))
`CERTREE_PROPERTY(receiver_reports_other_epochs, is_mixed == was_mixed)
`CERTREE_PROPERTY(receiver_writes_each_granule, write_valid == (rx_valid && came != 0 && its_listed && 32'(came) >= HEAD) && write_data == rx_data && is_overrun == (write_valid && !write_ready))
`CERTREE_PROPERTY(receiver_writes_where_it_belongs, came == 0 || !its_listed || write_addr == (32'(came) < HEAD ? its_base : its_addr))
`CERTREE_PROPERTY(receiver_tells_line_and_op, !is_complete || (line == its_header[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS] && addr == its_header[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS] && source == its_header[certree_ni_pkg::HEADER_SRC_LSB+:NODE_BITS] && is_reduce == is_sum))
