// Takes in the messages of one incoming lane. A GATHER is written where it belongs, and counts when it is complete (M7); a REDUCE is
// written to a place of the lane in the staging area, and goes to the reduction unit. What the list does not have, or another epoch
// sent (B6), is dropped. In `trees` a message brings its address; elsewhere its line has the one of iteration 0 (D5).
module certree_ni_receiver #(
    parameter int unsigned LANE = 0,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned KEY_BITS = certree_ni_pkg::ARRIVAL_BITS,
    parameter int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS
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
    // verilator lint_off UNUSEDSIGNAL
    input  logic [KEY_BITS-1:0]    look_key,       // the number of arrivals of a line is for its counter
    // verilator lint_on UNUSEDSIGNAL
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
    output logic [ITERATION_BITS-1:0] iteration,   // 0 in `trees`
    output logic [NODE_BITS-1:0]   source,         // behind its header
    output logic [ADDR_BITS-1:0]   addr,           // behind its header
    output logic [certree_ni_pkg::STAGED_CHUNK_BITS-1:0] place,  // of the staging area
    // faults
    output logic                   is_unexpected,  // a message that the list does not have
    output logic                   is_mixed,       // one of another epoch, a cycle later
    output logic                   is_overrun      // memory did not take a flit
);
  localparam int unsigned FLITS = certree_ni_pkg::MESSAGE_FLITS;  // at most; 2 or more
  localparam int unsigned HEAD = certree_ni_pkg::HEAD_FLITS;      // 1 or more
  localparam int unsigned FLIT_BITS = certree_ni_pkg::FLIT_INDEX_BITS;
  localparam int unsigned PLACE_BITS = certree_ni_pkg::STAGED_BITS, CHUNK_BITS = certree_ni_pkg::STAGED_CHUNK_BITS;
  localparam bit IS_COUNTED = certree_ni_pkg::PROFILE != 0, HAS_SIZES = certree_ni_pkg::HAS_SIZES != 0;
  localparam int unsigned FLOW_BITS = certree_ni_pkg::FLOW_BITS, BUFFER_BITS = certree_ni_pkg::BUFFER_BITS;
  localparam bit HAS_BUFFERS = certree_ni_pkg::HEADER_BUFFER_LSB != 0;

  logic [FLIT_BITS-1:0]   flit;       // of the message, that comes next
  logic [HEADER_BITS-1:0] header;
  logic                   is_known;
  logic [ADDR_BITS-1:0]   next_addr;  // of the granule that comes next
  logic [ADDR_BITS-1:0]   home, its_home;  // where the chunk belongs
  logic                   is_key;

  // verilator lint_off UNUSEDSIGNAL
  wire [HEADER_BITS-1:0] current = rx_first ? rx_header : header;
  // verilator lint_on UNUSEDSIGNAL
  wire                   is_current = rx_header[certree_ni_pkg::HEADER_EPOCH_LSB] == epoch;
  wire                   is_listed = is_key && (LINE_BITS + 1)'(look_line) < arrivals;
  wire                   comes = rx_valid && rx_first;
  wire [FLIT_BITS-1:0]   flits = HAS_SIZES
      ? FLIT_BITS'(HEAD) + FLIT_BITS'(current[certree_ni_pkg::HEADER_SIZE_LSB+:certree_ni_pkg::SIZE_BITS]) : FLIT_BITS'(FLITS);
  wire                   is_last = rx_valid && !rx_first && flit == flits - 1'b1;

  if (IS_COUNTED) begin : g_counted
    assign is_key = rx_header[certree_ni_pkg::HEADER_FLOW_LSB+:FLOW_BITS] == look_key[certree_ni_pkg::ARRIVAL_FLOW_LSB+:FLOW_BITS]
        && (!HAS_BUFFERS || rx_header[certree_ni_pkg::HEADER_BUFFER_LSB+:BUFFER_BITS]
            == look_key[certree_ni_pkg::ARRIVAL_BUFFER_LSB+:BUFFER_BITS]);
    assign iteration = current[certree_ni_pkg::HEADER_ITERATION_LSB+:ITERATION_BITS];
    certree_ni_place place_of_line (
        .table_addr(look_key[certree_ni_pkg::ARRIVAL_ADDR_LSB+:certree_ni_pkg::TABLE_ADDR_BITS]),
        .iteration(rx_header[certree_ni_pkg::HEADER_ITERATION_LSB+:ITERATION_BITS]), .addr(home)
    );
  end else begin : g_trees
    assign is_key = rx_header[certree_ni_pkg::HEADER_KEY_LSB+:KEY_BITS] == look_key;
    assign iteration = '0;
    assign home = rx_header[certree_ni_pkg::HEADER_ADDR_LSB+:ADDR_BITS];
  end

  assign look_line = rx_header[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS];
  assign begins = comes && is_listed && is_current;
  assign line = current[certree_ni_pkg::HEADER_LINE_LSB+:LINE_BITS];
  assign is_reduce = current[certree_ni_pkg::HEADER_OP_LSB+:2] == certree_ni_pkg::OP_REDUCE;
  assign source = header[certree_ni_pkg::HEADER_SRC_LSB+:NODE_BITS];
  assign addr = its_home;
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
      its_home <= '0;
      is_known <= 1'b0;
      is_mixed <= 1'b0;
      place <= '0;
      next_addr <= '0;
    end else begin
      is_mixed <= (comes && !is_current) || (takes_over && (begins || (is_known && !is_last)));
      if (rx_valid) flit <= is_last ? '0 : flit + 1'b1;
      if (comes) {header, its_home} <= {rx_header, home};
      if (takes_over || is_last) is_known <= 1'b0;
      else if (comes) is_known <= begins;
      if (comes) begin
        next_addr <= is_reduce ? {1'b1, (ADDR_BITS - 1)'(((LANE << CHUNK_BITS) + 32'(place)) << PLACE_BITS)}
            : home;
      end else if (write_valid) begin
        next_addr <= next_addr + 1'b1;
      end
      if (takes_over) place <= '0;
      else if (is_complete && is_reduce) place <= place + 1'b1;
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_receiver_properties.svh"
`endif
endmodule
