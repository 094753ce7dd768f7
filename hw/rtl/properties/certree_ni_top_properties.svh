// E6, E7 of the whole interface in lockstep, with all of its modules: a row fires in its own step and in no other; the counter stays while
// a unit works or a row of its step is left. And what the counter takes for granted in its own proof: no row is left of a step that is
// over, and the oldest row stays until it fires. The proof of the top alone has these, without the properties of the modules.
logic was_reset;
initial was_reset = 1'b0;
logic                 had_row, had_fired;
logic [SLOT_BITS-1:0] shown, its_slot, pushed;  // the counter in the cycle before, the oldest row then, the last row that was read
logic                 is_busy;
always_comb begin
  is_busy = is_adding || is_moving;
  for (int unsigned l = 0; l < TX; l++) begin
    if (32'(backlog[l*BACKLOG_BITS+:BACKLOG_BITS]) > certree_ni_pkg::NI_BUFFER_FLITS) is_busy = 1'b1;
  end
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  had_row <= has_row && !restart;
  had_fired <= fire != 0;
  its_slot <= row_slot;
  if (restart) begin
    shown <= '0;
    pushed <= '0;
  end else begin
    shown <= slot;
    if (push) pushed <= push_slot;
  end
end
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!arm || !is_open);  // one image: `is_ahead` stays away
  assume (!is_ahead);
  assume (!push || push_slot >= pushed);  // the image is in firing order (`slots_*.hex`)
  assume (!start || !is_open);  // the port starts once
end
`CERTREE_PROPERTY(top_fires_rows_in_their_step, late_rows == 0 && (fire == 0 || is_open))
`CERTREE_PROPERTY(top_counts_one_by_one_when_idle, clear || slot == shown || (slot == shown + 1'b1 && !is_busy))
`CERTREE_PROPERTY(top_leaves_no_row_of_a_step_that_is_over, !has_row || row_slot >= slot)
`CERTREE_PROPERTY(top_counts_no_further_than_rows_are_read, slot <= pushed)
`CERTREE_PROPERTY(top_keeps_the_oldest_row, !had_row || had_fired || (has_row && row_slot == its_slot))
`CERTREE_PROPERTY(top_keeps_rows_in_order, !has_row || row_slot <= pushed)
