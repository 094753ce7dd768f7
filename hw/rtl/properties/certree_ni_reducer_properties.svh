// M6: each chunk that comes is added and counts once; it waits or is worked on until then.
logic was_reset;
initial was_reset = 1'b0;
logic [15:0] came, done;
logic [15:0] coming;
always_comb begin
  coming = '0;
  for (int unsigned l = 0; l < LANES; l++) coming = coming + 16'(push[l]);
end
logic was_overrun;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  came <= rst ? '0 : came + coming;
  done <= rst ? '0 : done + 16'(is_done);
  was_overrun <= rst ? 1'b0 : was_overrun | is_overrun;
end
`ifdef FORMAL
always @(posedge clk) if (!was_reset) assume (rst);
`endif
`CERTREE_PROPERTY(reducer_counts_each_chunk_once, was_overrun || came - done == 16'(queued) + 16'(left != 0))
`CERTREE_PROPERTY(reducer_has_read_all_when_it_counts, !is_done || is_read || (32'(beat) == BEATS - 1 && read_valid))
`CERTREE_PROPERTY(reducer_reads_no_more_than_a_chunk, 32'(beat) <= BEATS && 32'(queued) <= QUEUE)
`CERTREE_PROPERTY(reducer_reports_overruns, !(|push) || 32'(queued) + 32'(coming) <= QUEUE || is_overrun)
