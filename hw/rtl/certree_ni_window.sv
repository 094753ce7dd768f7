// The next rows, in table order (E3). All that may fire do so in the first cycle of their slot; behind one that waits, all wait.
//
// Each keeps the number of lines that it waits for; an arrival that makes a line complete takes one off.
module certree_ni_window #(
    parameter int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS,
    parameter int unsigned PORTS = certree_ni_pkg::RX_LANES + 1,
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
    input  logic [WAIT_BITS-1:0]           push_missing,
    output logic                           is_full,
    input  logic [PORTS-1:0]               arrive,
    input  logic [PORTS*LINE_BITS-1:0]     arrive_line,
    input  logic [PORTS*COUNT_BITS-1:0]    arrive_count,
    input  logic [ROWS-1:0]                has_lanes,   // of the rows in front, if all before them fire
    output logic [ROWS-1:0]                may_fire,    // as far as slots and arrivals say
    output logic [ROWS-1:0]                fire,
    output logic [ROWS-1:0]                is_late,     // of those that fire
    output logic [ROWS*ROW_BITS-1:0]       row,
    output logic [ROWS*ITERATION_BITS-1:0] iteration
);
  localparam int unsigned FILL_BITS = $clog2(ROWS + 1);

  logic [FILL_BITS-1:0]      filled, fired;
  logic [ROWS*SLOT_BITS-1:0] due;
  logic [ROWS*WAIT_BITS-1:0] missing, missing_now;

  wire [FILL_BITS-1:0] left = filled - fired;
  assign is_full = 32'(filled) == ROWS;

  logic goes_on, goes_in;
  always_comb begin
    goes_on = is_open;
    goes_in = is_open;
    fired = '0;
    for (int unsigned w = 0; w < ROWS; w++) begin
      goes_on = goes_on && w < 32'(filled) && due[w*SLOT_BITS+:SLOT_BITS] <= slot && missing[w*WAIT_BITS+:WAIT_BITS] == 0;
      may_fire[w] = goes_on;
      goes_in = goes_in && goes_on && has_lanes[w];
      fire[w] = goes_in;
      is_late[w] = goes_in && !(is_first && due[w*SLOT_BITS+:SLOT_BITS] == slot);
      fired = fired + FILL_BITS'(goes_in);
    end
  end

  // What is missing after this cycle, at the places before rows move up.
  always_comb begin
    missing_now = missing;
    for (int unsigned w = 0; w < ROWS; w++) begin
      for (int unsigned p = 0; p < PORTS; p++) begin
        if (arrive[p]
            && arrive_count[p*COUNT_BITS+:COUNT_BITS] == COUNT_BITS'(iteration[w*ITERATION_BITS+:ITERATION_BITS]) + 1'b1
            && 32'(LINE_BITS'(arrive_line[p*LINE_BITS+:LINE_BITS] - row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS]))
            < 32'(row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_WAIT_LINES_LSB+:WAIT_BITS])) begin
          missing_now[w*WAIT_BITS+:WAIT_BITS] = missing_now[w*WAIT_BITS+:WAIT_BITS] - 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      filled <= '0;
      row <= '0;
      due <= '0;
      iteration <= '0;
      missing <= '0;
    end else begin
      filled <= left + FILL_BITS'(push);
      for (int unsigned w = 0; w < ROWS; w++) begin
        for (int unsigned from = w; from < ROWS; from++) begin
          if (32'(fired) == from - w) begin
            row[w*ROW_BITS+:ROW_BITS] <= row[from*ROW_BITS+:ROW_BITS];
            due[w*SLOT_BITS+:SLOT_BITS] <= due[from*SLOT_BITS+:SLOT_BITS];
            iteration[w*ITERATION_BITS+:ITERATION_BITS] <= iteration[from*ITERATION_BITS+:ITERATION_BITS];
            missing[w*WAIT_BITS+:WAIT_BITS] <= missing_now[from*WAIT_BITS+:WAIT_BITS];
          end
        end
        if (push && 32'(left) == w) begin
          row[w*ROW_BITS+:ROW_BITS] <= push_row;
          due[w*SLOT_BITS+:SLOT_BITS] <= push_slot;
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
endmodule
