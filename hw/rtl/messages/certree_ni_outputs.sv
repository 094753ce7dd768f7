// The lanes and the copy unit of an interface: hands the messages of rows to them, as they enter the window, in bundles when they fire.
module certree_ni_outputs #(
    parameter int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS,
    parameter int unsigned TX = certree_ni_pkg::TX_LANES,
    parameter int unsigned READS = certree_ni_pkg::READ_PORTS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned ROUTE_BITS = certree_ni_pkg::ROUTE_BITS,
    parameter int unsigned BACKLOG_BITS = certree_ni_pkg::BACKLOG_BITS,
    parameter int unsigned COMMON_BITS = 1,  // what a message says but for its line and source
    parameter int unsigned MESSAGE_BITS = COMMON_BITS + TX * LINE_BITS
) (
    input  logic                         clk,
    input  logic                         rst,
    input  logic [NODE_BITS-1:0]         node,
    // a row that enters the window
    input  logic                         push,
    input  logic [COMMON_BITS-1:0]       push_common,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [TX*LINE_BITS-1:0]      push_line,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [TX-1:0]                push_lanes,
    // rows that fire: their lanes, whether they move data within the node, and what they say, where lanes are chosen now
    input  logic [ROWS-1:0]              fire,
    input  logic [ROWS*TX-1:0]           sends,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [ROWS-1:0]              is_local,
    input  logic [ROWS*MESSAGE_BITS-1:0] message,
    // verilator lint_on UNUSEDSIGNAL
    output logic [TX-1:0]                lane_is_full,
    output logic                         copies_are_full,
    output logic [TX*BACKLOG_BITS-1:0]   backlog,
    output logic                         is_moving,  // messages are left in the copy unit
    // memory
    output logic [READS-1:0]             read_valid,
    input  logic [READS-1:0]             read_ready,
    output logic [READS*ADDR_BITS-1:0]   read_addr,
    input  logic [READS*DATA_BITS-1:0]   read_data,
    // links
    output logic [TX-1:0]                tx_valid, tx_first, tx_last,
    output logic [TX*HEADER_BITS-1:0]    tx_header,
    output logic [TX*DATA_BITS-1:0]      tx_data,
    // within the node
    output logic                         is_moved, moved_first,
    output logic [HEADER_BITS-1:0]       moved_header,
    output logic [DATA_BITS-1:0]         moved_data
);
  for (genvar l = 0; l < TX; l++) begin : g_lanes
    logic [COMMON_BITS-1:0] common;
    logic [LINE_BITS-1:0] line;
    logic write, enqueue;
    always_comb begin
      enqueue = 1'b0;
      for (int unsigned w = 0; w < ROWS; w++) enqueue = enqueue || (fire[w] && sends[w*TX+l]);
    end
    if (certree_ni_pkg::BUNDLE_LANES == 1) begin : g_early
      assign write = push && push_lanes[l];
      assign {common, line} = {push_common, push_line[l*LINE_BITS+:LINE_BITS]};
    end else begin : g_late
      assign write = enqueue;
      always_comb begin
        {common, line} = '0;
        for (int unsigned w = 0; w < ROWS; w++) begin
          if (fire[w] && sends[w*TX+l]) {common, line} = {
            message[w*MESSAGE_BITS+TX*LINE_BITS+:COMMON_BITS], message[w*MESSAGE_BITS+l*LINE_BITS+:LINE_BITS]
          };
        end
      end
    end
    // verilator lint_off PINCONNECTEMPTY
    certree_ni_lane lane (
        .clk, .rst, .node, .write, .header({common[COMMON_BITS-1-:ROUTE_BITS], line, common[COMMON_BITS-ROUTE_BITS-1:0]}), .enqueue,
        .is_full(lane_is_full[l]), .backlog(backlog[l*BACKLOG_BITS+:BACKLOG_BITS]), .is_held(), .read_valid(read_valid[l]),
        .read_ready(read_ready[l]), .read_addr(read_addr[l*ADDR_BITS+:ADDR_BITS]), .read_data(read_data[l*DATA_BITS+:DATA_BITS]),
        .tx_valid(tx_valid[l]), .tx_first(tx_first[l]), .tx_last(tx_last[l]), .tx_header(tx_header[l*HEADER_BITS+:HEADER_BITS]),
        .tx_data(tx_data[l*DATA_BITS+:DATA_BITS])
    );
    // verilator lint_on PINCONNECTEMPTY
  end

  if (certree_ni_pkg::COPY_UNITS != 0) begin : g_copies
    localparam int unsigned MOVED_BITS = $clog2(ROWS + 1);
    logic [MOVED_BITS-1:0] moved;
    always_comb begin
      moved = '0;
      for (int unsigned w = 0; w < ROWS; w++) moved = moved + MOVED_BITS'(fire[w] && is_local[w]);
    end
    // verilator lint_off PINCONNECTEMPTY
    certree_ni_lane #(.IS_COPY_UNIT(1'b1), .QUEUE(2 * ROWS)) copy_unit (
        .clk, .rst, .node, .write(push && push_lanes == 0),
        .header({push_common[COMMON_BITS-1-:ROUTE_BITS], push_line[0+:LINE_BITS], push_common[COMMON_BITS-ROUTE_BITS-1:0]}),
        .enqueue(moved), .is_full(copies_are_full), .backlog(), .is_held(is_moving), .read_valid(read_valid[TX]), .read_ready(read_ready[TX]),
        .read_addr(read_addr[TX*ADDR_BITS+:ADDR_BITS]), .read_data(read_data[TX*DATA_BITS+:DATA_BITS]), .tx_valid(is_moved),
        .tx_first(moved_first), .tx_last(), .tx_header(moved_header), .tx_data(moved_data)
    );
    // verilator lint_on PINCONNECTEMPTY
  end else begin : g_no_copies
    assign {copies_are_full, is_moving, is_moved, moved_first, moved_header, moved_data} = '0;
  end
endmodule
