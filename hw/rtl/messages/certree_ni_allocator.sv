// Gives each message of the rows that may fire a lane of its bundle (M5): the one with the fewest flits left to send, the lowest of
// equals. A lane takes one message in a cycle. Lanes of one bundle are next to each other.
module certree_ni_allocator #(
    parameter int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS,
    parameter int unsigned LANES = certree_ni_pkg::TX_LANES,
    parameter int unsigned BUNDLE = certree_ni_pkg::BUNDLE_LANES,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned BACKLOG_BITS = certree_ni_pkg::BACKLOG_BITS
) (
    input  logic [ROWS-1:0]               first,      // the place of the oldest row
    input  logic [ROWS*LANES-1:0]         goes_to,    // for each row, by place: the lanes whose bundle it has a message for
    // verilator lint_off UNUSEDSIGNAL
    input  logic [LANES*NODE_BITS-1:0]    peer,       // the neighbour at the end of each lane; nil: not connected
    input  logic [LANES*BACKLOG_BITS-1:0] backlog,    // both where bundles have several lanes
    // verilator lint_on UNUSEDSIGNAL
    input  logic [LANES-1:0]              is_full,
    output logic [ROWS-1:0]               has_lanes,  // whether a row gets all its lanes, if those before it fire
    output logic [ROWS*LANES-1:0]         chosen      // the lanes that it gets, if it fires
);
  if (BUNDLE == 1) begin : g_single
    // A row takes the lanes that it names. It has them where these are not full and no older row names one.
    logic is_older;
    assign chosen = goes_to;
    always_comb begin
      has_lanes = '1;
      is_older = 1'b0;
      for (int unsigned w = 0; w < ROWS; w++) begin
        if ((goes_to[w*LANES+:LANES] & is_full) != 0) has_lanes[w] = 1'b0;
        is_older = 1'b0;
        for (int unsigned d = 1; d < ROWS; d++) begin  // the row at place w + d, where the order begins at one from w + 1 on
          is_older = d == ROWS - 1 ? !first[w] : is_older || first[(w+d)%ROWS];
          if (is_older && (goes_to[w*LANES+:LANES] & goes_to[(w+d)%ROWS*LANES+:LANES]) != 0) has_lanes[w] = 1'b0;
        end
      end
    end
  end else begin : g_bundles
    // Whether lane a is of the bundle of lane b, and comes before it.
    logic [LANES*LANES-1:0] is_beside, is_before;
    always_comb begin
      is_beside = '0;
      is_before = '0;
      for (int unsigned b = 0; b < LANES; b++) begin
        is_beside[b*LANES+b] = 1'b1;
        for (int unsigned a = b < BUNDLE ? 0 : b - BUNDLE + 1; a < b; a++) begin
          if (peer[a*NODE_BITS+:NODE_BITS] == peer[b*NODE_BITS+:NODE_BITS]) begin
            is_beside[a*LANES+b] = 1'b1;
            is_beside[b*LANES+a] = 1'b1;
            is_before[a*LANES+b] = backlog[a*BACKLOG_BITS+:BACKLOG_BITS] <= backlog[b*BACKLOG_BITS+:BACKLOG_BITS];
            is_before[b*LANES+a] = !is_before[a*LANES+b];
          end
        end
      end
    end

    logic [LANES-1:0] is_free, wanted, given;  // lanes that older rows have left; those of one row
    logic             leads, is_served, is_whole;  // the next lane of its bundle; one of the bundle is free; all have one
    always_comb begin
      chosen = '0;
      has_lanes = '0;
      is_free = ~is_full;
      {wanted, given} = '0;
      {leads, is_served, is_whole} = '0;
      for (int unsigned age = 0; age < ROWS; age++) begin
        wanted = '0;
        for (int unsigned w = 0; w < ROWS; w++) if (first[w]) wanted = wanted | goes_to[(w+age)%ROWS*LANES+:LANES];
        given = '0;
        is_whole = 1'b1;
        for (int unsigned l = 0; l < LANES; l++) begin
          leads = is_free[l];
          is_served = 1'b0;
          for (int unsigned other = 0; other < LANES; other++) begin
            if (is_free[other] && is_before[other*LANES+l]) leads = 1'b0;
            if (is_free[other] && is_beside[other*LANES+l]) is_served = 1'b1;
          end
          given[l] = wanted[l] && leads;
          if (wanted[l] && !is_served) is_whole = 1'b0;
        end
        is_free = is_free & ~given;
        for (int unsigned w = 0; w < ROWS; w++) begin
          if (first[w]) begin
            chosen[(w+age)%ROWS*LANES+:LANES] = given;
            has_lanes[(w+age)%ROWS] = is_whole;
          end
        end
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_allocator_properties.svh"
`endif
endmodule
