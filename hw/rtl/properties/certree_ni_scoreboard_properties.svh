// A7, B5: the counter of a line (any one, in any bank) shows as many arrivals as there were since it was set to zero; a copy is counted
// in memory by the time it is complete; no counter exceeds the iterations unnoticed.
logic was_reset;
initial was_reset = 1'b0;
`ifdef FORMAL
(* anyconst *) logic [LINE_BITS-1:0] watched;
(* anyconst *) logic watched_bank, is_sum;
(* anyconst *) logic [COUNT_BITS-1:0] settled;
`else
localparam logic [LINE_BITS-1:0] watched = '0;
localparam logic watched_bank = 1'b0;
`endif
logic [COUNT_BITS-1:0] arrived, together, coming, stored;
logic [TOTAL_BITS-1:0] all, all_now;
logic                  is_told, is_in_time, was_loaded, was_exceeded;
wire                   is_zero = set_zero && zero_bank == watched_bank && zero_line == watched;
wire                   is_watched = open_bank == watched_bank;
assign stored = watched_bank ? g_banks[1].copies[watched] | g_banks[1].sums[watched] : g_banks[0].copies[watched] | g_banks[0].sums[watched];
always_comb begin
  together = '0;
  coming = '0;
  all_now = TOTAL_BITS'(sum_arrive);
  is_told = !(sum_arrive && is_watched && sum_line == watched) || sum_count == arrived + 1'b1;
  is_in_time = 1'b1;
  if (sum_arrive && is_watched && sum_line == watched) together = together + 1'b1;
  for (int unsigned l = 0; l < LANES; l++) begin
    if (arrive[l]) all_now = all_now + 1'b1;
    if (arrive[l] && !is_counted[l]) is_in_time = 1'b0;
    if (is_watched && is_counted[l] && line[l*LINE_BITS+:LINE_BITS] == watched) begin
      coming = coming + 1'b1;
      if (count[l*COUNT_BITS+:COUNT_BITS] != arrived + 1'b1) is_told = 1'b0;
    end
    if (is_watched && arrive[l] && line[l*LINE_BITS+:LINE_BITS] == watched) together = together + 1'b1;
  end
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  all <= rst || takes_over ? '0 : all + all_now;
  if (is_zero) arrived <= '0;
  else arrived <= arrived + together;
  was_loaded <= !rst && !(is_watched && takes_over) && (was_loaded | is_zero);
  was_exceeded <= !rst && (was_exceeded | is_exceeded);
end
// In lockstep messages of one line, of two iterations, may be under way on parallel lanes at once: which of them is told what is not looked at.
logic [7:0] under_way_lanes;
logic       overlaps;  // from when there are two until there is none
always_comb begin
  under_way_lanes = '0;
  for (int unsigned l = 0; l < LANES; l++) begin
    if ((waits[l] || is_counted[l] || begins[l]) && line[l*LINE_BITS+:LINE_BITS] == watched) under_way_lanes = under_way_lanes + 1'b1;
  end
end
always @(posedge clk) overlaps <= !rst && (under_way_lanes > 1 || (overlaps && under_way_lanes != 0));
wire may_overlap = certree_ni_pkg::IS_LOCKSTEP != 0 && (overlaps || under_way_lanes > 1);
`ifdef FORMAL
localparam int unsigned FLITS = certree_ni_pkg::MESSAGE_FLITS;
logic [LANES*16-1:0]        age;   // cycles since the header of the message of a lane; 0: none
logic [LANES*LINE_BITS-1:0] held;
logic [7:0]                 lanes_of_line;
logic                       is_kept, is_soon, its_open_bank;
always_comb begin
  lanes_of_line = '0;
  is_kept = 1'b1;
  is_soon = 1'b1;
  for (int unsigned l = 0; l < LANES; l++) begin
    if ((age[l*16+:16] != 0 || begins[l]) && line[l*LINE_BITS+:LINE_BITS] == watched) lanes_of_line = lanes_of_line + 1'b1;
    if ((waits[l] || is_counted[l]) != (age[l*16+:16] != 0) || (waits[l] && is_counted[l])) is_kept = 1'b0;
    if (waits[l] && 32'(age[l*16+:16]) >= LANES) is_soon = 1'b0;
  end
end
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  else assume (open_bank == its_open_bank || rst);
  its_open_bank <= open_bank ^ takes_over;
  assume (repeats == settled && settled != '1 && 32'(watched) < certree_ni_pkg::ARRIVALS);
  assume (!is_sum || lanes_of_line == 0);
  if (certree_ni_pkg::IS_LOCKSTEP == 0) assume (lanes_of_line <= 1);  // M1: a message of a line follows the one before
  assume (!(set_zero && zero_bank == open_bank) || (begins == 0 && waits == 0 && is_counted == 0 && !sum_arrive));
  assume (!(sum_arrive && sum_line == watched) || is_sum);
  for (int unsigned l = 0; l < LANES; l++) begin
    assume (!(begins[l] && line[l*LINE_BITS+:LINE_BITS] == watched) || !is_sum);
    assume (!begins[l] || age[l*16+:16] == 0);
    assume (!arrive[l] || 32'(age[l*16+:16]) >= FLITS - 1);  // M1: the last flit of the message
    if (age[l*16+:16] != 0) assume (line[l*LINE_BITS+:LINE_BITS] == held[l*LINE_BITS+:LINE_BITS]);
    held[l*LINE_BITS+:LINE_BITS] <= line[l*LINE_BITS+:LINE_BITS];
    if (rst || takes_over || arrive[l]) age[l*16+:16] <= '0;
    else if (begins[l]) age[l*16+:16] <= 16'd1;
    else if (age[l*16+:16] != 0 && age[l*16+:16] != '1) age[l*16+:16] <= age[l*16+:16] + 1'b1;
  end
end
wire [COUNT_BITS-1:0] other_kind = is_sum ? (watched_bank ? g_banks[1].copies[watched] : g_banks[0].copies[watched])
    : (watched_bank ? g_banks[1].sums[watched] : g_banks[0].sums[watched]);
`CERTREE_PROPERTY(scoreboard_keeps_copies_and_sums_apart, !was_loaded || other_kind == 0)
`CERTREE_PROPERTY(scoreboard_keeps_who_waits, is_kept)
`CERTREE_PROPERTY(scoreboard_counts_before_the_end, is_soon)
`endif
`CERTREE_PROPERTY(scoreboard_counts_each_arrival_once, !was_loaded || was_exceeded || stored == arrived + coming)
`CERTREE_PROPERTY(scoreboard_counts_copies_in_time, is_in_time)
`CERTREE_PROPERTY(scoreboard_tells_what_a_counter_reaches, !was_loaded || was_exceeded || ((may_overlap || is_told) && (look_line != watched || look_bank != watched_bank || look_count == arrived)))
`CERTREE_PROPERTY(scoreboard_never_exceeds_unnoticed, !was_loaded || was_exceeded || 32'(arrived) + 32'(coming) <= 32'(repeats))
`CERTREE_PROPERTY(scoreboard_counts_all, total == all && total_next == all + all_now)
