// Timestep counter and lockstep down-counter (E6 to E8), in place of slots: step 0 begins `skew` cycles after `start`, and the counter
// advances, by one in a cycle at most, when all rows of its step have fired, the down-counter has run out and the units are idle.
// A step without rows at this node is a NOP, which takes no row of the table: the down-counter is loaded when its step begins.
// The next tables take over when the node has fired and counted all of its own (B8); then everything is as before `start`.
module certree_ni_lockstep #(
    parameter int unsigned LANES = certree_ni_pkg::TX_LANES,
    parameter int unsigned BUFFER = certree_ni_pkg::NI_BUFFER_FLITS,
    parameter int unsigned BACKLOG_BITS = certree_ni_pkg::BACKLOG_BITS,
    parameter int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS,
    parameter int unsigned CYCLE_BITS = certree_ni_pkg::CYCLE_BITS
) (
    input  logic                          clk,
    input  logic                          rst,
    input  logic                          start,        // the next cycle is time 0
    input  logic [CYCLE_BITS-1:0]         skew,
    input  logic [CYCLE_BITS-1:0]         step_cycles,  // of a step without rows, at least 1
    // the oldest row that has not fired: those before it have
    input  logic                          has_row,
    input  logic [SLOT_BITS-1:0]          row_step,
    // the units of the node at the beginning of this cycle
    input  logic [LANES*BACKLOG_BITS-1:0] backlog,      // flits that each lane has left to send
    input  logic                          is_adding,
    input  logic                          is_moving,
    // the next tables
    input  logic                          is_ready,     // they may open: rows are read of them, and `has_row` is about these
    input  logic                          is_done,      // all rows of the node have fired, and all its arrivals have counted
    output logic                          takes_over,   // they open
    output logic                          is_open,      // step 0 has begun
    output logic [SLOT_BITS-1:0]          step          // the timestep counter in this cycle
);
  logic                  is_first;  // this is the first cycle of step 0
  logic [SLOT_BITS-1:0]  last;      // the counter in the cycle before
  logic [CYCLE_BITS-1:0] left;      // the down-counter; before step 0 cycles until it begins, 0 before the start

  logic is_idle;
  always_comb begin
    is_idle = !is_adding && !is_moving;
    for (int unsigned l = 0; l < LANES; l++) if (32'(backlog[l*BACKLOG_BITS+:BACKLOG_BITS]) > BUFFER) is_idle = 1'b0;
  end

  assign takes_over = is_open && is_ready && is_done;
  wire is_issued = has_row && !is_ready && row_step > last;  // all rows of the step have fired, and there are more
  wire begins_empty = is_first && is_issued;    // step 0 is a NOP
  wire advances = is_open && is_issued && !begins_empty && left == 0 && is_idle;
  wire loads = begins_empty || (advances && row_step != step);
  assign step = last + SLOT_BITS'(advances);

  always_ff @(posedge clk) begin
    if (rst || takes_over) begin
      is_open <= 1'b0;
      is_first <= 1'b0;
      last <= '0;
      left <= '0;
    end else if (start) begin
      is_open <= skew == 0;
      is_first <= skew == 0;
      left <= skew;
    end else begin
      is_first <= !is_open && left == 1;
      if (!is_open && left == 1) is_open <= 1'b1;
      last <= step;
      if (loads) left <= step_cycles - 1'b1;
      else if (left != 0) left <= left - 1'b1;
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_lockstep_properties.svh"
`endif
`ifdef CERTREE_TOP
`include "certree_ni_property.svh"
`include "certree_ni_rest_properties.svh"
`endif
endmodule
