// A7: the counter of a line (any one) shows as many arrivals as there were since it was set to zero; it neither skips nor exceeds the
// iterations unnoticed.
logic was_reset;
initial was_reset = 1'b0;
`ifdef FORMAL
(* anyconst *) logic [LINE_BITS-1:0] watched;
(* anyconst *) logic [COUNT_BITS-1:0] settled;
`else
localparam logic [LINE_BITS-1:0] watched = '0;
`endif
logic [COUNT_BITS-1:0] arrived, together;
logic [TOTAL_BITS-1:0] all, all_now;
logic                  is_told, was_loaded, was_exceeded;
always_comb begin
  together = '0;
  all_now = '0;
  is_told = 1'b1;
  for (int unsigned p = 0; p < PORTS; p++) begin
    if (arrive[p]) all_now = all_now + 1'b1;
    if (arrive[p] && arrive_line[p*LINE_BITS+:LINE_BITS] == watched) begin
      together = together + 1'b1;
      if (count[p*COUNT_BITS+:COUNT_BITS] != arrived + 1'b1) is_told = 1'b0;
    end
  end
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  all <= rst ? '0 : all + all_now;
  if (set_zero && zero_line == watched) arrived <= '0;
  else arrived <= arrived + together;
  was_loaded <= !rst && (was_loaded | (set_zero && zero_line == watched));
  was_exceeded <= !rst && (was_exceeded | is_exceeded);
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (repeats == settled && settled != '1 && 32'(watched) < certree_ni_pkg::ARRIVALS);
  assume (together <= 1);  // M1: a message of a line follows the one before
end
`endif
`CERTREE_PROPERTY(scoreboard_counts_each_arrival_once, !was_loaded || was_exceeded || counts[watched] == arrived)
`CERTREE_PROPERTY(scoreboard_tells_what_a_counter_reaches, !was_loaded || was_exceeded || (is_told && (look_line != watched || look_count == arrived)))
`CERTREE_PROPERTY(scoreboard_never_exceeds_unnoticed, !was_loaded || was_exceeded || arrived <= repeats)
`CERTREE_PROPERTY(scoreboard_counts_all, total == all)
