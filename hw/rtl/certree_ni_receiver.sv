// Takes in the messages of one incoming lane. A GATHER is written where it belongs, and counts when it is complete (M7); a REDUCE is
// written to a place of the lane in the staging area, and goes to the reduction unit. What the list does not have, or another epoch
// sent (B6), is dropped.
module certree_ni_receiver #(
    parameter int unsigned LANE = 0,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned KEY_BITS = certree_ni_pkg::ARRIVAL_BITS
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic [LINE_BITS:0]     arrivals,       // lines in the list
    input  logic                   epoch,          // the low bit of that of the open bank
    input  logic                   takes_over,     // the other bank opens with the next cycle
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
    // the message
    output logic                   begins,         // its header comes, and the list has it
    output logic                   is_complete,    // at the end of this cycle
    output logic                   is_reduce,      // from its header on, as what follows
    output logic [LINE_BITS-1:0]   line,
    output logic [NODE_BITS-1:0]   source,         // behind its header
    output logic [ADDR_BITS-1:0]   addr,           // behind its header
    output logic                   place,          // of the staging area
    // faults
    output logic                   is_unexpected,  // a message that the list does not have
    output logic                   is_mixed,       // one of another epoch, a cycle later
    output logic                   is_overrun      // memory did not take a flit
);
  localparam int unsigned FLITS = certree_ni_pkg::MESSAGE_FLITS;  // 2 or more
  localparam int unsigned HEAD = certree_ni_pkg::HEAD_FLITS;      // 1 or more
  localparam int unsigned FLIT_BITS = certree_ni_pkg::FLIT_INDEX_BITS;
  localparam int unsigned PLACE_BITS = certree_ni_pkg::STAGED_BITS;

  logic [FLIT_BITS-1:0]   flit;       // of the message, that comes next
  logic [HEADER_BITS-1:0] header;
  logic                   is_known;
  logic [ADDR_BITS-1:0]   next_addr;  // of the granule that comes next

  // verilator lint_off UNUSEDSIGNAL
  wire [HEADER_BITS-1:0] current = rx_first ? rx_header : header;
  // verilator lint_on UNUSEDSIGNAL
  wire                   is_current = rx_header[certree_ni_pkg::HEADER_EPOCH_LSB] == epoch;
  wire                   is_listed = rx_header[certree_ni_pkg::HEADER_KEY_LSB+:KEY_BITS] == look_key
                             && (LINE_BITS + 1)'(look_line) < arrivals;
  wire                   comes = rx_valid && rx_first;
  wire                   is_last = rx_valid && !rx_first && 32'(flit) == FLITS - 1;

  assign look_line = rx_header[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS];
  assign begins = comes && is_listed && is_current;
  assign line = current[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS];
  assign is_reduce = current[certree_ni_pkg::HEADER_OP_LSB+:2] == certree_ni_pkg::OP_REDUCE;
  assign source = header[certree_ni_pkg::HEADER_SRC_LSB+:NODE_BITS];
  assign addr = header[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS];
  assign is_unexpected = comes && is_current && !is_listed;
  assign is_complete = is_last && is_known;
  assign write_valid = rx_valid && !rx_first && is_known && 32'(flit) >= HEAD;
  assign write_addr = next_addr;
  assign write_data = rx_data;
  assign is_overrun = write_valid && !write_ready;

  always_ff @(posedge clk) begin
    if (rst) begin
      flit <= '0;
      header <= '0;
      is_known <= 1'b0;
      is_mixed <= 1'b0;
      place <= 1'b0;
      next_addr <= '0;
    end else begin
      is_mixed <= (comes && !is_current) || (takes_over && (begins || (is_known && !is_last)));
      if (rx_valid) flit <= is_last ? '0 : flit + 1'b1;
      if (comes) header <= rx_header;
      if (takes_over || is_last) is_known <= 1'b0;
      else if (comes) is_known <= begins;
      if (comes) begin
        next_addr <= is_reduce ? {1'b1, (ADDR_BITS - 1)'((2 * LANE + 32'(place)) << PLACE_BITS)}
            : rx_header[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS];
      end else if (write_valid) begin
        next_addr <= next_addr + 1'b1;
      end
      if (takes_over) place <= 1'b0;
      else if (is_complete && is_reduce) place <= !place;
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_receiver_properties.svh"
`endif
endmodule
