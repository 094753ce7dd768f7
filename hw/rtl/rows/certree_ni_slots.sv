// Slot counter and its down-counter (E1, E2): slot k opens `skew + k * slot_cycles` cycles after `start`. With slot `boundary` of the
// tables that are open slot 0 of the next ones opens, where these are ready (B4).
module certree_ni_slots #(
    parameter int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS,
    parameter int unsigned CYCLE_BITS = certree_ni_pkg::CYCLE_BITS
) (
    input  logic                  clk,
    input  logic                  rst,
    input  logic                  start,             // the next cycle is time 0
    input  logic [CYCLE_BITS-1:0] skew,
    input  logic [CYCLE_BITS-1:0] slot_cycles,       // of the tables that are open, at least 1
    input  logic [SLOT_BITS-1:0]  boundary,
    input  logic                  is_ready,          // the next tables may open
    output logic                  is_open,           // slot 0 has opened
    output logic                  is_first,          // this is the first cycle of `slot`
    output logic [SLOT_BITS-1:0]  slot,
    output logic                  is_over,           // slot `boundary` opens with the next cycle
    output logic                  takes_over         // and with it the next tables
);
  logic                  is_running;
  logic [CYCLE_BITS-1:0] left;  // the down-counter: cycles to the next opening, from the second cycle of a slot on

  wire [CYCLE_BITS-1:0] left_now = is_first ? slot_cycles : left;
  wire                  opens = is_running && left_now == 1;
  wire [SLOT_BITS-1:0]  next_slot = slot + SLOT_BITS'(is_open);
  assign is_over = opens && is_open && next_slot == boundary;
  assign takes_over = is_over && is_ready;

  always_ff @(posedge clk) begin
    if (rst) begin
      is_running <= 1'b0;
      is_open <= 1'b0;
      is_first <= 1'b0;
      slot <= '0;
      left <= '0;
    end else if (start) begin
      is_running <= 1'b1;
      is_open <= skew == 0;
      is_first <= skew == 0;
      slot <= '0;
      left <= skew;
    end else if (is_running) begin
      is_first <= opens;
      left <= left_now - 1'b1;
      if (opens) begin
        is_open <= 1'b1;
        slot <= takes_over ? '0 : next_slot;
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_slots_properties.svh"
`endif
endmodule
