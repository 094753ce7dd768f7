// M6, A13: each chunk that comes is added in order and counts once; it waits, at its place of a lane, or is worked on until then.
logic was_reset;
initial was_reset = 1'b0;
localparam int unsigned PLACES = 1 << CHUNK_BITS, DEPTH = 1 << CYCLE_BITS;
logic [DEPTH-1:0] waits;  // places of the memory that are in use
always_comb for (int unsigned place = 0; place < DEPTH; place++) waits[place] = CYCLE_BITS'(place - 32'(taken)) < CYCLE_BITS'(stored - taken);
logic [15:0] came, done, all_held, kept;
logic        are_places, is_dense;  // each set that waits has a chunk
always_comb begin
  all_held = '0;
  kept = 16'(left != 0);
  are_places = 1'b1;
  is_dense = 1'b1;
  for (int unsigned l = 0; l < LANES; l++) begin
    all_held = all_held + 16'(held[l*HELD_BITS+:HELD_BITS]);
    if (32'(held[l*HELD_BITS+:HELD_BITS]) > PLACES) are_places = 1'b0;
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
    if (its_chunks != 8'(held[l*HELD_BITS+:HELD_BITS])) its_chunks_wrong[l] = START < 2;
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
  was_overrun <= !rst && (was_overrun | ((push & is_full) != 0));
end
// The order: each chunk has the number of the cycle that brought it, among those that brought some.
localparam int unsigned STAMP_BITS = CYCLE_BITS + 2;  // twice the cycles that can have chunks that wait, and more
logic [STAMP_BITS-1:0] cycles, first_cycle, later_by;
logic [LANES*PLACES*STAMP_BITS-1:0] stamp;    // by lane, of its places
logic [LANES*CHUNK_BITS-1:0]        next_place;  // where the next chunk of a lane goes
logic [LANES-1:0]                   is_next;     // chunks of a lane wait to begin
logic [CHUNK_BITS-1:0]              its_place;   // of a chunk of a lane
logic is_stamped, is_oldest;
wire [CYCLE_BITS-1:0] queued = stored - taken;
always_comb begin
  first_cycle = cycles - STAMP_BITS'(queued) - STAMP_BITS'(rest != 0) - STAMP_BITS'(START == 1 && ready != 0);
  is_stamped = 1'b1;
  is_oldest = 1'b1;
  for (int unsigned l = 0; l < LANES; l++) begin
    is_next[l] = 32'(held[l*HELD_BITS+:HELD_BITS]) > (left != 0 && 32'(its_lane) == l ? 1 : 0);
    its_place = CHUNK_BITS'(held[l*HELD_BITS+:HELD_BITS] - HELD_BITS'(left != 0 && 32'(its_lane) == l));
    its_place = its_place + turn[l*CHUNK_BITS+:CHUNK_BITS];
    if (next_place[l*CHUNK_BITS+:CHUNK_BITS] != its_place) is_stamped = 1'b0;
    its_place = turn[l*CHUNK_BITS+:CHUNK_BITS];
    // Each set that waits is of one cycle, and cycles follow each other.
    if (rest[l] && stamp[(PLACES*l+32'(its_place))*STAMP_BITS+:STAMP_BITS] != first_cycle) is_stamped = 1'b0;
    its_place = its_place + CHUNK_BITS'(rest[l]);
    for (int unsigned behind = 0; behind < DEPTH; behind++) begin
      if (behind < 32'(queued) && later[CYCLE_BITS'(32'(taken) + behind)][l]) begin
        if (stamp[(PLACES*l+32'(its_place))*STAMP_BITS+:STAMP_BITS]
            != first_cycle + STAMP_BITS'(rest != 0) + STAMP_BITS'(behind)) is_stamped = 1'b0;
        its_place = its_place + 1'b1;
      end
    end
    its_place = next_place[l*CHUNK_BITS+:CHUNK_BITS] - 1'b1;
    if (START == 1 && ready[l] && stamp[(PLACES*l+32'(its_place))*STAMP_BITS+:STAMP_BITS] != cycles - 1'b1) is_stamped = 1'b0;
    // What begins is of the oldest cycle, and of its chunks that of the lowest lane.
    later_by = stamp[(PLACES*l+32'(turn[l*CHUNK_BITS+:CHUNK_BITS]))*STAMP_BITS+:STAMP_BITS]
        - stamp[(PLACES*32'(lane)+32'(turn[32'(lane)*CHUNK_BITS+:CHUNK_BITS]))*STAMP_BITS+:STAMP_BITS];
    if (begins && is_next[l] && (later_by[STAMP_BITS-1] || (later_by == 0 && l < 32'(lane)))) is_oldest = 1'b0;
  end
end
always @(posedge clk) begin
  cycles <= rst ? '0 : cycles + STAMP_BITS'(push != 0);
  for (int unsigned l = 0; l < LANES; l++) begin
    if (rst) next_place[l*CHUNK_BITS+:CHUNK_BITS] <= '0;
    else if (push[l]) next_place[l*CHUNK_BITS+:CHUNK_BITS] <= next_place[l*CHUNK_BITS+:CHUNK_BITS] + 1'b1;
    if (push[l]) stamp[(PLACES*l+32'(next_place[l*CHUNK_BITS+:CHUNK_BITS]))*STAMP_BITS+:STAMP_BITS] <= cycles;
  end
end
`ifdef FORMAL
always @(posedge clk) if (!was_reset) assume (rst);
`endif
`CERTREE_PROPERTY(reducer_counts_each_chunk_once, was_overrun || (are_places && came - done == all_held))
`CERTREE_PROPERTY(reducer_keeps_each_chunk_once, was_overrun || (its_chunks_wrong == 0 && is_dense && (START > 1 || kept + next_ready == all_held)))
`CERTREE_PROPERTY(reducer_has_read_all_when_it_counts, is_done == (left == 1 && !is_held && 32'(offset) + (read_valid && read_ready ? GRANULES : 0) == BEATS * GRANULES))
`CERTREE_PROPERTY(reducer_reads_no_more_than_a_chunk, 32'(offset) <= BEATS * GRANULES && is_beat && (left == 0 || 32'(its_lane) < LANES))
`CERTREE_PROPERTY(reducer_tells_what_is_left, was_overrun || (has_more != 0) == (all_held + coming != 16'(is_done)))
`CERTREE_PROPERTY(reducer_tells_whether_it_works, was_overrun || is_adding == (came != done))
`CERTREE_PROPERTY(reducer_knows_when_chunks_came, was_overrun || START > 1 || is_stamped)
`CERTREE_PROPERTY(reducer_adds_in_order, was_overrun || START > 1 || is_oldest)
