// M5: each bundle that a row has a message for gives it one lane, of those that are free the one with the fewest flits left, the lowest
// of equals; a lane gets one row at most. Immediate assertions: the module has no clock.
int unsigned      front, w;          // places
logic [LANES-1:0] left_free, given;  // before, and by, a row
logic             are_whole;         // there is an order, and a row names all lanes of a bundle, or none
logic             has_one, has_free, can_serve, is_best, is_single, is_complete, is_same;
always_comb begin
  is_best = 1'b1;
  is_single = 1'b1;
  is_complete = 1'b1;
  are_whole = first != 0;  // before reset it is 0
  left_free = ~is_full;
  has_one = 1'b0;
  has_free = 1'b0;
  can_serve = 1'b1;
  is_same = 1'b0;
  given = '0;
  w = 0;
  front = 0;
  for (int unsigned place = 0; place < ROWS; place++) if (first[place]) front = place;
  for (int unsigned age = 0; age < ROWS; age++) begin
    w = (front + age) % ROWS;
    can_serve = 1'b1;
    given = chosen[w*LANES+:LANES];
    if ((has_lanes[w] && (given & ~left_free) != 0) || (given & ~goes_to[w*LANES+:LANES]) != 0) is_single = 1'b0;
    for (int unsigned l = 0; l < LANES; l++) begin
      has_one = 1'b0;
      has_free = 1'b0;
      for (int unsigned other = 0; other < LANES; other++) begin
        is_same = other == l || (peer[l*NODE_BITS+:NODE_BITS] == peer[other*NODE_BITS+:NODE_BITS]
            && (other < l ? l - other : other - l) < BUNDLE);
        if (is_same && goes_to[w*LANES+l] != goes_to[w*LANES+other]) are_whole = 1'b0;
        if (is_same && left_free[other]) has_free = 1'b1;
        if (is_same && given[other]) begin
          if (has_one) is_single = 1'b0;
          has_one = 1'b1;
        end
        if (is_same && given[l] && left_free[other]
            && (backlog[other*BACKLOG_BITS+:BACKLOG_BITS] < backlog[l*BACKLOG_BITS+:BACKLOG_BITS]
                || (backlog[other*BACKLOG_BITS+:BACKLOG_BITS] == backlog[l*BACKLOG_BITS+:BACKLOG_BITS] && other < l))) is_best = 1'b0;
      end
      if (goes_to[w*LANES+l] && has_lanes[w] && has_one != has_free) is_complete = 1'b0;
      if (goes_to[w*LANES+l] && !has_free) can_serve = 1'b0;
    end
    if (has_lanes[w] != can_serve) is_complete = 1'b0;
    left_free = left_free & ~given;
  end
end
`ifdef FORMAL
logic are_bundles;  // M1: lanes of one neighbour are one bundle
always_comb begin
  are_bundles = 1'b1;
  for (int unsigned a = 0; a < LANES; a++) begin
    for (int unsigned b = a + BUNDLE; b < LANES; b++) begin
      if (peer[a*NODE_BITS+:NODE_BITS] == peer[b*NODE_BITS+:NODE_BITS]) are_bundles = 1'b0;
    end
  end
  assume (are_whole && are_bundles && first != 0 && (first & (first - 1'b1)) == 0);
end
`endif
always_comb begin
  allocator_gives_a_lane_once: assert (is_single || !are_whole);
  allocator_serves_all_or_waits: assert (is_complete || !are_whole);
  allocator_takes_the_shortest_queue: assert (is_best || !are_whole);
end
