// E1, E6 to E8 (TLA+: Advance, LoadedFor): step 0 begins `skew` cycles after the start; the counter advances by one at most, never in
// the cycle in which a row fires, before rows of its step have fired, before a NOP is over, or while a unit works; and it does not wait
// for anything else. B8: other tables take over when the node says that it is done, and wait for a start. That it says so in time is a
// property of the whole interface (`done_before_others_take_over`).
logic was_reset;
initial was_reset = 1'b0;
logic                  has_started, has_opened, in_nop, is_busy;
logic [CYCLE_BITS-1:0] held_skew, age;  // `age`: cycles since the start, and since the beginning of a NOP
logic [SLOT_BITS-1:0]  shown;           // the counter in the cycle before; 0 before step 0 begins
wire                   opens = has_started && !has_opened && age == held_skew;
wire                   is_now_open = has_opened || opens;
wire                   has_own = has_row && !is_ready;          // of the tables that are open
wire                   has_next = has_own && row_step > shown;  // no row of the step is left, and there is one of a later step
wire                   is_over = !in_nop || age >= step_cycles;
wire                   is_due = has_opened && has_next && is_over && !is_busy;
wire                   is_nop = is_now_open && has_own && row_step > step && (opens || step != shown);
always_comb begin
  is_busy = is_adding || is_moving;
  for (int unsigned l = 0; l < LANES; l++) if (32'(backlog[l*BACKLOG_BITS+:BACKLOG_BITS]) > BUFFER) is_busy = 1'b1;
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst || takes_over) begin
    has_started <= 1'b0;
    has_opened <= 1'b0;
    in_nop <= 1'b0;
    age <= '0;
    shown <= '0;
  end else if (start) begin
    has_started <= 1'b1;
    has_opened <= 1'b0;
    in_nop <= 1'b0;
    age <= '0;
    held_skew <= skew;
    shown <= '0;
  end else if (has_started) begin
    has_opened <= is_now_open;
    shown <= step;
    if (is_nop) begin
      in_nop <= 1'b1;
      age <= 1;
    end else if (is_now_open) begin
      if (step != shown) in_nop <= 1'b0;
      if (age < step_cycles) age <= age + 1'b1;
    end else begin
      age <= age + 1'b1;
    end
  end
end
`ifdef FORMAL
logic                  was_open, had_row, did_start;
logic [SLOT_BITS-1:0]  its_step, its_row;
logic [CYCLE_BITS-1:0] its_cycles;
always @(posedge clk) begin
  did_start <= (start || takes_over) && !rst;
  was_open <= is_open && !rst && !start;
  had_row <= has_own;
  its_row <= row_step;
  its_step <= step;
  its_cycles <= step_cycles;
  if (!was_reset) assume (rst);
  assume (step_cycles != 0);
  if (has_started) assume (!start && step_cycles == its_cycles);  // settings stay as they are
  if (has_started && has_own) assume (row_step >= shown);  // rows are in order, and none is left of a step that is over
  // a row is there until it fires, which is in its step and not before step 0 has begun; after it comes one of that step or a later one
  if (has_started && !did_start && had_row && !(was_open && its_row == its_step)) assume (has_own && row_step == its_row);
end
`else
`CERTREE_PROPERTY(lockstep_gets_rows_in_order, start || !has_started || !has_own || row_step >= shown)
`endif
`CERTREE_PROPERTY(lockstep_rests_before_the_start, (has_started || !(is_open || has_opened)) && (has_opened || !in_nop))
`CERTREE_PROPERTY(lockstep_begins_after_the_skew, start || (is_open == is_now_open && is_first == opens && (is_now_open || (left == (has_started ? held_skew - age : '0) && (left != 0) == has_started))))
`CERTREE_PROPERTY(lockstep_shows_a_step_from_the_first_cycle_on, last == shown && (is_now_open || shown == 0))
`CERTREE_PROPERTY(lockstep_counts_one_by_one, step == shown || step == shown + 1'b1)
`CERTREE_PROPERTY(lockstep_advances_when_it_may, start || (step != shown) == is_due)
`CERTREE_PROPERTY(lockstep_never_passes_a_row, !has_own || row_step < shown || step <= row_step)
`CERTREE_PROPERTY(lockstep_counts_a_nop_down, start || !is_now_open || left == (in_nop && age < step_cycles ? step_cycles - age : '0))
`CERTREE_PROPERTY(lockstep_takes_over_when_the_node_is_done, takes_over == (has_started && is_now_open && is_ready && is_done))
