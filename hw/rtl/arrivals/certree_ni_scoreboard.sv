// Counters of arrivals, one for each line of the list (A7) and bank (B5): a memory for copies and one for sums.
//
// A copy is counted in memory when its header comes, one in a cycle, and shows when it is complete: until then the lane keeps what the
// counter reaches, and a reader of the counter takes off what is under way. So a message needs no port of its own. Messages of fewer
// flits than there are lanes take COUNT_PORTS of them.
module certree_ni_scoreboard #(
    parameter int unsigned LANES = certree_ni_pkg::WRITE_PORTS,
    parameter int unsigned PORTS = certree_ni_pkg::COUNT_PORTS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS,
    parameter int unsigned TOTAL_BITS = certree_ni_pkg::TOTAL_BITS
) (
    input  logic                        clk,
    input  logic                        rst,
    input  logic                        open_bank,    // whose arrivals come
    input  logic                        takes_over,       // the other bank opens with the next cycle
    input  logic [COUNT_BITS-1:0]       repeats,
    input  logic                        set_zero,     // while the list is loaded
    input  logic                        zero_bank,
    input  logic [LINE_BITS-1:0]        zero_line,
    input  logic [LANES-1:0]            begins,       // the header of a copy comes
    input  logic [LANES-1:0]            arrive,       // at the end of this cycle a copy counts
    input  logic [LANES*LINE_BITS-1:0]  line,         // of the message of each lane
    output logic [LANES*COUNT_BITS-1:0] count,        // what its counter will have reached
    input  logic                        sum_arrive,   // at the end of this cycle a sum counts
    input  logic [LINE_BITS-1:0]        sum_line,
    output logic [COUNT_BITS-1:0]       sum_count,
    input  logic                        look_bank,
    input  logic [LINE_BITS-1:0]        look_line,
    output logic [COUNT_BITS-1:0]       look_count,   // what this counter shows
    output logic [TOTAL_BITS-1:0]       total_next,   // of all lines, since the bank opened, after this cycle
    output logic                        is_exceeded   // one counts more often than there are iterations
);
  logic [LANES-1:0]            waits, wants, is_counted;  // not in memory yet; to be counted in this cycle; under way
  logic [LANES*COUNT_BITS-1:0] reached;
  logic [TOTAL_BITS-1:0]       total;

  // Ports of the memory of copies: each takes a lane, the lowest ones first.
  logic [LANES-1:0]            left;
  logic [LANES*PORTS-1:0]      taken;
  logic [PORTS-1:0]            is_taken;
  logic [PORTS*LINE_BITS-1:0]  port_line;
  logic [PORTS*COUNT_BITS-1:0] port_found, port_count;
  assign wants = waits | begins;
  always_comb begin
    left = wants;
    taken = '0;
    is_taken = '0;
    port_line = '0;
    for (int unsigned p = 0; p < PORTS; p++) begin
      for (int unsigned l = 0; l < LANES; l++) begin
        if (left[l] && !is_taken[p]) begin
          is_taken[p] = 1'b1;
          taken[p*LANES+l] = 1'b1;
          port_line[p*LINE_BITS+:LINE_BITS] = line[l*LINE_BITS+:LINE_BITS];
        end
      end
      left = left & ~taken[p*LANES+:LANES];
    end
  end
  always_comb begin
    for (int unsigned p = 0; p < PORTS; p++) begin
      port_count[p*COUNT_BITS+:COUNT_BITS] = port_found[p*COUNT_BITS+:COUNT_BITS] + 1'b1;
      for (int unsigned other = 0; other < p; other++) begin
        if (is_taken[other] && port_line[other*LINE_BITS+:LINE_BITS] == port_line[p*LINE_BITS+:LINE_BITS]) begin
          port_count[p*COUNT_BITS+:COUNT_BITS] = port_count[other*COUNT_BITS+:COUNT_BITS] + 1'b1;
        end
      end
    end
  end

  // The memories: one of each kind for a bank, since the other bank may be loaded while this one counts.
  logic [2*PORTS*COUNT_BITS-1:0] found;
  logic [2*COUNT_BITS-1:0]       sum_found, look_copies, look_sums;
  for (genvar b = 0; b < 2; b++) begin : g_banks
    logic [COUNT_BITS-1:0] copies[certree_ni_pkg::ARRIVALS];
    logic [COUNT_BITS-1:0] sums[certree_ni_pkg::ARRIVALS];
    wire is_zeroed = set_zero && zero_bank == b[0];
    for (genvar p = 0; p < PORTS; p++) begin : g_ports
      wire is_port_zeroed = is_zeroed && p == 0;
      assign found[(b*PORTS+p)*COUNT_BITS+:COUNT_BITS] = copies[port_line[p*LINE_BITS+:LINE_BITS]];
      always_ff @(posedge clk) begin
        if (is_port_zeroed || (is_taken[p] && open_bank == b[0])) begin
          copies[is_port_zeroed ? zero_line : port_line[p*LINE_BITS+:LINE_BITS]] <= is_port_zeroed ? '0 : port_count[p*COUNT_BITS+:COUNT_BITS];
        end
      end
    end
    assign sum_found[b*COUNT_BITS+:COUNT_BITS] = sums[sum_line];
    assign look_copies[b*COUNT_BITS+:COUNT_BITS] = copies[look_line];
    assign look_sums[b*COUNT_BITS+:COUNT_BITS] = sums[look_line];
    always_ff @(posedge clk) begin
      if (is_zeroed || (sum_arrive && open_bank == b[0])) sums[is_zeroed ? zero_line : sum_line] <= is_zeroed ? '0 : sum_count;
    end
  end
  assign port_found = found[open_bank*PORTS*COUNT_BITS+:PORTS*COUNT_BITS];
  assign sum_count = sum_found[open_bank*COUNT_BITS+:COUNT_BITS] + 1'b1;
  assign count = reached;

  // What is under way does not show yet. A line is one of copies or one of sums.
  logic [COUNT_BITS-1:0] under_way;
  always_comb begin
    under_way = '0;
    for (int unsigned l = 0; l < LANES; l++) begin
      if (is_counted[l] && look_bank == open_bank && line[l*LINE_BITS+:LINE_BITS] == look_line) under_way = under_way + 1'b1;
    end
    look_count = (look_copies[look_bank*COUNT_BITS+:COUNT_BITS] | look_sums[look_bank*COUNT_BITS+:COUNT_BITS]) - under_way;
  end

  always_comb begin
    total_next = total + TOTAL_BITS'(sum_arrive);
    is_exceeded = sum_arrive && sum_found[open_bank*COUNT_BITS+:COUNT_BITS] >= repeats;
    for (int unsigned l = 0; l < LANES; l++) total_next = total_next + TOTAL_BITS'(arrive[l]);
    for (int unsigned p = 0; p < PORTS; p++) begin
      if (is_taken[p] && port_count[p*COUNT_BITS+:COUNT_BITS] > repeats) is_exceeded = 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (rst || takes_over) begin
      waits <= '0;
      is_counted <= '0;
      total <= '0;
    end else begin
      waits <= left;
      is_counted <= (is_counted & ~arrive) | (wants & ~left);
      total <= total_next;
    end
    for (int unsigned p = 0; p < PORTS; p++) begin
      for (int unsigned l = 0; l < LANES; l++) begin
        if (taken[p*LANES+l]) reached[l*COUNT_BITS+:COUNT_BITS] <= port_count[p*COUNT_BITS+:COUNT_BITS];
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_scoreboard_properties.svh"
`endif
endmodule
