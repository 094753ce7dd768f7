// verilator lint_off UNSIGNED
// E2, A7: rows are handed over in table order, period after period, each once in each iteration and never in another; with the number
// of lines that have not counted yet. The sequencer never rests while rows are left and the window has room.
logic was_reset;
initial was_reset = 1'b0;
localparam int unsigned LINES = 1 << LINE_BITS;
logic                        has_started, has_failed;
logic [FIRED_BITS-1:0]       pushed, due;
logic [LINES*COUNT_BITS-1:0] reached;   // what each counter shows
logic [INDEX_BITS-1:0]       its_index;
logic [TURN_BITS-1:0]        its_turn;
logic [SLOT_BITS-1:0]        its_slot;  // first slot of the period
logic [WAIT_BITS:0]          age;       // cycles since the row is read, without those in which the window was full
logic [WAIT_BITS-1:0]        open_lines, open_after;  // lines that have not counted, before and after this cycle
logic                        is_open_line;
logic                        is_told;   // arrivals of this cycle are as the scoreboard says
logic                        is_alone;  // a row that waits for a copy waits for nothing else (A4)
wire                         passes = push || (state == DECODE && !parity_error && is_known && !is_enabled);
wire                         waits = state == LOOK && looked == lines && is_full;
always_comb begin
  open_lines = '0;
  open_after = '0;
  is_open_line = 1'b0;
  for (int unsigned i = 0; i < (1 << WAIT_BITS); i++) begin
    if (i < 32'(looked) && reached[(32'(first_line)+i)%LINES*COUNT_BITS+:COUNT_BITS] < need) open_lines = open_lines + 1'b1;
    is_open_line = i < 32'(looked) && reached[(32'(first_line)+i)%LINES*COUNT_BITS+:COUNT_BITS] < need;
    for (int unsigned p = 0; p < PORTS; p++) begin
      if (arrive[p] && 32'(arrive_line[p*LINE_BITS+:LINE_BITS]) == (32'(first_line) + i) % LINES
          && arrive_count[p*COUNT_BITS+:COUNT_BITS] >= need) is_open_line = 1'b0;
    end
    open_after = open_after + WAIT_BITS'(is_open_line);
  end
  is_alone = 1'b1;
  is_told = !is_looking || look_count == reached[32'(look_line)*COUNT_BITS+:COUNT_BITS];
  for (int unsigned p = 0; p < PORTS; p++) begin
    if (arrive[p] && (arrive_count[p*COUNT_BITS+:COUNT_BITS] != reached[32'(arrive_line[p*LINE_BITS+:LINE_BITS])*COUNT_BITS+:COUNT_BITS] + 1'b1
        || arrive_count[p*COUNT_BITS+:COUNT_BITS] == 0)) is_told = 1'b0;
    if (arrive[p] && p < PORTS - 1 && lines != 1 && 32'(LINE_BITS'(arrive_line[p*LINE_BITS+:LINE_BITS] - first_line)) < 32'(lines)
        && arrive_count[p*COUNT_BITS+:COUNT_BITS] == need) is_alone = 1'b0;
    for (int unsigned q = 0; q < p; q++) begin
      if (arrive[p] && arrive[q] && arrive_line[p*LINE_BITS+:LINE_BITS] == arrive_line[q*LINE_BITS+:LINE_BITS]) is_told = 1'b0;
    end
  end
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  for (int unsigned p = 0; p < PORTS; p++) begin
    if (arrive[p]) reached[32'(arrive_line[p*LINE_BITS+:LINE_BITS])*COUNT_BITS+:COUNT_BITS] <= arrive_count[p*COUNT_BITS+:COUNT_BITS];
  end
  if (rst) begin
    has_started <= 1'b0;
    has_failed <= 1'b0;
    pushed <= '0;
    due <= '0;
    reached <= '0;
    its_index <= '0;
    its_turn <= '0;
    its_slot <= '0;
    age <= '0;
  end else begin
    has_started <= has_started | start;
    if (start) due <= firings;
    has_failed <= has_failed | has_bad_parity | has_bad_op;
    pushed <= pushed + FIRED_BITS'(push);
    age <= state == IDLE || passes || has_bad_parity || has_bad_op ? '0 : age + (WAIT_BITS + 1)'(!waits);
    if (passes) begin
      its_index <= (INDEX_BITS + 1)'(its_index) == rows - 1'b1 ? '0 : its_index + 1'b1;
      if ((INDEX_BITS + 1)'(its_index) == rows - 1'b1) begin
        its_turn <= its_turn + 1'b1;
        its_slot <= its_slot + period;
      end
    end
  end
end
`ifdef FORMAL
(* anyconst *) logic [INDEX_BITS:0]   settled_rows;
(* anyconst *) logic [SLOT_BITS-1:0]  settled_period;
(* anyconst *) logic [COUNT_BITS-1:0] settled_repeats;
logic [ROW_BITS-1:0] held_row;
logic                is_held;
always @(posedge clk) begin
  is_held <= !rst && state != READ;
  held_row <= row;
  if (!was_reset) assume (rst);
  assume (rows == settled_rows && 32'(rows) <= (1 << INDEX_BITS));
  assume (period == settled_period && repeats == settled_repeats && 32'(repeats) <= (1 << ITERATION_BITS));
  assume (is_told || rst);
  assume (is_alone || state != LOOK);
  assume (!start || (!has_started && (firings != 0) == (rows != 0)));  // a node that only receives has no rows
  assume (32'(turn) < (1 << ITERATION_BITS) + (1 << STAGE_BITS));  // it stops before: each row has its iterations by then
  if (is_held) assume (row == held_row);  // the memory holds what was read
  assume (32'(first_line) + 32'(lines) <= LINES);
end
`endif
`ifndef FORMAL
`CERTREE_PROPERTY(fetch_is_told_what_counts, is_told || start || state == IDLE)
`CERTREE_PROPERTY(fetch_waits_for_sums_or_one_copy, is_alone || state != LOOK)
`endif
`CERTREE_PROPERTY(fetch_hands_each_row_over_once, has_started ? pushed <= due && pushed + left == due : state == IDLE && pushed == 0 && !has_failed)
`CERTREE_PROPERTY(fetch_keeps_table_order, index == its_index && turn == its_turn && turn_slot == its_slot && (has_started ? state == IDLE || 32'(index) < 32'(rows) : index == 0))
`CERTREE_PROPERTY(fetch_serves_one_iteration, !push || (32'(push_iteration) < 32'(repeats) && 32'(push_iteration) + 32'(stage) == 32'(turn) && push_slot == its_slot + SLOT_BITS'(row[certree_ni_pkg::SLOT_ROW_SLOT_LSB+:certree_ni_pkg::SLOT_BITS])))
`CERTREE_PROPERTY(fetch_knows_what_is_missing, state != LOOK || (looked <= lines && is_enabled && is_known && missing == open_lines))
`CERTREE_PROPERTY(fetch_never_rests, age == (state == IDLE || state == READ ? '0 : state == DECODE ? (WAIT_BITS + 1)'(1) : (WAIT_BITS + 1)'(2) + (WAIT_BITS + 1)'(looked)))
`CERTREE_PROPERTY(fetch_stops_at_the_end_or_at_an_error, !has_started || (state == IDLE) == (left == 0 || has_failed))
`CERTREE_PROPERTY(fetch_reports_bad_rows, (has_bad_parity || has_bad_op) == (state == DECODE && (parity_error || !(op == 2'd1 || op == 2'd2))))
`CERTREE_PROPERTY(fetch_tells_what_is_missing, !push || push_missing == open_after)
// verilator lint_on UNSIGNED
