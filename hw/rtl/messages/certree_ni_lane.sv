// Injection port of one lane (E10): a memory of messages, and the DMA that reads what they carry. The first flit of a message that finds
// the lane idle is on the pins in the cycle after its row fired; a flit follows in each cycle. Messages are written in the order in which
// they are sent, as early as their row enters the window. A copy unit (M8) is such a lane within a node: it starts in the cycle in which
// its row fires, and several rows may fire in one cycle.
module certree_ni_lane #(
    parameter bit IS_COPY_UNIT = 1'b0,
    parameter int unsigned QUEUE = certree_ni_pkg::LANE_QUEUE,
    parameter int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned BACKLOG_BITS = certree_ni_pkg::BACKLOG_BITS,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned BODY_BITS = HEADER_BITS - NODE_BITS,
    parameter int unsigned MOST = IS_COPY_UNIT ? ROWS : 1,  // messages that are to be sent from one cycle on
    parameter int unsigned MOST_BITS = $clog2(MOST + 1)
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [NODE_BITS-1:0]    node,
    input  logic                    write,
    input  logic [BODY_BITS-1:0]    header,    // of the message that is written, all but the source
    input  logic [MOST_BITS-1:0]    enqueue,   // this many more of them are to be sent; but in a copy unit it may be written in this cycle
    output logic                    is_full,
    output logic [BACKLOG_BITS-1:0] backlog,   // flits left to send, those of this cycle included
    output logic                    is_held,   // messages are left to send, that which is under way included
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
  localparam int unsigned FLITS = certree_ni_pkg::MESSAGE_FLITS;  // at most
  localparam int unsigned HEAD = certree_ni_pkg::HEAD_FLITS;
  localparam bit HAS_SIZES = certree_ni_pkg::HAS_SIZES != 0;
  localparam int unsigned SIZE_BITS = certree_ni_pkg::SIZE_BITS, SIZE_LSB = HAS_SIZES ? certree_ni_pkg::HEADER_SIZE_LSB - NODE_BITS : 0;
  localparam int unsigned FLIT_BITS = certree_ni_pkg::FLIT_INDEX_BITS;
  localparam int unsigned FILL_BITS = $clog2(QUEUE + MOST + 1);
  localparam int unsigned PLACE_BITS = $clog2(ROWS + QUEUE + 1);  // rows of the window, those that wait here, and the one that is sent

  localparam int unsigned ADDR_LSB = certree_ni_pkg::HEADER_ADDR_LSB - NODE_BITS;

  logic [BODY_BITS-1:0]  messages[1 << PLACE_BITS];
  logic [PLACE_BITS-1:0] written, sent;  // so far
  logic [FILL_BITS-1:0]  held;           // messages to be sent, that which is under way included
  logic                  has_data;       // what this flit carries is here
  logic [FLIT_BITS-1:0]  flit;
  logic [ADDR_BITS-1:0]  addr;           // of the next granule, behind the first flit

  wire [BODY_BITS-1:0] current = messages[sent];
  wire is_busy = held != 0 || (IS_COPY_UNIT && enqueue != 0);
  wire [FLIT_BITS-1:0] flits = HAS_SIZES ? FLIT_BITS'(HEAD) + FLIT_BITS'(current[SIZE_LSB+:SIZE_BITS]) : FLIT_BITS'(FLITS);
  wire [FLIT_BITS-1:0] more = HAS_SIZES ? FLIT_BITS'(HEAD) + FLIT_BITS'(header[SIZE_LSB+:SIZE_BITS]) : FLIT_BITS'(FLITS);
  wire is_last = flit == flits - 1'b1;
  // The data of the next flit are read while this one is sent, or those of this one until they are here.
  wire wants_data = is_busy && (!has_data || (!is_last && 32'(flit) + 1 >= HEAD));

  assign is_held = held != 0;
  assign is_full = 32'(held) + MOST > QUEUE + 1;
  assign read_valid = wants_data;
  assign read_addr = flit == 0 ? current[ADDR_LSB+:ADDR_BITS] : addr;
  assign tx_valid = is_busy && has_data;
  assign tx_first = tx_valid && flit == 0;
  assign tx_last = tx_valid && is_last;
  assign tx_header = {current, node};
  assign tx_data = read_data;

  always_ff @(posedge clk) begin
    if (write) messages[written] <= header;
    addr <= read_addr + ADDR_BITS'(read_valid && read_ready);
    if (rst) begin
      written <= '0;
      sent <= '0;
      held <= '0;
      has_data <= 1'b1;
      flit <= '0;
      backlog <= '0;
    end else begin
      written <= written + PLACE_BITS'(write);
      sent <= sent + PLACE_BITS'(tx_last);
      held <= held + FILL_BITS'(enqueue) - FILL_BITS'(tx_last);
      has_data <= !wants_data || read_ready;
      if (tx_valid) flit <= is_last ? '0 : flit + 1'b1;
      // A message that is fired in cycle t has backlog - 1 flits left in t + 1, when the first one is on the pins. Where lanes have
      // a choice it is the one that is written.
      if (enqueue != 0) backlog <= backlog + BACKLOG_BITS'(more) - 1'b1;
      else if (backlog != 0) backlog <= backlog - 1'b1;
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_lane_properties.svh"
`endif
endmodule
