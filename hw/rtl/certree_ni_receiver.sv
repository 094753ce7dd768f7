// Takes in the messages of one incoming lane. A GATHER is written where it belongs, and counts when it is complete (M7); a REDUCE is
// written to a place of the lane in the staging area, and goes to the reduction unit.
module certree_ni_receiver #(
    parameter int unsigned LANE = 0,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned KEY_BITS = certree_ni_pkg::ARRIVAL_BITS
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic [ADDR_BITS-1:0]   staging_base,
    input  logic [LINE_BITS:0]     arrivals,       // lines in the list
    // link
    input  logic                   rx_valid,
    input  logic                   rx_first,
    input  logic [HEADER_BITS-1:0] rx_header,
    input  logic [DATA_BITS-1:0]   rx_data,
    // list of expected arrivals: the line that a header names
    output logic [LINE_BITS-1:0]   look_line,
    input  logic [KEY_BITS-1:0]    look_key,
    // memory
    output logic                   write_valid,
    input  logic                   write_ready,
    output logic [ADDR_BITS-1:0]   write_addr,
    output logic [DATA_BITS-1:0]   write_data,
    // complete at the end of this cycle
    output logic                   is_complete,
    output logic                   is_reduce,
    output logic [LINE_BITS-1:0]   line,
    output logic [ADDR_BITS-1:0]   addr,
    output logic                   place,          // of the staging area
    output logic                   is_unexpected,  // a message that the list does not have: it is dropped
    output logic                   is_overrun      // memory did not take a flit
);
  localparam int unsigned FLITS = certree_ni_pkg::MESSAGE_FLITS;
  localparam int unsigned HEAD = certree_ni_pkg::HEAD_FLITS;
  localparam int unsigned FLIT_BITS = certree_ni_pkg::FLIT_INDEX_BITS;
  localparam int unsigned SIZE = certree_ni_pkg::CHUNK_GRANULES;
  localparam logic [ADDR_BITS-1:0] STAGED = ADDR_BITS'(2 * LANE * SIZE);

  logic [FLIT_BITS-1:0]   flit;     // of the message, that comes next
  logic [HEADER_BITS-1:0] header;
  logic                   is_known;
  logic [ADDR_BITS-1:0]   next_addr;  // of the granule that comes next

  wire [HEADER_BITS-1:0] current = rx_first ? rx_header : header;
  wire [KEY_BITS-1:0]    key = current[certree_ni_pkg::HEADER_KEY_LSB+:KEY_BITS];
  wire                   is_listed = rx_first ? key == look_key && (LINE_BITS + 1)'(look_line) < arrivals : is_known;

  assign look_line = current[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS];
  assign line = look_line;
  assign addr = current[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS];
  assign is_reduce = current[certree_ni_pkg::HEADER_OP_LSB+:2] == certree_ni_pkg::OP_REDUCE;
  assign is_unexpected = rx_valid && rx_first && !is_listed;
  assign is_complete = rx_valid && is_listed && 32'(flit) == FLITS - 1;
  assign write_valid = rx_valid && is_listed && 32'(flit) >= HEAD;
  assign write_addr = next_addr;
  assign write_data = rx_data;
  assign is_overrun = write_valid && !write_ready;

  always_ff @(posedge clk) begin
    if (rst) begin
      flit <= '0;
      header <= '0;
      is_known <= 1'b0;
      place <= 1'b0;
      next_addr <= '0;
    end else if (rx_valid) begin
      flit <= 32'(flit) == FLITS - 1 ? '0 : flit + 1'b1;
      header <= current;
      is_known <= is_listed;
      if (rx_first) next_addr <= is_reduce ? staging_base + (place ? STAGED + ADDR_BITS'(SIZE) : STAGED) : addr;
      else if (write_valid) next_addr <= next_addr + 1'b1;
      if (is_complete && is_reduce) place <= !place;
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_receiver_properties.svh"
`endif
endmodule
