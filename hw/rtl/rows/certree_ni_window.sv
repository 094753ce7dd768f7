// The next rows (E3). All that may fire do so in the first cycle of their slot, in table order; behind one that waits, all wait.
//
// A row stays at its place until it fires; `first` says at which place the order begins. Each keeps the number of lines that it waits
// for: either sums of one flow, or one copy (A3, A4). An arrival that makes a line complete takes one off.
module certree_ni_window #(
    parameter int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS,
    parameter int unsigned PORTS = certree_ni_pkg::WRITE_PORTS + 1,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS,
    parameter int unsigned ROW_BITS = certree_ni_pkg::SLOT_ROW_BITS,
    parameter int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS,
    parameter int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS,
    parameter int unsigned WAIT_BITS = certree_ni_pkg::WAIT_LINES_BITS
) (
    input  logic                           clk,
    input  logic                           rst,
    input  logic                           is_open,
    input  logic                           is_first,
    input  logic [SLOT_BITS-1:0]           slot,
    input  logic                           push,
    input  logic [ROW_BITS-1:0]            push_row,
    input  logic [SLOT_BITS-1:0]           push_slot,
    input  logic [ITERATION_BITS-1:0]      push_iteration,
    input  logic [LINE_BITS-1:0]           push_line,       // the first line that the row waits for
    input  logic [WAIT_BITS-1:0]           push_lines,      // how many it waits for
    input  logic [WAIT_BITS-1:0]           push_missing,    // of these, after this cycle
    output logic                           is_full,
    input  logic [PORTS-1:0]               arrive,          // copies by lane, then the sum
    input  logic [PORTS*LINE_BITS-1:0]     arrive_line,
    input  logic [PORTS*COUNT_BITS-1:0]    arrive_count,
    output logic [ROWS-1:0]                first,           // the place of the oldest row, one bit for each place
    output logic                           has_row,         // there is one
    output logic [SLOT_BITS-1:0]           row_slot,        // in which it is due
    input  logic [ROWS-1:0]                has_lanes,       // whether a row has lanes, if all before it fire
    output logic [ROWS-1:0]                fire,            // by place, as all of these
    output logic [ROWS-1:0]                is_late,         // of those that fire
    output logic [ROWS*ROW_BITS-1:0]       row,
    output logic [ROWS*ITERATION_BITS-1:0] iteration
);
  logic [ROWS-1:0]           is_used, next;  // `next`: the place for the next row
  logic [ROWS*SLOT_BITS-1:0] due;
  logic [ROWS*LINE_BITS-1:0] line;
  logic [ROWS*WAIT_BITS-1:0] lines, missing;
  logic [ROWS-1:0]           is_ready, hit;

  assign is_full = &is_used;
  always_comb begin
    has_row = (first & is_used) != 0;
    row_slot = '0;
    for (int unsigned w = 0; w < ROWS; w++) if (first[w]) row_slot = row_slot | due[w*SLOT_BITS+:SLOT_BITS];
  end

  logic goes_on;
  always_comb begin
    for (int unsigned w = 0; w < ROWS; w++) begin
      is_ready[w] = is_used[w] && due[w*SLOT_BITS+:SLOT_BITS] <= slot && missing[w*WAIT_BITS+:WAIT_BITS] == 0;
    end
    goes_on = 1'b0;
    fire = '0;
    for (int unsigned i = 0; i < 2 * ROWS - 1; i++) begin  // from the first row on, around the end
      goes_on = first[i%ROWS] ? i < ROWS && is_open : goes_on;
      goes_on = goes_on && is_ready[i%ROWS] && has_lanes[i%ROWS];
      fire[i%ROWS] = fire[i%ROWS] || goes_on;
    end
    for (int unsigned w = 0; w < ROWS; w++) begin
      is_late[w] = fire[w] && !(is_first && due[w*SLOT_BITS+:SLOT_BITS] == slot);
    end
  end

  // Whether an arrival of this cycle is one that a row misses: one at most.
  logic [COUNT_BITS-1:0] need;
  always_comb begin
    hit = '0;
    need = '0;
    for (int unsigned w = 0; w < ROWS; w++) begin
      need = COUNT_BITS'(iteration[w*ITERATION_BITS+:ITERATION_BITS]) + 1'b1;
      for (int unsigned p = 0; p < PORTS - 1; p++) begin
        if (arrive[p] && arrive_count[p*COUNT_BITS+:COUNT_BITS] == need
            && arrive_line[p*LINE_BITS+:LINE_BITS] == line[w*LINE_BITS+:LINE_BITS]) hit[w] = 1'b1;
      end
      if (arrive[PORTS-1] && arrive_count[(PORTS-1)*COUNT_BITS+:COUNT_BITS] == need
          && 32'(LINE_BITS'(arrive_line[(PORTS-1)*LINE_BITS+:LINE_BITS] - line[w*LINE_BITS+:LINE_BITS]))
          < 32'(lines[w*WAIT_BITS+:WAIT_BITS])) hit[w] = 1'b1;
      if (missing[w*WAIT_BITS+:WAIT_BITS] == 0) hit[w] = 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      first <= ROWS'(1);
      next <= ROWS'(1);
      is_used <= '0;
      row <= '0;
      due <= '0;
      line <= '0;
      lines <= '0;
      iteration <= '0;
      missing <= '0;
    end else begin
      for (int unsigned w = 0; w < ROWS; w++) begin
        if (fire != 0 && fire != '1) first[w] <= fire[(w+ROWS-1)%ROWS] && !fire[w];
        if (push) next[w] <= next[(w+ROWS-1)%ROWS];
        if (fire[w]) is_used[w] <= 1'b0;
        if (hit[w]) missing[w*WAIT_BITS+:WAIT_BITS] <= missing[w*WAIT_BITS+:WAIT_BITS] - 1'b1;
        if (push && next[w]) begin
          is_used[w] <= 1'b1;
          row[w*ROW_BITS+:ROW_BITS] <= push_row;
          due[w*SLOT_BITS+:SLOT_BITS] <= push_slot;
          line[w*LINE_BITS+:LINE_BITS] <= push_line;
          lines[w*WAIT_BITS+:WAIT_BITS] <= push_lines;
          iteration[w*ITERATION_BITS+:ITERATION_BITS] <= push_iteration;
          missing[w*WAIT_BITS+:WAIT_BITS] <= push_missing;
        end
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_window_properties.svh"
`endif
`ifdef CERTREE_TOP
`include "certree_ni_property.svh"
`include "certree_ni_order_properties.svh"
`endif
endmodule
