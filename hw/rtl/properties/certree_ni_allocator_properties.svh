// M5: each destination of a row that fires gets one lane to its neighbour, of those that are free the one with the fewest flits left,
// the lowest of equals; a lane gets one row at most. Immediate assertions: the module has no clock.
logic [LANES-1:0]     left_free, given;  // before, and by, a row
logic [NODE_BITS-1:0] child;
logic                 are_told;  // which lanes go where
logic                 all_fire, is_served, has_free, can_serve, is_best, is_single, is_complete, are_distinct;
always_comb begin
  is_best = 1'b1;
  is_single = 1'b1;
  is_complete = 1'b1;
  are_distinct = 1'b1;
  are_told = 1'b1;
  all_fire = 1'b1;
  left_free = ~is_full;
  child = NIL;
  is_served = 1'b0;
  has_free = 1'b0;
  can_serve = 1'b1;
  given = '0;
  for (int unsigned w = 0; w < ROWS; w++) begin
    can_serve = 1'b1;
    for (int unsigned l = 0; l < LANES; l++) given[l] = lane_row[l*ROWS+w];
    if (all_fire && (given & ~left_free) != 0) is_single = 1'b0;
    for (int unsigned c = 0; c < CHILDREN; c++) begin
      child = row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_NEXT_LSB+c*NODE_BITS+:NODE_BITS];
      is_served = 1'b0;
      has_free = 1'b0;
      for (int unsigned d = 0; d < c; d++) begin
        if (child != NIL && row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_NEXT_LSB+d*NODE_BITS+:NODE_BITS] == child) are_distinct = 1'b0;
      end
      for (int unsigned l = 0; l < LANES; l++) begin
        if (goes_to[(w*CHILDREN+c)*LANES+l] != (child != NIL && peer[l*NODE_BITS+:NODE_BITS] == child)) are_told = 1'b0;
        if (left_free[l] && peer[l*NODE_BITS+:NODE_BITS] == child) has_free = 1'b1;
        if (given[l] && peer[l*NODE_BITS+:NODE_BITS] == child && all_fire && child != NIL) begin
          if (is_served) is_single = 1'b0;
          is_served = 1'b1;
          if (lane_line[l*LINE_BITS+:LINE_BITS] != row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_LINE_LSB+c*LINE_BITS+:LINE_BITS]) begin
            is_best = 1'b0;
          end
          for (int unsigned other = 0; other < LANES; other++) begin
            if (left_free[other] && peer[other*NODE_BITS+:NODE_BITS] == child
                && (backlog[other*BACKLOG_BITS+:BACKLOG_BITS] < backlog[l*BACKLOG_BITS+:BACKLOG_BITS]
                    || (backlog[other*BACKLOG_BITS+:BACKLOG_BITS] == backlog[l*BACKLOG_BITS+:BACKLOG_BITS] && other < l))) is_best = 1'b0;
          end
        end
      end
      if (child != NIL && !has_free) can_serve = 1'b0;
      if (all_fire && may_fire[w] && has_lanes[w] && child != NIL && !is_served) is_complete = 1'b0;
    end
    if (all_fire && has_lanes[w] != can_serve) is_complete = 1'b0;
    all_fire = all_fire && may_fire[w] && has_lanes[w];
    left_free = left_free & ~given;
  end
end
`ifdef FORMAL
always_comb assume (are_distinct && are_told);  // R3
`endif
always_comb begin
  allocator_gives_a_lane_once: assert (is_single || !are_distinct || !are_told);
  allocator_serves_all_or_waits: assert (is_complete || !are_distinct || !are_told);
  allocator_takes_the_shortest_queue: assert (is_best || !are_distinct || !are_told);
end
