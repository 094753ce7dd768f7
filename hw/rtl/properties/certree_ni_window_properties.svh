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
logic [FILL_BITS-1:0]  place;
logic [SLOT_BITS-1:0]  its_slot;
logic [WAIT_BITS-1:0]  its_missing, fresh;
logic [ROW_BITS-1:0]   its_row;
logic [ITERATION_BITS-1:0] its_iteration;
wire                   fires = is_inside && place < fired;
always_comb begin
  fresh = '0;
  for (int unsigned p = 0; p < PORTS; p++) begin
    if (arrive[p] && arrive_count[p*COUNT_BITS+:COUNT_BITS] == COUNT_BITS'(its_iteration) + 1'b1
        && arrive_line[p*LINE_BITS+:LINE_BITS] >= its_row[certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS]
        && 32'(arrive_line[p*LINE_BITS+:LINE_BITS]) < 32'(its_row[certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS])
        + 32'(its_row[certree_ni_pkg::SLOT_ROW_WAIT_LINES_LSB+:WAIT_BITS])) fresh = fresh + 1'b1;
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
    gone <= gone + 16'(fired);
    if (push && pushed == watched) begin
      is_inside <= 1'b1;
      place <= filled - fired;
      its_slot <= push_slot;
      its_missing <= push_missing;
      its_row <= push_row;
      its_iteration <= push_iteration;
    end else if (is_inside) begin
      if (fires) is_inside <= 1'b0;
      place <= place - fired;
      its_missing <= its_missing - fresh;
    end
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!push || !is_full);
  assume (pushed < 16'h7000);
  if (push) assume (32'(push_row[certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS])  // lines that exist
      + 32'(push_row[certree_ni_pkg::SLOT_ROW_WAIT_LINES_LSB+:WAIT_BITS]) <= (1 << LINE_BITS));
  if (is_inside) assume (fresh <= its_missing);  // the scoreboard tells of each line once
end
`endif
`CERTREE_PROPERTY(window_holds_what_came_and_has_not_fired, 32'(filled) <= ROWS && gone <= pushed && pushed - gone == 16'(filled))
`CERTREE_PROPERTY(window_fires_each_row_once_in_order, is_inside == (pushed > watched && gone <= watched))
`CERTREE_PROPERTY(window_keeps_the_row, !is_inside || (16'(place) == watched - gone && place < filled && row[place*ROW_BITS+:ROW_BITS] == its_row && due[place*SLOT_BITS+:SLOT_BITS] == its_slot && missing[place*WAIT_BITS+:WAIT_BITS] == its_missing && iteration[place*ITERATION_BITS+:ITERATION_BITS] == its_iteration))
`CERTREE_PROPERTY(window_waits_for_lines_that_exist, !is_inside || 32'(its_row[certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS]) + 32'(its_row[certree_ni_pkg::SLOT_ROW_WAIT_LINES_LSB+:WAIT_BITS]) <= (1 << LINE_BITS))
`CERTREE_PROPERTY(window_fires_nothing_before_its_slot, !fires || (is_open && its_slot <= slot))
`CERTREE_PROPERTY(window_fires_only_what_has_all_arrivals, !fires || its_missing == 0)
`CERTREE_PROPERTY(window_does_not_wait_for_nothing, !(is_open && filled != 0 && due[SLOT_BITS-1:0] <= slot && missing[WAIT_BITS-1:0] == 0 && has_lanes[0]) || fired != 0)
