// E1, E2: slot 0 opens `skew` cycles after the start and each further one `slot_cycles` later; nothing is open before.
logic was_reset;
initial was_reset = 1'b0;
logic        has_started;
logic [31:0] held_skew, elapsed, opening;  // since time 0
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst) begin
    has_started <= 1'b0;
    elapsed <= '0;
    opening <= '0;
  end else if (start) begin
    has_started <= 1'b1;
    elapsed <= '0;
    opening <= skew;
    held_skew <= skew;
  end else if (has_started) begin
    elapsed <= elapsed + 1;
    if (is_open && left == 0) opening <= opening + slot_cycles;
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (slot_cycles == certree_ni_pkg::SLOT_CYCLES && skew < 32'h100_0000);
  assume (elapsed < 32'h100_0000);
  if (has_started) assume (!start);
end
`endif
`CERTREE_PROPERTY(slots_nothing_is_open_before_the_skew, is_open == (has_started && elapsed >= held_skew))
`CERTREE_PROPERTY(slots_run_with_the_start, is_running == has_started)
`CERTREE_PROPERTY(slots_open_where_they_should, !is_open || (opening <= elapsed && elapsed - opening < slot_cycles && left == opening + slot_cycles - 1 - elapsed))
`CERTREE_PROPERTY(slots_wait_for_the_skew, !has_started || is_open || (opening == held_skew && left == held_skew - 1 - elapsed))
`CERTREE_PROPERTY(slots_have_one_first_cycle, is_first == (is_open && elapsed == opening))
