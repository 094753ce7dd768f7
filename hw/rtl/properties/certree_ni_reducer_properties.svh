// M6, A13: each chunk that comes is added in order and counts once; it waits, at most two of a lane, or is worked on until then.
logic was_reset;
initial was_reset = 1'b0;
localparam int unsigned DEPTH = 2 << LANE_BITS;
logic [DEPTH-1:0] waits;  // places of the memory that are in use
always_comb for (int unsigned place = 0; place < DEPTH; place++) waits[place] = (LANE_BITS + 1)'(place - 32'(taken)) < (LANE_BITS + 1)'(stored - taken);
logic [15:0] came, done, held, kept;
logic        are_places, is_dense;  // each set that waits has a chunk
always_comb begin
  held = '0;
  kept = 16'(left != 0);
  are_places = 1'b1;
  is_dense = 1'b1;
  for (int unsigned l = 0; l < LANES; l++) begin
    held = held + 16'(has_one[l]) + 16'(has_two[l]);
    if (has_two[l] && !has_one[l]) are_places = 1'b0;
  end
  for (int unsigned place = 0; place < DEPTH; place++) begin
    if (waits[place] && later[place] == 0) is_dense = 1'b0;
    for (int unsigned l = 0; l < LANES; l++) kept = kept + 16'(waits[place] && later[place][l]);
  end
  for (int unsigned l = 0; l < LANES; l++) kept = kept + 16'(rest[l]);
  if (is_stored && rest == 0 && left == 0) is_dense = 1'b0;  // so that the memory is never full
end
logic [15:0] coming;
always_comb begin
  coming = '0;
  for (int unsigned l = 0; l < LANES; l++) coming = coming + 16'(push[l]);
end
logic [15:0] next_ready;  // ready after this cycle
logic [LANES-1:0] its_chunks_wrong;  // of a lane: what waits, is ready next, or is worked on, is not what its places say
logic [7:0] its_chunks;
always_comb begin
  next_ready = '0;
  its_chunks_wrong = '0;
  its_chunks = '0;
  for (int unsigned l = 0; l < LANES; l++) begin
    its_chunks = 8'(left != 0 && 32'(its_lane) == l);
    its_chunks = its_chunks + 8'(rest[l]);
    for (int unsigned place = 0; place < DEPTH; place++) its_chunks = its_chunks + 8'(waits[place] && later[place][l]);
    if (START == 1) begin
      its_chunks = its_chunks + 8'(ready[l]);
      next_ready = next_ready + 16'(ready[l]);
    end
    if (its_chunks != 8'(has_one[l]) + 8'(has_two[l])) its_chunks_wrong[l] = START < 2;
  end
end
logic is_beat;  // a whole number of beats has been asked for
always_comb begin
  is_beat = 1'b0;
  for (int unsigned beat = 0; beat <= BEATS; beat++) if (32'(offset) == beat * GRANULES) is_beat = 1'b1;
end
logic was_overrun;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  came <= rst ? '0 : came + coming;
  done <= rst ? '0 : done + 16'(is_done);
  was_overrun <= !rst && (was_overrun | ((push & has_two) != 0));
end
// The order: each chunk has the number of the cycle that brought it, among those that brought some.
localparam int unsigned STAMP_BITS = LANE_BITS + 3;  // twice the cycles that can have chunks that wait, and more
logic [STAMP_BITS-1:0] cycles, first_cycle, later_by;
logic [2*LANES*STAMP_BITS-1:0]  stamp;       // by lane, of its two places
logic [LANES-1:0] next_place, is_next, is_second, is_behind;  // where the next chunk of a lane goes; which of its places wait to begin
logic is_stamped, is_oldest;
wire [LANE_BITS:0] queued = stored - taken;
always_comb begin
  first_cycle = cycles - STAMP_BITS'(queued) - STAMP_BITS'(rest != 0) - STAMP_BITS'(START == 1 && ready != 0);
  is_stamped = 1'b1;
  is_oldest = 1'b1;
  for (int unsigned l = 0; l < LANES; l++) begin
    is_next[l] = has_one[l] && (has_two[l] || !(left != 0 && 32'(its_lane) == l));
    is_second[l] = has_two[l] && !(left != 0 && 32'(its_lane) == l);
    if (next_place[l] != (turn[l] ^ (is_next[l] && !is_second[l]))) is_stamped = 1'b0;
    is_behind[l] = rest[l];
    // Each set that waits is of one cycle, and cycles follow each other.
    if (rest[l] && stamp[(2*l+32'(turn[l]))*STAMP_BITS+:STAMP_BITS] != first_cycle) is_stamped = 1'b0;
    for (int unsigned behind = 0; behind < DEPTH; behind++) begin
      if (behind < 32'(queued) && later[(LANE_BITS + 1)'(32'(taken) + behind)][l]) begin
        if (stamp[(2*l+32'(turn[l]^is_behind[l]))*STAMP_BITS+:STAMP_BITS]
            != first_cycle + STAMP_BITS'(rest != 0) + STAMP_BITS'(behind)) is_stamped = 1'b0;
        is_behind[l] = 1'b1;
      end
    end
    if (START == 1 && ready[l] && stamp[(2*l+32'(!next_place[l]))*STAMP_BITS+:STAMP_BITS] != cycles - 1'b1) is_stamped = 1'b0;
    // What begins is of the oldest cycle, and of its chunks that of the lowest lane.
    later_by = stamp[(2*l+32'(turn[l]))*STAMP_BITS+:STAMP_BITS] - stamp[(2*32'(lane)+32'(turn[lane]))*STAMP_BITS+:STAMP_BITS];
    if (begins && is_next[l] && (later_by[STAMP_BITS-1] || (later_by == 0 && l < 32'(lane)))) is_oldest = 1'b0;
  end
end
always @(posedge clk) begin
  cycles <= rst ? '0 : cycles + STAMP_BITS'(push != 0);
  for (int unsigned l = 0; l < LANES; l++) begin
    if (rst) next_place[l] <= 1'b0;
    else if (push[l]) next_place[l] <= !next_place[l];
    if (push[l]) stamp[(2*l+32'(next_place[l]))*STAMP_BITS+:STAMP_BITS] <= cycles;
  end
end
`ifdef FORMAL
always @(posedge clk) if (!was_reset) assume (rst);
`endif
`CERTREE_PROPERTY(reducer_counts_each_chunk_once, was_overrun || (are_places && came - done == held))
`CERTREE_PROPERTY(reducer_keeps_each_chunk_once, was_overrun || (its_chunks_wrong == 0 && is_dense && (START > 1 || kept + next_ready == held)))
`CERTREE_PROPERTY(reducer_has_read_all_when_it_counts, is_done == (left == 1 && !is_held && 32'(offset) + (read_valid && read_ready ? GRANULES : 0) == BEATS * GRANULES))
`CERTREE_PROPERTY(reducer_reads_no_more_than_a_chunk, 32'(offset) <= BEATS * GRANULES && is_beat && (left == 0 || 32'(its_lane) < LANES))
`CERTREE_PROPERTY(reducer_tells_what_is_left, was_overrun || (has_more != 0) == (held + coming != 16'(is_done)))
`CERTREE_PROPERTY(reducer_knows_when_chunks_came, was_overrun || START > 1 || is_stamped)
`CERTREE_PROPERTY(reducer_adds_in_order, was_overrun || START > 1 || is_oldest)
