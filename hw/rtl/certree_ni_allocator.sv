// Gives each message of the rows that may fire a lane of its bundle (M5): the one with the fewest flits left to send, the lowest of
// equals. A lane takes one message in a cycle.
module certree_ni_allocator #(
    parameter int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS,
    parameter int unsigned LANES = certree_ni_pkg::TX_LANES,
    parameter int unsigned ROW_BITS = certree_ni_pkg::SLOT_ROW_BITS,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned BACKLOG_BITS = certree_ni_pkg::BACKLOG_BITS,
    parameter int unsigned CHILDREN = certree_ni_pkg::CHILDREN
) (
    input  logic [ROWS*ROW_BITS-1:0]      row,
    input  logic [ROWS*CHILDREN*LANES-1:0] goes_to,   // whether a lane goes to a destination of a row
    input  logic [ROWS-1:0]               may_fire,
    input  logic [LANES*NODE_BITS-1:0]    peer,       // the neighbour at the end of each lane; nil: not connected
    input  logic [LANES*BACKLOG_BITS-1:0] backlog,
    input  logic [LANES-1:0]              is_full,
    output logic [ROWS-1:0]               has_lanes,
    output logic [LANES*ROWS-1:0]         lane_row,   // which row sends to the lane, one bit for each
    output logic [LANES*LINE_BITS-1:0]    lane_line   // the line of the message in the list of its destination
);
  localparam logic [NODE_BITS-1:0] NIL = '1;

  // Whether lane a comes before lane b among those that go to one neighbour.
  logic [LANES*LANES-1:0] is_before;
  always_comb begin
    is_before = '0;
    for (int unsigned b = 0; b < LANES; b++) begin
      for (int unsigned a = 0; a < b; a++) begin
        if (peer[a*NODE_BITS+:NODE_BITS] == peer[b*NODE_BITS+:NODE_BITS]) begin
          is_before[a*LANES+b] = backlog[a*BACKLOG_BITS+:BACKLOG_BITS] <= backlog[b*BACKLOG_BITS+:BACKLOG_BITS];
          is_before[b*LANES+a] = !is_before[a*LANES+b];
        end
      end
    end
  end

  logic [LANES-1:0] is_free, chosen, leads;  // `leads`: the next one to its neighbour
  logic             has_child;
  always_comb begin
    lane_row = '0;
    lane_line = '0;
    has_lanes = '0;
    chosen = '0;
    has_child = 1'b0;
    leads = '0;
    is_free = ~is_full;
    for (int unsigned w = 0; w < ROWS; w++) begin
      has_lanes[w] = 1'b1;
      chosen = '0;
      for (int unsigned l = 0; l < LANES; l++) begin
        leads[l] = is_free[l];
        for (int unsigned other = 0; other < LANES; other++) begin
          if (is_free[other] && is_before[other*LANES+l]) leads[l] = 1'b0;
        end
      end
      for (int unsigned c = 0; c < CHILDREN; c++) begin
        has_child = row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_NEXT_LSB+c*NODE_BITS+:NODE_BITS] == NIL;
        for (int unsigned l = 0; l < LANES; l++) begin
          if (leads[l] && goes_to[(w*CHILDREN+c)*LANES+l]) begin
            chosen[l] = 1'b1;
            has_child = 1'b1;
            if (may_fire[w]) begin
              lane_row[l*ROWS+w] = 1'b1;
              lane_line[l*LINE_BITS+:LINE_BITS] = row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_LINE_LSB+c*LINE_BITS+:LINE_BITS];
            end
          end
        end
        has_lanes[w] = has_lanes[w] && has_child;
      end
      is_free = is_free & ~chosen;
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_allocator_properties.svh"
`endif
endmodule
