// The reduction unit (M6): adds staged chunks to memory one by one, in the order in which they were complete, those of one cycle by
// lane. A chunk is ready REDUCE_START_CYCLES after it is complete and occupies the unit for REDUCE_CHUNK_CYCLES; then it counts.
module certree_ni_reducer #(
    parameter int unsigned LANES = certree_ni_pkg::WRITE_PORTS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned LANE_BITS = certree_ni_pkg::RX_LANE_BITS,
    parameter int unsigned CHUNK_BITS = certree_ni_pkg::STAGED_CHUNK_BITS,
    parameter int unsigned GRANULES = certree_ni_pkg::SUM_GRANULES,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS
) (
    input  logic                          clk,
    input  logic                          rst,
    // from the receivers
    input  logic [LANES-1:0]              push,
    input  logic [LANES*LINE_BITS-1:0]    push_line,
    input  logic [LANES*ADDR_BITS-1:0]    push_addr,
    input  logic [LANES*CHUNK_BITS-1:0]   push_place,
    // memory: both operands come in the cycle after a request that is taken; their sum is written in that cycle
    output logic                          read_valid,
    input  logic                          read_ready,
    output logic [ADDR_BITS-1:0]          read_addr,
    output logic [ADDR_BITS-1:0]          read_staged_addr,
    input  logic [GRANULES*DATA_BITS-1:0] read_data,
    input  logic [GRANULES*DATA_BITS-1:0] read_staged_data,
    output logic                          write_valid,
    input  logic                          write_ready,
    output logic [ADDR_BITS-1:0]          write_addr,
    output logic [GRANULES*DATA_BITS-1:0] write_data,
    output logic [GRANULES-1:0]           write_granules,  // those that belong to the chunk
    // scoreboard
    output logic                          is_done,         // a chunk counts at the end of this cycle
    output logic [LINE_BITS-1:0]          done_line,
    output logic                          is_adding,       // a chunk waits or is added in this cycle
    output logic [LANES-1:0]              is_full,         // all places of a lane are taken
    output logic [LANES-1:0]              has_more         // a chunk of the lane waits or is added after this cycle
);
  localparam int unsigned SIZE = certree_ni_pkg::CHUNK_GRANULES;
  localparam int unsigned BEATS = (SIZE + GRANULES - 1) / GRANULES;
  localparam int unsigned OFFSET_BITS = $clog2(BEATS * GRANULES + 1);
  localparam int unsigned BUSY_BITS = $clog2(certree_ni_pkg::REDUCE_CHUNK_CYCLES + 1);
  localparam int unsigned START = certree_ni_pkg::REDUCE_START_CYCLES;
  localparam int unsigned PLACE_BITS = certree_ni_pkg::STAGED_BITS;
  localparam int unsigned TARGET_BITS = LINE_BITS + ADDR_BITS;
  localparam int unsigned HELD_BITS = CHUNK_BITS + 1, CYCLE_BITS = CHUNK_BITS + LANE_BITS;

  // Lanes whose chunks are ready: what came START cycles ago.
  logic [LANES-1:0] ready;
  if (START == 0) begin : g_at_once
    assign ready = push;
  end else begin : g_later
    logic [START*LANES-1:0] coming;
    always_ff @(posedge clk) coming <= rst ? '0 : (START * LANES)'({coming, push});
    assign ready = coming[START*LANES-1-:LANES];
  end

  // The order: for each cycle that brought some, the lanes whose chunks have not begun. Those of the oldest cycle are in `rest`, those of
  // the others in a memory.
  logic [LANES-1:0]       later[1 << CYCLE_BITS];
  logic [CYCLE_BITS-1:0]  stored, taken;  // cycles so far
  logic [LANES-1:0]       rest, head, head_left, leaves;
  logic [LANES*HELD_BITS-1:0]  held;      // places of a lane that are taken
  logic [LANES-1:0]       has_one, has_others;  // at least one of them is, and more than one
  logic [LANES*CHUNK_BITS-1:0] turn;      // of the places of a lane, that which begins next
  logic [LANE_BITS-1:0]   lane;           // that begins next
  logic                   begins;
  wire                    is_stored = stored != taken;

  logic [LINE_BITS-1:0] line;
  logic [ADDR_BITS-1:0] addr;
  logic [LANE_BITS-1:0] its_lane;      // of the chunk in the unit, and its place
  logic [CHUNK_BITS-1:0] its_turn;
  logic [BUSY_BITS-1:0] left;          // cycles that the chunk still occupies the unit; 0: idle
  logic [OFFSET_BITS-1:0] offset;      // of the granule that is requested next
  logic                 sums;          // operands are here
  logic [ADDR_BITS-1:0] sum_addr;
  logic                 sum_is_last;   // the last ones

  wire is_held = sums && !write_ready;
  wire is_read = 32'(offset) == BEATS * GRANULES;
  wire is_last = 32'(offset) == (BEATS - 1) * GRANULES;
  assign read_valid = left != 0 && !is_read && !is_held;
  assign read_addr = addr;
  assign read_staged_addr = {1'b1, (ADDR_BITS - 1)'({its_lane, its_turn, PLACE_BITS'(offset)})};
  assign write_valid = sums;
  assign write_addr = sum_addr;
  assign is_done = left == 1 && (is_read || (is_last && read_valid && read_ready)) && !is_held;
  assign done_line = line;

  certree_ni_adder #(.BITS(GRANULES * DATA_BITS)) adder (.one(read_data), .other(read_staged_data), .sum(write_data));
  for (genvar granule = 0; granule < GRANULES; granule++) begin : g_granules
    assign write_granules[granule] = !sum_is_last || granule < SIZE - (BEATS - 1) * GRANULES;
  end

  always_comb begin
    head = rest != 0 ? rest : is_stored ? later[taken] : ready;
    begins = (left == 0 || is_done) && head != 0;
    lane = '0;
    head_left = head;
    for (int unsigned l = LANES; l > 0; l--) begin
      if (head[l-1]) lane = LANE_BITS'(l - 1);
    end
    if (begins) head_left[lane] = 1'b0;
    leaves = '0;
    if (is_done) leaves[its_lane] = 1'b1;
  end

  // What a chunk is for is kept with its place in the staging area.
  logic [LANES*TARGET_BITS-1:0] target;
  for (genvar l = 0; l < LANES; l++) begin : g_targets
    logic [TARGET_BITS-1:0] targets[1 << CHUNK_BITS];
    wire [TARGET_BITS-1:0] coming = {push_line[l*LINE_BITS+:LINE_BITS], push_addr[l*ADDR_BITS+:ADDR_BITS]};
    always_ff @(posedge clk) if (push[l]) targets[push_place[l*CHUNK_BITS+:CHUNK_BITS]] <= coming;
    wire is_new = START == 0 && push[l] && push_place[l*CHUNK_BITS+:CHUNK_BITS] == turn[l*CHUNK_BITS+:CHUNK_BITS];  // it comes in this very cycle
    assign target[l*TARGET_BITS+:TARGET_BITS] = is_new ? coming : targets[turn[l*CHUNK_BITS+:CHUNK_BITS]];
    assign has_one[l] = held[l*HELD_BITS+:HELD_BITS] != 0;
    assign has_others[l] = held[l*HELD_BITS+:HELD_BITS] > 1;
    assign is_full[l] = held[(l+1)*HELD_BITS-1];
  end
  assign is_adding = has_one != 0;
  assign has_more = push | has_others | (has_one & ~leaves);
  always_ff @(posedge clk) begin
    if (rst) begin
      rest <= '0;
      stored <= '0;
      taken <= '0;
      turn <= '0;
      held <= '0;
      left <= '0;
      sums <= 1'b0;
      offset <= '0;
    end else begin
      rest <= head_left;
      if (rest == 0 && is_stored) taken <= taken + 1'b1;
      if (ready != 0 && (rest != 0 || is_stored)) begin
        later[stored] <= ready;
        stored <= stored + 1'b1;
      end
      for (int unsigned l = 0; l < LANES; l++) begin
        held[l*HELD_BITS+:HELD_BITS] <= held[l*HELD_BITS+:HELD_BITS] + HELD_BITS'(push[l]) - HELD_BITS'(leaves[l]);
      end
      if (!is_held) begin
        sums <= read_valid && read_ready;
        sum_addr <= read_addr;
        sum_is_last <= is_last;
      end
      if (read_valid && read_ready) begin
        addr <= addr + ADDR_BITS'(GRANULES);
        offset <= offset + OFFSET_BITS'(GRANULES);
      end
      if (is_done) left <= '0;
      else if (left > 1) left <= left - 1'b1;
      if (begins) begin
        left <= BUSY_BITS'(certree_ni_pkg::REDUCE_CHUNK_CYCLES);
        offset <= '0;
        its_lane <= lane;
        its_turn <= turn[32'(lane)*CHUNK_BITS+:CHUNK_BITS];
        turn[32'(lane)*CHUNK_BITS+:CHUNK_BITS] <= turn[32'(lane)*CHUNK_BITS+:CHUNK_BITS] + 1'b1;
        {line, addr} <= target[32'(lane)*TARGET_BITS+:TARGET_BITS];
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_reducer_properties.svh"
`endif
endmodule
