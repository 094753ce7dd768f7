// Of the proof of the top: nothing counts before step 0.
logic was_reset;
initial was_reset = 1'b0;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (!was_reset) assume (rst);  // as of the top
end
`CERTREE_PROPERTY(top_counter_rests_before_its_first_step, is_open || (!is_first && last == 0))
