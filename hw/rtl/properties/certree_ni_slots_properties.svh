// E1, E2: slot 0 opens `skew` cycles after the start and each further one `slot_cycles` later; nothing is open before.
logic was_reset;
initial was_reset = 1'b0;
logic                  has_started, has_opened;
logic [CYCLE_BITS-1:0] held_skew, held_cycles, age;  // `age`: cycles since the last opening, or since time 0
logic [SLOT_BITS-1:0]  opened;                       // slots that have opened
wire                   opens = has_started && age == (has_opened ? held_cycles : held_skew);
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
    held_cycles <= slot_cycles;
  end else if (has_started) begin
    age <= opens ? CYCLE_BITS'(1) : age + 1'b1;
    has_opened <= has_opened | opens;
    opened <= opened + SLOT_BITS'(opens);
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (slot_cycles != 0);
  if (has_started) assume (!start && slot_cycles == held_cycles);  // settings stay as they are while it runs
end
`endif
`CERTREE_PROPERTY(slots_run_with_the_start, is_running == has_started)
`CERTREE_PROPERTY(slots_nothing_is_open_before_the_skew, is_open == has_opened)
`CERTREE_PROPERTY(slots_count_down_to_the_opening, !has_started || (age != 0 && age <= (has_opened ? held_cycles : held_skew) && left != 0 && left - 1'b1 == (has_opened ? held_cycles : held_skew) - age))
`CERTREE_PROPERTY(slots_open_one_after_the_other, opened == slot + SLOT_BITS'(has_opened) && (has_opened || slot == 0))
`CERTREE_PROPERTY(slots_have_one_first_cycle, is_first == (has_opened && age == 1))
