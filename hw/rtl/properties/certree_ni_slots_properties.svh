// E1, E2, B4: slot 0 opens `skew` cycles after the start and each further one `slot_cycles` later; nothing is open before. With the
// boundary slot 0 of the next tables opens, if they are ready, and in no other cycle.
logic was_reset;
initial was_reset = 1'b0;
logic                  has_started, has_opened;
logic [CYCLE_BITS-1:0] held_skew, age;  // `age`: cycles since the last opening, or since time 0
logic [SLOT_BITS-1:0]  opened;                       // slots that have opened, of these tables
wire  [CYCLE_BITS-1:0] held_cycles = slot_cycles;
wire                   is_due = has_started && age == (has_opened ? held_cycles : held_skew);
wire                   is_end = is_due && has_opened && opened == boundary;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst) begin
    has_started <= 1'b0;
    has_opened <= 1'b0;
    age <= '0;
    opened <= '0;
  end else if (start) begin
    has_started <= 1'b1;
    has_opened <= skew == 0;
    opened <= SLOT_BITS'(skew == 0);
    age <= 1;
    held_skew <= skew;
  end else if (has_started) begin
    age <= is_due ? CYCLE_BITS'(1) : age + 1'b1;
    has_opened <= has_opened | is_due;
    opened <= is_end && is_ready ? SLOT_BITS'(1) : opened + SLOT_BITS'(is_due);
  end
end
`ifdef FORMAL
logic [CYCLE_BITS-1:0] its_cycles;
logic                  was_end;
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (slot_cycles != 0);
  if (has_started) assume (!start && (slot_cycles == its_cycles || was_end));  // settings stay as they are while their bank is open
  its_cycles <= slot_cycles;
  was_end <= takes_over;
end
`endif
`CERTREE_PROPERTY(slots_run_with_the_start, is_running == has_started)
`CERTREE_PROPERTY(slots_nothing_is_open_before_the_skew, is_open == has_opened)
`CERTREE_PROPERTY(slots_count_down_to_the_opening, !has_started || (age != 0 && age <= (has_opened ? held_cycles : held_skew) && left_now != 0 && left_now - 1'b1 == (has_opened ? held_cycles : held_skew) - age))
`CERTREE_PROPERTY(slots_open_one_after_the_other, opened == slot + SLOT_BITS'(has_opened) && (has_opened || slot == 0))
`CERTREE_PROPERTY(slots_have_one_first_cycle, is_first == (has_opened && age == 1))
`CERTREE_PROPERTY(slots_end_with_the_boundary, start || (is_over == is_end && takes_over == (is_end && is_ready)))
