// The reduction unit (M6): adds staged chunks to memory one by one, in the order in which they were complete, those of one cycle by
// lane. A chunk is ready REDUCE_START_CYCLES after it is complete and occupies the unit for REDUCE_CHUNK_CYCLES; then it counts.
module certree_ni_reducer #(
    parameter int unsigned LANES = certree_ni_pkg::RX_LANES,
    parameter int unsigned QUEUE = 2 * certree_ni_pkg::RX_LANES,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned LANE_BITS = certree_ni_pkg::RX_LANE_BITS,
    parameter int unsigned GRANULES = certree_ni_pkg::SUM_GRANULES,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned START_BITS = certree_ni_pkg::REDUCE_START_BITS
) (
    input  logic                          clk,
    input  logic                          rst,
    input  logic [ADDR_BITS-1:0]          staging_base,
    // from the receivers
    input  logic [LANES-1:0]              push,
    input  logic [LANES*LINE_BITS-1:0]    push_line,
    input  logic [LANES*ADDR_BITS-1:0]    push_addr,
    input  logic [LANES-1:0]              push_place,
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
    output logic                          is_overrun       // more chunks than the staging area holds
);
  localparam int unsigned SIZE = certree_ni_pkg::CHUNK_GRANULES;
  localparam int unsigned BEATS = (SIZE + GRANULES - 1) / GRANULES;
  localparam int unsigned BEAT_BITS = $clog2(BEATS + 1);
  localparam int unsigned BUSY_BITS = $clog2(certree_ni_pkg::REDUCE_CHUNK_CYCLES + 1);
  localparam int unsigned JOB_BITS = START_BITS + LANE_BITS + 1;
  localparam int unsigned FILL_BITS = $clog2(QUEUE + 1);

  logic [QUEUE*JOB_BITS-1:0] queue, queue_next;
  logic [FILL_BITS-1:0]      queued, queued_next;
  logic [LINE_BITS-1:0]      line;
  logic [ADDR_BITS-1:0]      addr, staged_addr;
  logic [BUSY_BITS-1:0]      left;   // cycles that the chunk still occupies the unit; 0: idle
  logic [BEAT_BITS-1:0]      beat;   // requested next
  logic [ADDR_BITS-1:0]      offset;
  logic                      sums;   // operands are here
  logic [ADDR_BITS-1:0]      sum_addr;
  logic [BEAT_BITS-1:0]      sum_beat;

  wire is_held = sums && !write_ready;
  wire is_read = 32'(beat) == BEATS;
  assign read_valid = left != 0 && !is_read && !is_held;
  assign read_addr = addr + offset;
  assign read_staged_addr = staged_addr + offset;
  assign write_valid = sums;
  assign write_addr = sum_addr;
  assign is_done = left == 1 && (is_read || (32'(beat) == BEATS - 1 && read_valid && read_ready)) && !is_held;
  assign done_line = line;

  certree_ni_adder #(.BITS(GRANULES * DATA_BITS)) adder (.one(read_data), .other(read_staged_data), .sum(write_data));
  for (genvar granule = 0; granule < GRANULES; granule++) begin : g_granules
    assign write_granules[granule] = 32'(sum_beat) < (SIZE + GRANULES - 1 - granule) / GRANULES;
  end

  // The queue after this cycle: waits run down, then come the chunks that are complete.
  always_comb begin
    queue_next = queue;
    queued_next = queued;
    is_overrun = 1'b0;
    for (int unsigned place = 0; place < QUEUE; place++) begin
      if (queue_next[(place+1)*JOB_BITS-1-:START_BITS] != 0) begin
        queue_next[(place+1)*JOB_BITS-1-:START_BITS] = queue_next[(place+1)*JOB_BITS-1-:START_BITS] - 1'b1;
      end
    end
    for (int unsigned l = 0; l < LANES; l++) begin
      if (push[l] && 32'(queued_next) == QUEUE) begin
        is_overrun = 1'b1;
      end else if (push[l]) begin
        for (int unsigned place = 0; place < QUEUE; place++) begin
          if (32'(queued_next) == place) begin
            queue_next[place*JOB_BITS+:JOB_BITS] = {
              START_BITS'(certree_ni_pkg::REDUCE_START_CYCLES),
              LANE_BITS'(l),
              push_place[l]
            };
          end
        end
        queued_next = queued_next + 1'b1;
      end
    end
  end

  wire begins = (left == 0 || is_done) && queued_next != 0 && queue_next[JOB_BITS-1-:START_BITS] == 0;
  wire [LANE_BITS:0] next_place = queue_next[LANE_BITS:0];  // in the staging area: lane, and which of its two

  // What a chunk is for: its line and address, kept with its place in the staging area.
  logic [2*LANES*(LINE_BITS+ADDR_BITS)-1:0] targets, targets_next;
  always_comb begin
    targets_next = targets;
    for (int unsigned l = 0; l < LANES; l++) begin
      for (int unsigned p = 0; p < 2; p++) begin
        if (push[l] && push_place[l] == p[0]) begin
          targets_next[(2*l+p)*(LINE_BITS+ADDR_BITS)+:LINE_BITS+ADDR_BITS] =
              {push_line[l*LINE_BITS+:LINE_BITS], push_addr[l*ADDR_BITS+:ADDR_BITS]};
        end
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      queue <= '0;
      queued <= '0;
      targets <= '0;
      line <= '0;
      addr <= '0;
      staged_addr <= '0;
      left <= '0;
      beat <= '0;
      offset <= '0;
      sums <= 1'b0;
      sum_addr <= '0;
      sum_beat <= '0;
    end else begin
      targets <= targets_next;
      queue <= begins ? queue_next >> JOB_BITS : queue_next;
      queued <= begins ? queued_next - 1'b1 : queued_next;
      if (!is_held) begin
        sums <= read_valid && read_ready;
        sum_addr <= read_addr;
        sum_beat <= beat;
      end
      if (read_valid && read_ready) begin
        beat <= beat + 1'b1;
        offset <= offset + ADDR_BITS'(GRANULES);
      end
      if (is_done) left <= '0;
      else if (left > 1) left <= left - 1'b1;
      if (begins) begin
        left <= BUSY_BITS'(certree_ni_pkg::REDUCE_CHUNK_CYCLES);
        beat <= '0;
        offset <= '0;
        {line, addr} <= targets_next[32'(next_place)*(LINE_BITS+ADDR_BITS)+:LINE_BITS+ADDR_BITS];
        staged_addr <= staging_base + ADDR_BITS'(next_place) * ADDR_BITS'(SIZE);
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_reducer_properties.svh"
`endif
endmodule
