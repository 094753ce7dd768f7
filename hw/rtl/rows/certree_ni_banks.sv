// Which of the two banks is open, the numbers of the image in each, and when the other one may open (B3 to B5).
//
// The first image is loaded into bank 0, and each further one, whose epoch is the next, into the bank that is not open. Once it is
// armed and all rows of the open bank have fired, its first rows are read (`is_ahead`), so that they fire when it takes over.
module certree_ni_banks #(
    parameter int unsigned CYCLE_BITS = certree_ni_pkg::CYCLE_BITS,
    parameter int unsigned FIRED_BITS = certree_ni_pkg::FIRED_BITS,
    parameter int unsigned TOTAL_BITS = certree_ni_pkg::TOTAL_BITS,
    parameter int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS
) (
    input  logic                  clk,
    input  logic                  rst,
    input  logic                  arm,
    input  logic                  write_header,
    input  logic [3:0]            header_word,  // the order of B7
    // verilator lint_off UNUSEDSIGNAL
    input  logic [31:0]           word,
    // verilator lint_on UNUSEDSIGNAL
    input  logic                  is_loading,
    input  logic                  is_loaded,    // the image is whole
    input  logic                  is_finished,  // all rows of the open bank have fired
    input  logic                  is_over,      // its boundary comes with the next cycle
    input  logic                  takes_over,   // and the other bank opens
    output logic                  open_bank,
    output logic                  load_bank,    // which is written to
    output logic                  is_armed,     // the image in it may open: it cannot be written to
    output logic                  is_ahead,     // its rows are read
    output logic                  goes_ahead,   // rows are read of the other bank from the next cycle on
    output logic                  begins,       // reading begins
    output logic                  is_refused,   // an image that may not open is armed
    output logic                  is_missed,    // an armed image has not opened with the boundary
    // numbers of the open bank
    output logic [15:0]           epoch,
    output logic [certree_ni_pkg::LINE_BITS:0] arrivals,
    output logic [FIRED_BITS-1:0] firings,
    output logic [TOTAL_BITS-1:0] counts,
    output logic [CYCLE_BITS-1:0] slot_cycles,
    output logic [COUNT_BITS-1:0] repeats,
    output logic [SLOT_BITS-1:0]  boundary,
    // of the other
    output logic [certree_ni_pkg::ROW_INDEX_BITS:0]   next_rows,
    output logic [certree_ni_pkg::LINE_BITS:0]        next_arrivals,
    output logic [certree_ni_pkg::ROUTE_DEPTH_BITS:0] next_routes,
    // of the bank whose rows are read
    output logic [certree_ni_pkg::ROW_INDEX_BITS:0] read_rows,
    output logic [FIRED_BITS-1:0] read_firings,
    output logic [SLOT_BITS-1:0]  read_period,
    output logic [COUNT_BITS-1:0] read_repeats
);
  logic has_tables, is_past;
  logic [certree_ni_pkg::ROW_INDEX_BITS:0] rows;
  logic [CYCLE_BITS-1:0] next_slot_cycles;
  logic [SLOT_BITS-1:0]  period, next_period, next_boundary;
  logic [FIRED_BITS-1:0] next_firings;
  logic [TOTAL_BITS-1:0] next_counts;
  logic [COUNT_BITS-1:0] next_repeats;
  logic [15:0]           next_epoch;

  assign goes_ahead = is_armed && !is_ahead && is_finished;
  wire may_follow = is_loaded && next_epoch == epoch + 1'b1 && !is_past;
  wire opens_first = arm && !has_tables && (is_loaded || !is_loading);
  wire arms_next = arm && has_tables && may_follow && !is_armed;

  assign load_bank = open_bank ^ has_tables;
  assign is_refused = arm && (has_tables ? !may_follow && !is_past : is_loading && !is_loaded);
  assign is_missed = (is_over && is_armed && !is_ahead) || (arm && is_past);
  assign read_rows = is_ahead ? next_rows : rows;
  assign read_firings = is_ahead ? next_firings : firings;
  assign read_period = is_ahead ? next_period : period;
  assign read_repeats = is_ahead ? next_repeats : repeats;

  always_ff @(posedge clk) begin
    if (rst) begin
      open_bank <= 1'b0;
      has_tables <= 1'b0;
      begins <= 1'b0;
      is_armed <= 1'b0;
      is_ahead <= 1'b0;
      is_past <= 1'b0;
      epoch <= '0;
      rows <= '0;
      arrivals <= '0;
      firings <= '0;
      counts <= '0;
      slot_cycles <= '0;
      period <= '0;
      repeats <= '0;
      boundary <= '0;
    end else begin
      has_tables <= has_tables || opens_first;
      begins <= opens_first || goes_ahead;
      is_armed <= (is_armed || arms_next) && !takes_over;
      is_ahead <= (is_ahead || goes_ahead) && !takes_over;
      is_past <= is_past || (is_over && !takes_over);
      if (takes_over) open_bank <= !open_bank;
      if (takes_over || opens_first) begin
        epoch <= next_epoch;
        rows <= next_rows;
        arrivals <= next_arrivals;
        firings <= next_firings;
        counts <= next_counts;
        slot_cycles <= next_slot_cycles;
        period <= next_period;
        repeats <= next_repeats;
        boundary <= next_boundary;
      end
    end
    if (write_header) begin
      case (header_word)
        4'd0: next_epoch <= word[15:0];
        4'd1: next_rows <= word[certree_ni_pkg::ROW_INDEX_BITS:0];
        4'd2: next_arrivals <= word[certree_ni_pkg::LINE_BITS:0];
        4'd3: next_firings <= word[FIRED_BITS-1:0];
        4'd4: next_counts <= word[TOTAL_BITS-1:0];
        4'd5: next_slot_cycles <= word[CYCLE_BITS-1:0];
        4'd6: next_period <= word[SLOT_BITS-1:0];
        4'd7: next_repeats <= word[COUNT_BITS-1:0];
        4'd8: next_routes <= word[certree_ni_pkg::ROUTE_DEPTH_BITS:0];
        4'd9: next_boundary <= word[SLOT_BITS-1:0];
        default: ;
      endcase
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_banks_properties.svh"
`endif
endmodule
