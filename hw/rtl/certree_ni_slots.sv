// Slot counter and its down-counter (E1, E2): slot k opens `skew + k * slot_cycles` cycles after `start`.
module certree_ni_slots #(
    parameter int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS,
    parameter int unsigned CYCLE_BITS = certree_ni_pkg::CYCLE_BITS
) (
    input  logic                  clk,
    input  logic                  rst,
    input  logic                  start,        // the next cycle is time 0
    input  logic [CYCLE_BITS-1:0] skew,
    input  logic [CYCLE_BITS-1:0] slot_cycles,  // at least 1
    output logic                  is_open,      // slot 0 has opened
    output logic                  is_first,     // this is the first cycle of `slot`
    output logic [SLOT_BITS-1:0]  slot
);
  logic                  is_running;
  logic [CYCLE_BITS-1:0] left;  // the down-counter: cycles to the next opening

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
      left <= skew == 0 ? slot_cycles : skew;
    end else if (is_running) begin
      is_first <= left == 1;
      if (left == 1) begin
        left <= slot_cycles;
        is_open <= 1'b1;
        if (is_open) slot <= slot + 1'b1;
      end else begin
        left <= left - 1'b1;
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_slots_properties.svh"
`endif
endmodule
