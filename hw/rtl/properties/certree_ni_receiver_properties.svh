// M7, D5: a message that the list has is written granule by granule where it belongs, and is complete once, with its last flit.
logic was_reset;
initial was_reset = 1'b0;
logic [FLIT_BITS-1:0]   came;           // flits of this message
logic [HEADER_BITS-1:0] its_header;
logic                   its_listed, its_place;
wire [HEADER_BITS-1:0]  now_header = came == 0 ? rx_header : its_header;
wire                    now_listed = came == 0 ? look_key == rx_header[certree_ni_pkg::HEADER_KEY_LSB+:KEY_BITS]
                                                 && 32'(rx_header[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS]) < 32'(arrivals) : its_listed;
wire                    ends = rx_valid && 32'(came) == FLITS - 1;
logic [ADDR_BITS-1:0]   its_base;       // of its first granule
wire [ADDR_BITS-1:0]    now_base = now_header[certree_ni_pkg::HEADER_OP_LSB+:2] != 2'd1
    ? now_header[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS] : its_place ? staging_base + ADDR_BITS'((2 * LANE + 1) * SIZE)
    : staging_base + ADDR_BITS'(2 * LANE * SIZE);
wire [ADDR_BITS-1:0]    its_addr = its_base + ADDR_BITS'(came) - ADDR_BITS'(HEAD);
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst) begin
    came <= '0;
    its_place <= 1'b0;
  end else if (rx_valid) begin
    came <= ends ? '0 : came + 1'b1;
    its_header <= now_header;
    its_listed <= now_listed;
    if (came == 0) its_base <= now_base;
    if (ends && now_listed && now_header[certree_ni_pkg::HEADER_OP_LSB+:2] == 2'd1) its_place <= !its_place;
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!rx_valid || rx_first == (came == 0));  // M1: messages of a lane come one after the other
end
`endif
`CERTREE_PROPERTY(receiver_counts_flits, flit == came && 32'(came) < FLITS && place == its_place && (came == 0 || (header == its_header && is_known == its_listed)))
`CERTREE_PROPERTY(receiver_completes_once, is_complete == (ends && now_listed))
`CERTREE_PROPERTY(receiver_reports_what_is_not_listed, is_unexpected == (rx_valid && came == 0 && !now_listed))
`CERTREE_PROPERTY(receiver_writes_each_granule, write_valid == (rx_valid && now_listed && 32'(came) >= HEAD) && write_data == rx_data && is_overrun == (write_valid && !write_ready))
`CERTREE_PROPERTY(receiver_writes_where_it_belongs, came == 0 || !its_listed || write_addr == (32'(came) < HEAD ? its_base : its_addr))
`CERTREE_PROPERTY(receiver_tells_line_and_op, !is_complete || (line == now_header[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS] && addr == now_header[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS] && is_reduce == (now_header[certree_ni_pkg::HEADER_OP_LSB+:2] == 2'd1)))
