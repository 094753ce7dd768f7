// Of the proof of a take-over in lockstep, with any number of images one after the other: what is assumed of the network is that no
// message of the open tables comes beyond those that they expect (B6). The properties are those of `is_done`.
logic was_reset;
initial was_reset = 1'b0;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (!was_reset) assume (rst);
  assume (total_next <= counts && !counts[TOTAL_BITS-1]);  // `TOTAL_BITS` leaves one for the sum
end
`CERTREE_PROPERTY(takeover_is_from_tables, load_bank != open_bank || !(is_armed || is_ahead))
