// A counter for each line of the list of expected arrivals (A7), raised by up to PORTS arrivals in one cycle. The counters are a memory:
// each is set to zero when its line of the list is loaded.
module certree_ni_scoreboard #(
    parameter int unsigned PORTS = certree_ni_pkg::RX_LANES + 1,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS,
    parameter int unsigned TOTAL_BITS = certree_ni_pkg::TOTAL_BITS
) (
    input  logic                        clk,
    input  logic                        rst,
    input  logic [COUNT_BITS-1:0]       repeats,
    input  logic                        set_zero,     // while the list is loaded
    input  logic [LINE_BITS-1:0]        zero_line,
    input  logic [PORTS-1:0]            arrive,       // at the end of this cycle an arrival counts
    input  logic [PORTS*LINE_BITS-1:0]  arrive_line,
    output logic [PORTS*COUNT_BITS-1:0] count,        // what the counter of `arrive_line` will have reached
    input  logic [LINE_BITS-1:0]        look_line,
    output logic [COUNT_BITS-1:0]       look_count,   // what this counter has reached
    output logic [TOTAL_BITS-1:0]       total,        // of all lines, since reset
    output logic                        is_exceeded   // one counts more often than there are iterations
);
  logic [COUNT_BITS-1:0] counts[certree_ni_pkg::ARRIVALS];
  logic [TOTAL_BITS-1:0] fresh;

  always_comb begin
    fresh = '0;
    is_exceeded = 1'b0;
    for (int unsigned p = 0; p < PORTS; p++) begin
      count[p*COUNT_BITS+:COUNT_BITS] = counts[arrive_line[p*LINE_BITS+:LINE_BITS]] + 1'b1;
      fresh = fresh + TOTAL_BITS'(arrive[p]);
      if (arrive[p] && counts[arrive_line[p*LINE_BITS+:LINE_BITS]] >= repeats) is_exceeded = 1'b1;
    end
  end

  assign look_count = counts[look_line];

  always_ff @(posedge clk) begin
    total <= rst ? '0 : total + fresh;
    for (int unsigned p = 0; p < PORTS; p++) begin
      if (arrive[p]) counts[arrive_line[p*LINE_BITS+:LINE_BITS]] <= count[p*COUNT_BITS+:COUNT_BITS];
    end
    if (set_zero) counts[zero_line] <= '0;
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_scoreboard_properties.svh"
`endif
endmodule
