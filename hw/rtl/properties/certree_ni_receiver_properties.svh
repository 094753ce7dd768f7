// M7, D5, B6: a message that the list has and the epoch of the open bank sent is written granule by granule where it belongs, and is
// complete once, with its last flit; any other is dropped and reported.
logic was_reset;
initial was_reset = 1'b0;
logic [FLIT_BITS-1:0]   came;           // flits of this message
logic [HEADER_BITS-1:0] its_header;
logic                   its_listed, was_mixed;
logic [CHUNK_BITS-1:0]  its_place;
wire                    starts = rx_valid && came == 0;
wire                    now_listed, is_named;
assign now_listed = is_named && 32'(rx_header[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS]) < 32'(arrivals);
wire [ADDR_BITS-1:0]    now_home;
if (IS_COUNTED) begin : g_named
  wire [31:0] i = 32'(rx_header[certree_ni_pkg::HEADER_ITERATION_LSB+:ITERATION_BITS]);
  wire [31:0] a = 32'(look_key[certree_ni_pkg::ARRIVAL_ADDR_LSB+:certree_ni_pkg::TABLE_ADDR_BITS]);
  assign is_named = look_key[certree_ni_pkg::ARRIVAL_FLOW_LSB+:FLOW_BITS] == rx_header[certree_ni_pkg::HEADER_FLOW_LSB+:FLOW_BITS]
      && (certree_ni_pkg::HEADER_BUFFER_LSB == 0 || look_key[certree_ni_pkg::ARRIVAL_BUFFER_LSB+:BUFFER_BITS]
          == rx_header[certree_ni_pkg::HEADER_BUFFER_LSB+:BUFFER_BITS]);
  assign now_home = ADDR_BITS'(a < certree_ni_pkg::WORK_BASE ? a + i * certree_ni_pkg::STRIDE
      : a + (i % certree_ni_pkg::IN_FLIGHT) * certree_ni_pkg::WORK_STRIDE);
end else begin : g_key
  assign is_named = look_key == rx_header[certree_ni_pkg::HEADER_KEY_LSB+:KEY_BITS];
  assign now_home = rx_header[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS];
end
logic [ADDR_BITS-1:0]   home_of_message;
wire [FLIT_BITS-1:0]    its_flits = HAS_SIZES
    ? FLIT_BITS'(HEAD) + FLIT_BITS'(its_header[certree_ni_pkg::HEADER_SIZE_LSB+:certree_ni_pkg::SIZE_BITS]) : FLIT_BITS'(FLITS);
wire                    now_current = rx_header[certree_ni_pkg::HEADER_EPOCH_LSB] == epoch;
wire                    ends = rx_valid && came == flits - 1'b1;
wire                    is_sum = its_header[certree_ni_pkg::HEADER_OP_LSB+:2] == 2'd1;
logic [ADDR_BITS-1:0]   its_base;       // of its first granule
wire [ADDR_BITS-1:0]    staged = {1'b1, (ADDR_BITS - 1)'((LANE * (1 << CHUNK_BITS) + 32'(its_place)) * (1 << PLACE_BITS))};
wire [ADDR_BITS-1:0]    its_addr = its_base + ADDR_BITS'(came) - ADDR_BITS'(HEAD);
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst) begin
    came <= '0;
    its_place <= '0;
    its_listed <= 1'b0;
    was_mixed <= 1'b0;
  end else begin
    was_mixed <= (starts && !now_current) || (takes_over && (starts ? now_listed && now_current : its_listed && came != 0 && !ends));
    if (rx_valid) came <= ends ? '0 : came + 1'b1;
    if (starts) begin
      its_header <= rx_header;
      its_base <= rx_header[certree_ni_pkg::HEADER_OP_LSB+:2] == 2'd1 ? staged : now_home;
      home_of_message <= now_home;
    end
    if (takes_over) its_listed <= 1'b0;
    else if (starts) its_listed <= now_listed && now_current;
    if (takes_over) its_place <= '0;
    else if (ends && its_listed && is_sum) its_place <= its_place + 1'b1;
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!rx_valid || rx_first == (came == 0));  // M1: messages of a lane come one after the other
  if (HAS_SIZES) assume (!rx_valid || !rx_first || rx_header[certree_ni_pkg::HEADER_SIZE_LSB+:certree_ni_pkg::SIZE_BITS] != 0);
end
`endif
`CERTREE_PROPERTY(receiver_counts_flits, flit == came && (came == 0 || came < its_flits) && place == its_place && (came == 0 || (header == its_header && its_home == home_of_message && is_known == its_listed)) && (came != 0 || !is_known))
`CERTREE_PROPERTY(receiver_begins_and_completes_once, begins == (starts && now_listed && now_current) && is_complete == (ends && came != 0 && its_listed))
`CERTREE_PROPERTY(receiver_reports_what_is_not_listed, is_unexpected == (starts && now_current && !now_listed))
`CERTREE_PROPERTY(receiver_reports_other_epochs, is_mixed == was_mixed)
`CERTREE_PROPERTY(receiver_writes_each_granule, write_valid == (rx_valid && came != 0 && its_listed && 32'(came) >= HEAD) && write_data == rx_data && is_overrun == (write_valid && !write_ready))
`CERTREE_PROPERTY(receiver_writes_where_it_belongs, came == 0 || !its_listed || write_addr == (32'(came) < HEAD ? its_base : its_addr))
`CERTREE_PROPERTY(receiver_tells_line_and_op, !is_complete || (line == its_header[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS] && addr == home_of_message && source == its_header[certree_ni_pkg::HEADER_SRC_LSB+:NODE_BITS] && is_reduce == is_sum))
