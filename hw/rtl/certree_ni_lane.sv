// Injection port of one lane (E10): a queue of messages, and the DMA that reads what they carry. The first flit of a message that finds
// the lane idle is on the pins in the cycle after its row fired; a flit follows in each cycle.
module certree_ni_lane #(
    parameter int unsigned QUEUE = certree_ni_pkg::LANE_QUEUE,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned BACKLOG_BITS = certree_ni_pkg::BACKLOG_BITS,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned BODY_BITS = HEADER_BITS - NODE_BITS
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [NODE_BITS-1:0]    node,
    input  logic                    enqueue,
    input  logic [BODY_BITS-1:0]    header,    // all but the source
    output logic                    is_full,
    output logic [BACKLOG_BITS-1:0] backlog,   // flits left to send, those of this cycle included
    // memory: the data come in the cycle after a request that is taken
    output logic                    read_valid,
    input  logic                    read_ready,
    output logic [ADDR_BITS-1:0]    read_addr,
    input  logic [DATA_BITS-1:0]    read_data,
    // link
    output logic                    tx_valid,
    output logic                    tx_first,
    output logic                    tx_last,
    output logic [HEADER_BITS-1:0]  tx_header,  // with the first flit
    output logic [DATA_BITS-1:0]    tx_data     // with the flits behind the header flits
);
  localparam int unsigned FLITS = certree_ni_pkg::MESSAGE_FLITS;
  localparam int unsigned HEAD = certree_ni_pkg::HEAD_FLITS;
  localparam int unsigned FLIT_BITS = certree_ni_pkg::FLIT_INDEX_BITS;
  localparam int unsigned FILL_BITS = $clog2(QUEUE + 1);

  localparam int unsigned ADDR_LSB = certree_ni_pkg::HEADER_ADDR_LSB - NODE_BITS;

  logic [QUEUE*BODY_BITS-1:0] queue;
  logic [FILL_BITS-1:0]       queued;
  logic [BODY_BITS-1:0]       current, following;
  logic                       is_busy, has_data;  // `has_data`: what this flit carries is here
  logic [FLIT_BITS-1:0]       flit;

  wire is_last = 32'(flit) == FLITS - 1;
  // The data of the next flit are read while this one is sent, or those of this one until they are here.
  wire wants_data = is_busy && (!has_data || (!is_last && 32'(flit) + 1 >= HEAD));
  wire takes_next = !is_busy || (has_data && is_last);
  wire leaves = takes_next && queued != 0;                // the queue
  wire enters = enqueue && !(takes_next && queued == 0);  // the queue

  assign is_full = 32'(queued) == QUEUE;
  assign read_valid = wants_data;
  assign read_addr = current[ADDR_LSB+:ADDR_BITS];
  assign following = queued != 0 ? queue[BODY_BITS-1:0] : header;
  assign tx_valid = is_busy && has_data;
  assign tx_first = tx_valid && flit == 0;
  assign tx_last = tx_valid && is_last;
  assign tx_header = {current, node};
  assign tx_data = read_data;

  always_ff @(posedge clk) begin
    if (rst) begin
      queue <= '0;
      queued <= '0;
      current <= '0;
      is_busy <= 1'b0;
      has_data <= 1'b0;
      flit <= '0;
      backlog <= '0;
    end else begin
      // A message that is fired in cycle t has backlog - 1 flits left in t + 1, when the first one is on the pins.
      if (enqueue) backlog <= backlog + BACKLOG_BITS'(FLITS) - 1'b1;
      else if (backlog != 0) backlog <= backlog - 1'b1;

      if (takes_next) begin
        flit <= '0;
        has_data <= 1'b1;
        is_busy <= queued != 0 || enqueue;
        current <= following;
      end else begin
        if (has_data) flit <= flit + 1'b1;
        has_data <= !wants_data || read_ready;
        if (read_valid && read_ready) current[ADDR_LSB+:ADDR_BITS] <= current[ADDR_LSB+:ADDR_BITS] + 1'b1;  // its header has left
      end

      queued <= queued + FILL_BITS'(enters) - FILL_BITS'(leaves);
      for (int unsigned place = 0; place < QUEUE; place++) begin
        if (leaves && place + 1 < QUEUE && place + 1 < 32'(queued)) begin
          queue[place*BODY_BITS+:BODY_BITS] <= queue[(place+1)%QUEUE*BODY_BITS+:BODY_BITS];
        end else if (enters && 32'(queued) - 32'(leaves) == place) begin
          queue[place*BODY_BITS+:BODY_BITS] <= header;
        end
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_lane_properties.svh"
`endif
endmodule
