// A8, B5: the counter of a cell (any one, in any bank) shows as many arrivals as there were since its line was set; a row waits until
// these are as many as it needs; no cell gets more than it should unnoticed.
logic was_reset;
initial was_reset = 1'b0;
`ifdef FORMAL
(* anyconst *) logic [LINE_BITS-1:0] watched;
(* anyconst *) logic [TURN_BITS-1:0] watched_turn;
(* anyconst *) logic watched_bank;
(* anyconst *) logic [OF_LINE_BITS-1:0] of_watched;
(* anyconst *) logic [REPEAT_BITS-1:0] settled;
`else
localparam logic [LINE_BITS-1:0] watched = '0;
localparam logic [TURN_BITS-1:0] watched_turn = '0;
localparam logic watched_bank = 1'b0;
logic [OF_LINE_BITS-1:0] of_watched;
wire [REPEAT_BITS-1:0] settled = repeats;
`endif
logic [31:0]           arrived, together, most;
logic [COUNT_BITS-1:0] its_need;
logic [TOTAL_BITS-1:0] all, all_now;
logic                  was_set, was_exceeded, is_held;
wire                   sets = set_line && line_bank == watched_bank && line == watched;
wire [CELL_BITS-1:0]   its_cell = {watched, watched_turn};
assign most = 32'(of_watched) * ((32'(settled) + TURNS - 1 - 32'(watched_turn)) / TURNS);
assign its_need = COUNT_BITS'((32'(push_iteration) / TURNS) * 32'(of_watched) + 32'(push_wait));
always_comb begin
  together = 0;
  all_now = '0;
  is_held = 1'b1;
  for (int unsigned p = 0; p < PORTS; p++) begin
    if (arrive[p]) all_now = all_now + 1'b1;
    if (arrive[p] && open_bank == watched_bank && arrive_line[p*LINE_BITS+:LINE_BITS] == watched
        && 32'(arrive_iteration[p*ITERATION_BITS+:ITERATION_BITS]) % TURNS == 32'(watched_turn)) together = together + 1;
  end
  for (int unsigned w = 0; w < ROWS; w++) begin
    if (read_bank == watched_bank && cell_of_row[w*CELL_BITS+:CELL_BITS] == its_cell
        && has_data[w] != (arrived >= 32'(need[w*COUNT_BITS+:COUNT_BITS]))) is_held = 1'b0;
  end
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  all <= rst || takes_over ? '0 : all + all_now;
  arrived <= sets ? 0 : arrived + together;
  was_set <= !rst && (was_set || sets);
  was_exceeded <= !rst && !sets && (was_exceeded || is_exceeded);
`ifndef FORMAL
  if (sets) of_watched <= of_line;
`endif
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (repeats == settled && settled != 0 && 32'(watched_turn) < TURNS);
  assume (!sets || of_line == of_watched);
  assume (!(set_line && line_bank == open_bank) || arrive == 0);  // a list is loaded into the bank that is not open
  assume (64'(most) < (64'd1 << COUNT_BITS) - PORTS);
end
`CERTREE_PROPERTY(cells_know_their_lines, !was_set || its_arrivals[{watched_bank, watched}] == of_watched)
`endif
`CERTREE_PROPERTY(cells_count_each_arrival_once, !was_set || was_exceeded || 32'(count[{watched_bank, its_cell}]) == arrived)
`CERTREE_PROPERTY(cells_hold_rows_back, !was_set || was_exceeded || is_held)
`CERTREE_PROPERTY(cells_tell_what_a_row_needs, !was_set || read_bank != watched_bank || push_line != watched || (push_wait == 0 ? push_need == 0 : push_need == its_need && 32'(push_cell[TURN_BITS-1:0]) == 32'(push_iteration) % TURNS && push_cell[CELL_BITS-1:TURN_BITS] == watched))
`CERTREE_PROPERTY(cells_never_exceed_unnoticed, !was_set || was_exceeded || arrived <= most)
`CERTREE_PROPERTY(cells_count_all, total == all && total_next == all + all_now)
