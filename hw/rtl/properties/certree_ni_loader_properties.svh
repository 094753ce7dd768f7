// B3, B7: an image is whole only if its CRC, computed here in the other order of bits, and the numbers of its lines, are those written.
logic was_reset;
initial was_reset = 1'b0;
logic [31:0] mirror, mirror_next;    // the register with the most significant bit first
logic [15:0] rows_seen, arrivals_seen, routes_seen;
logic        in_order, was_whole;
logic        is_reversed;
always_comb begin
  mirror_next = mirror;
  for (int unsigned i = 0; i < 4; i++) begin
    mirror_next = {mirror_next[30:0], 1'b0} ^ (mirror_next[31] != word[32'(place)*4+i] ? 32'h04c11db7 : 32'd0);
  end
  is_reversed = 1'b1;
  for (int unsigned i = 0; i < 32; i++) if (mirror[i] != crc[31-i]) is_reversed = 1'b0;
end
wire is_whole = mirror_next == 32'hc704dd7b && in_order && 32'(rows_seen) == 32'(rows) && 32'(arrivals_seen) == 32'(arrivals)
    && 32'(routes_seen) == 32'(routes);
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst || drop || load) begin
    mirror <= '1;
    rows_seen <= '0;
    arrivals_seen <= '0;
    routes_seen <= '0;
    in_order <= 1'b1;
    was_whole <= 1'b0;
  end else if (is_loading) begin
    if (is_word) mirror <= mirror_next;
    rows_seen <= rows_seen + 16'(write_row);
    arrivals_seen <= arrivals_seen + 16'(write_arrival);
    routes_seen <= routes_seen + 16'(write_route);
    if (write_row && write_index != rows_seen || write_arrival && write_index != arrivals_seen
        || write_route && write_index != routes_seen) in_order <= 1'b0;
    if (is_word) was_whole <= write_crc && is_whole;
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (2'(write_row) + 2'(write_arrival) + 2'(write_route) + 2'(write_crc) <= 2'd1 && (is_word || !write_crc));
  // a table is not written beyond its end: the port refuses it
  assume (32'(rows_seen) < (2 << certree_ni_pkg::ROW_INDEX_BITS) - 1 || !write_row);
  assume (32'(arrivals_seen) < (2 << certree_ni_pkg::LINE_BITS) - 1 || !write_arrival);
  assume (32'(routes_seen) < (2 << certree_ni_pkg::ROUTE_DEPTH_BITS) - 1 || !write_route);
end
`endif
`CERTREE_PROPERTY(loader_computes_the_crc, is_reversed)
`CERTREE_PROPERTY(loader_counts_lines, 32'(rows_written) == 32'(rows_seen) && 32'(arrivals_written) == 32'(arrivals_seen) && 32'(routes_written) == 32'(routes_seen) && is_out_of_order == !in_order)
`CERTREE_PROPERTY(loader_takes_whole_images_only, is_loaded == was_whole)
`CERTREE_PROPERTY(loader_reports_wrong_images, is_wrong == (write_crc && is_loading && !is_whole))
