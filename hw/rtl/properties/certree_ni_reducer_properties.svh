// M6: each chunk that comes is added and counts once; it waits, at most two of a lane, or is worked on until then.
logic was_reset;
initial was_reset = 1'b0;
logic [15:0] came, done, held, kept;
logic        are_places, is_dense;
always_comb begin
  held = '0;
  kept = 16'(left != 0);
  are_places = 1'b1;
  is_dense = 1'b1;
  for (int unsigned l = 0; l < LANES; l++) begin
    held = held + 16'(has_one[l]) + 16'(has_two[l]);
    if (has_two[l] && !has_one[l]) are_places = 1'b0;
  end
  for (int unsigned bit_of = 0; bit_of < QUEUE * LANES; bit_of++) kept = kept + 16'(queue[bit_of]);
  for (int unsigned place = 0; place + 1 < QUEUE; place++) begin
    if (queue[(place+1)*LANES+:LANES] != 0 && queue[place*LANES+:LANES] == 0) is_dense = 1'b0;
  end
end
logic [15:0] coming;
always_comb begin
  coming = '0;
  for (int unsigned l = 0; l < LANES; l++) coming = coming + 16'(push[l]);
end
logic [15:0] later;  // ready after this cycle
logic [LANES-1:0] its_chunks_wrong;  // of a lane: what waits, is ready next, or is worked on, is not what its places say
logic [7:0] its_chunks;
always_comb begin
  later = '0;
  its_chunks_wrong = '0;
  its_chunks = '0;
  for (int unsigned l = 0; l < LANES; l++) begin
    its_chunks = 8'(left != 0 && 32'(its_lane) == l);
    for (int unsigned place = 0; place < QUEUE; place++) its_chunks = its_chunks + 8'(queue[place*LANES+l]);
    if (START == 1) begin
      its_chunks = its_chunks + 8'(ready[l]);
      later = later + 16'(ready[l]);
    end
    if (its_chunks != 8'(has_one[l]) + 8'(has_two[l])) its_chunks_wrong[l] = START < 2;
  end
end
logic was_overrun;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  came <= rst ? '0 : came + coming;
  done <= rst ? '0 : done + 16'(is_done);
  was_overrun <= !rst && (was_overrun | ((push & has_two) != 0));
end
`ifdef FORMAL
always @(posedge clk) if (!was_reset) assume (rst);
`endif
`CERTREE_PROPERTY(reducer_counts_each_chunk_once, was_overrun || (are_places && came - done == held))
`CERTREE_PROPERTY(reducer_keeps_each_chunk_once, was_overrun || (its_chunks_wrong == 0 && is_dense && (START > 1 || kept + later == held)))
`CERTREE_PROPERTY(reducer_has_read_all_when_it_counts, is_done == (left == 1 && !is_held && 32'(beat) + 32'(read_valid && read_ready) == BEATS))
`CERTREE_PROPERTY(reducer_reads_no_more_than_a_chunk, 32'(beat) <= BEATS && (left == 0 || 32'(its_lane) < LANES))
`CERTREE_PROPERTY(reducer_tells_what_is_left, was_overrun || (has_more != 0) == (held + coming != 16'(is_done)))
