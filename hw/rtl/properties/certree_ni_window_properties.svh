// E3, A3, A4 (TLA+: the guards of Fire): a row, any one of those that come, fires once, in order, not before its slot, and only when
// all lines that it waits for have counted.
logic was_reset;
initial was_reset = 1'b0;
`ifdef FORMAL
(* anyconst *) logic [15:0] watched;
`else
localparam logic [15:0] watched = 16'd3;
`endif
logic [15:0]           pushed, gone;     // rows so far
logic                  is_inside;        // the watched row is in the window
logic [15:0]           place;
logic [SLOT_BITS-1:0]  its_slot;
logic [LINE_BITS-1:0]  its_line;
logic [WAIT_BITS-1:0]  its_lines, its_missing, fresh;
logic [ROW_BITS-1:0]   its_row;
logic [ITERATION_BITS-1:0] its_iteration;
logic [15:0]           front, back, fired, age;
logic                  is_in_order, is_alone;  // `is_alone`: a row that waits for a copy waits for nothing else
wire  [15:0]           held = pushed - gone;
wire                   fires = is_inside && (fire & ROWS'(1) << place) != 0;
always_comb begin
  front = '0;
  back = '0;
  fired = '0;
  age = '0;
  is_in_order = first != 0 && (first & (first - 1'b1)) == 0 && next != 0 && (next & (next - 1'b1)) == 0 && 32'(held) <= ROWS;
  for (int unsigned w = 0; w < ROWS; w++) begin
    if (first[w]) front = 16'(w);
    if (next[w]) back = 16'(w);
    fired = fired + 16'(fire[w]);
  end
  for (int unsigned w = 0; w < ROWS; w++) begin
    age = 16'((w + ROWS - 32'(front)) % ROWS);
    if (is_used[w] != (age < held) || (fire[w] != (age < fired))) is_in_order = 1'b0;
  end
  if (32'(back) != (32'(front) + 32'(held)) % ROWS) is_in_order = 1'b0;
end
always_comb begin
  fresh = '0;
  is_alone = 1'b1;
  for (int unsigned p = 0; p < PORTS; p++) begin
    if (arrive[p] && arrive_count[p*COUNT_BITS+:COUNT_BITS] == COUNT_BITS'(its_iteration) + 1'b1
        && arrive_line[p*LINE_BITS+:LINE_BITS] >= its_line
        && 32'(arrive_line[p*LINE_BITS+:LINE_BITS]) < 32'(its_line) + 32'(its_lines)) begin
      if (fresh != 0 || (p < PORTS - 1 && its_lines != 1)) is_alone = 1'b0;
      fresh = fresh + 1'b1;
    end
  end
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst) begin
    pushed <= '0;
    gone <= '0;
    is_inside <= 1'b0;
  end else begin
    pushed <= pushed + 16'(push);
    gone <= gone + fired;
    if (push && pushed == watched) begin
      is_inside <= 1'b1;
      place <= back;
      its_slot <= push_slot;
      its_line <= push_line;
      its_lines <= push_lines;
      its_missing <= push_missing;
      its_row <= push_row;
      its_iteration <= push_iteration;
    end else if (is_inside) begin
      if (fires) is_inside <= 1'b0;
      its_missing <= its_missing - fresh;
    end
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!push || !is_full);
  assume (pushed < 16'h7000);
  if (push) assume (32'(push_line) + 32'(push_lines) <= (1 << LINE_BITS) && push_missing <= push_lines);  // lines that exist
  if (is_inside) assume (fresh <= its_missing && is_alone);  // the scoreboard tells of each line once
end
`else
`CERTREE_PROPERTY(window_waits_for_sums_or_one_copy, !is_inside || (fresh <= its_missing && is_alone))
`endif
`CERTREE_PROPERTY(window_holds_what_came_and_has_not_fired, gone <= pushed && is_in_order)
`CERTREE_PROPERTY(window_shows_the_oldest_row, has_row == (held != 0) && row_slot == due[front*SLOT_BITS+:SLOT_BITS])
`CERTREE_PROPERTY(window_fires_each_row_once_in_order, is_inside == (pushed > watched && gone <= watched))
`CERTREE_PROPERTY(window_keeps_the_row, !is_inside || (32'(place) == (32'(front) + 32'(watched) - 32'(gone)) % ROWS && row[place*ROW_BITS+:ROW_BITS] == its_row && due[place*SLOT_BITS+:SLOT_BITS] == its_slot && line[place*LINE_BITS+:LINE_BITS] == its_line && lines[place*WAIT_BITS+:WAIT_BITS] == its_lines && missing[place*WAIT_BITS+:WAIT_BITS] == its_missing && its_missing <= its_lines && iteration[place*ITERATION_BITS+:ITERATION_BITS] == its_iteration))
`CERTREE_PROPERTY(window_waits_for_lines_that_exist, !is_inside || 32'(its_line) + 32'(its_lines) <= (1 << LINE_BITS))
`CERTREE_PROPERTY(window_fires_nothing_before_its_slot, !fires || (is_open && its_slot <= slot))
`CERTREE_PROPERTY(window_fires_only_what_has_all_arrivals, !fires || its_missing == 0)
`CERTREE_PROPERTY(window_tells_what_is_late, !is_inside || ((is_late & ROWS'(1) << place) != 0) == (fires && !(is_first && its_slot == slot)))
`CERTREE_PROPERTY(window_does_not_wait_for_nothing, !(is_open && held != 0 && due[front*SLOT_BITS+:SLOT_BITS] <= slot && missing[front*WAIT_BITS+:WAIT_BITS] == 0 && (has_lanes & first) != 0) || fired != 0)
