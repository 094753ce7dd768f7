// A counter for each line of the list of expected arrivals (A7), raised by up to PORTS arrivals in one cycle.
module certree_ni_scoreboard #(
    parameter int unsigned PORTS = certree_ni_pkg::RX_LANES + 1,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS
) (
    input  logic                        clk,
    input  logic                        rst,
    input  logic [31:0]                 repeats,
    input  logic [PORTS-1:0]            arrive,       // at the end of this cycle an arrival counts
    input  logic [PORTS*LINE_BITS-1:0]  arrive_line,
    output logic [PORTS*COUNT_BITS-1:0] count,        // what the counter of `arrive_line` will have reached
    input  logic [LINE_BITS-1:0]        look_line,
    output logic [COUNT_BITS-1:0]       look_count,   // what this counter has reached
    output logic [31:0]                 total,        // of all lines
    output logic                        is_exceeded   // one counts more often than there are iterations
);
  logic [COUNT_BITS-1:0] counts[certree_ni_pkg::ARRIVALS];
  logic [31:0] fresh;

  always_comb begin
    fresh = '0;
    is_exceeded = 1'b0;
    for (int unsigned p = 0; p < PORTS; p++) begin
      count[p*COUNT_BITS+:COUNT_BITS] = counts[arrive_line[p*LINE_BITS+:LINE_BITS]] + 1'b1;
      fresh = fresh + {31'b0, arrive[p]};
      if (arrive[p] && 32'(counts[arrive_line[p*LINE_BITS+:LINE_BITS]]) >= repeats) is_exceeded = 1'b1;
    end
  end

  assign look_count = counts[look_line];

  always_ff @(posedge clk) begin
    if (rst) begin
      total <= '0;
      for (int unsigned line = 0; line < certree_ni_pkg::ARRIVALS; line++) counts[line] <= '0;
    end else begin
      total <= total + fresh;
      for (int unsigned p = 0; p < PORTS; p++) begin
        if (arrive[p]) counts[arrive_line[p*LINE_BITS+:LINE_BITS]] <= count[p*COUNT_BITS+:COUNT_BITS];
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_scoreboard_properties.svh"
`endif
endmodule
