// A7: the counter of a line (any one) shows as many arrivals as there were; it neither skips nor exceeds the iterations unnoticed.
logic was_reset;
initial was_reset = 1'b0;
`ifdef FORMAL
(* anyconst *) logic [LINE_BITS-1:0] watched;
`else
localparam logic [LINE_BITS-1:0] watched = '0;
`endif
logic [31:0] arrived, together;
logic        was_exceeded;
always_comb begin
  together = '0;
  for (int unsigned p = 0; p < PORTS; p++) begin
    if (arrive[p] && arrive_line[p*LINE_BITS+:LINE_BITS] == watched) together = together + 1;
  end
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  arrived <= rst ? '0 : arrived + together;
  was_exceeded <= rst ? 1'b0 : was_exceeded | is_exceeded;
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (repeats == certree_ni_pkg::REPEATS && 32'(watched) < certree_ni_pkg::ARRIVALS);
end
`endif
`CERTREE_PROPERTY(scoreboard_counts_each_arrival_once, was_exceeded || together > 1 || 32'(counts[watched]) == arrived)
`CERTREE_PROPERTY(scoreboard_never_exceeds_unnoticed, was_exceeded || arrived <= repeats)
`ifdef FORMAL
always @(posedge clk) assume (together <= 1);  // M1: a message of a line follows the one before
`endif
