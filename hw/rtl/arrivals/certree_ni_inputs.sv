// The receivers of an interface, that of the copy unit first, and the list of expected arrivals in which they look lines up.
module certree_ni_inputs #(
    parameter int unsigned PORTS = certree_ni_pkg::WRITE_PORTS,
    parameter int unsigned COPIES = certree_ni_pkg::COPY_UNITS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned KEY_BITS = certree_ni_pkg::ARRIVAL_BITS,
    parameter int unsigned CHUNK_BITS = certree_ni_pkg::STAGED_CHUNK_BITS,
    parameter int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS,
    parameter int unsigned SUM_BITS = ITERATION_BITS + LINE_BITS
) (
    input  logic                         clk,
    input  logic                         rst,
    input  logic [LINE_BITS:0]           arrivals,
    input  logic                         epoch,
    input  logic                         open_bank,
    input  logic                         takes_over,
    // the list, while it is loaded
    input  logic                         set_line,
    input  logic                         line_bank,
    input  logic [LINE_BITS-1:0]         set_index,
    input  logic [KEY_BITS-1:0]          key,
    // flits
    input  logic [PORTS-1:0]             in_valid, in_first,
    input  logic [PORTS*HEADER_BITS-1:0] in_header,
    input  logic [PORTS*DATA_BITS-1:0]   in_data,
    // memory
    output logic [PORTS-1:0]             write_valid,
    input  logic [PORTS-1:0]             write_ready,
    output logic [PORTS*ADDR_BITS-1:0]   write_addr,
    output logic [PORTS*DATA_BITS-1:0]   write_data,
    // messages, as of each receiver
    output logic [PORTS-1:0]             comes, is_complete, is_reduce,
    output logic [PORTS-1:0]             is_staged,  // a granule goes to the staging area
    output logic [PORTS*LINE_BITS-1:0]   line,
    output logic [PORTS*ITERATION_BITS-1:0] iteration,
    output logic [PORTS*SUM_BITS-1:0]    sum_of,     // iteration and line
    output logic [PORTS*NODE_BITS-1:0]   source,
    output logic [PORTS*ADDR_BITS-1:0]   addr,
    output logic [PORTS*CHUNK_BITS-1:0]  place,
    output logic [PORTS-1:0]             is_unexpected, is_mixed, is_overrun
);
  logic [KEY_BITS-1:0] keys[2 << LINE_BITS];
  always_ff @(posedge clk) if (set_line) keys[{line_bank, set_index}] <= key;

  for (genvar l = 0; l < PORTS; l++) begin : g_receivers
    logic [LINE_BITS-1:0] key_line;
    logic puts, is_lost;
    logic [ADDR_BITS-1:0] put_addr;
    logic [DATA_BITS-1:0] put_data;
    certree_ni_receiver #(.LANE(l)) receiver (
        .clk, .rst, .arrivals, .epoch, .takes_over, .rx_valid(in_valid[l]), .rx_first(in_first[l]),
        .rx_header(in_header[l*HEADER_BITS+:HEADER_BITS]), .rx_data(in_data[l*DATA_BITS+:DATA_BITS]), .look_line(key_line),
        .look_key(keys[{open_bank, key_line}]), .write_valid(puts), .write_ready(l < COPIES || write_ready[l]), .write_addr(put_addr),
        .write_data(put_data), .begins(comes[l]), .is_complete(is_complete[l]), .is_reduce(is_reduce[l]),
        .line(line[l*LINE_BITS+:LINE_BITS]), .iteration(iteration[l*ITERATION_BITS+:ITERATION_BITS]),
        .source(source[l*NODE_BITS+:NODE_BITS]), .addr(addr[l*ADDR_BITS+:ADDR_BITS]), .place(place[l*CHUNK_BITS+:CHUNK_BITS]),
        .is_unexpected(is_unexpected[l]), .is_mixed(is_mixed[l]), .is_overrun(is_lost)
    );
    assign sum_of[l*SUM_BITS+:SUM_BITS] = {iteration[l*ITERATION_BITS+:ITERATION_BITS], line[l*LINE_BITS+:LINE_BITS]};
    assign is_staged[l] = puts && is_reduce[l];
    if (l < COPIES) begin : g_late
      // A lane that sends the same chunk in these cycles reads each granule before it is written.
      assign is_overrun[l] = is_lost || (write_valid[l] && !write_ready[l]);
      always_ff @(posedge clk) begin
        write_valid[l] <= puts && !rst;
        write_addr[l*ADDR_BITS+:ADDR_BITS] <= put_addr;
        write_data[l*DATA_BITS+:DATA_BITS] <= put_data;
      end
    end else begin : g_at_once
      assign is_overrun[l] = is_lost;
      assign write_valid[l] = puts;
      assign write_addr[l*ADDR_BITS+:ADDR_BITS] = put_addr;
      assign write_data[l*DATA_BITS+:DATA_BITS] = put_data;
    end
  end
endmodule
