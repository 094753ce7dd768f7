// Of the proof of a take-over in lockstep, with any number of images one after the other: what is assumed of the network is that no
// message of the open tables comes beyond those that they expect (B6). The properties are those of `is_done`.
// What `is_done` compares is the number of arrivals of the open tables, counted here anew: copies that are complete, and sums.
logic [TOTAL_BITS-1:0] arrivals_seen, arrivals_seen_next;
always_comb begin
  arrivals_seen_next = arrivals_seen + TOTAL_BITS'(is_summed);
  for (int unsigned l = 0; l < WRITES; l++) if (is_complete[l] && !is_reduce[l]) arrivals_seen_next = arrivals_seen_next + TOTAL_BITS'(1);
end
always @(posedge clk) arrivals_seen <= restart || takes_over ? '0 : arrivals_seen_next;
logic was_reset;
initial was_reset = 1'b0;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (!was_reset) assume (rst);
  assume (arrivals_seen_next <= counts && !counts[TOTAL_BITS-1]);  // `TOTAL_BITS` leaves one for the sum
end
`CERTREE_PROPERTY(takeover_counts_arrivals_as_they_come, total_next == arrivals_seen_next)
`CERTREE_PROPERTY(takeover_is_from_tables, load_bank != open_bank || !(is_armed || is_ahead))
// And the number of rows of the open tables that have fired, counted here anew.
logic [LATE_BITS-1:0] rows_seen_now;
always_comb begin
  rows_seen_now = '0;
  for (int unsigned w = 0; w < ROWS; w++) if (fire[w]) rows_seen_now = rows_seen_now + LATE_BITS'(1);
end
logic [FIRED_BITS-1:0] rows_seen;
always @(posedge clk) rows_seen <= restart || takes_over ? '0 : rows_seen + FIRED_BITS'(rows_seen_now);
`CERTREE_PROPERTY(takeover_counts_rows_as_they_fire, rows_fired == rows_seen)
