// Network interfaces with their memories around the network model, for testbenches: pins of the interfaces for loading and watching,
// and at the end the check of the data in every memory. For simulation.
// verilator lint_off BLKSEQ
// verilator lint_off PROCASSINIT
module certree_nodes #(
    parameter int NIS = certree_ni_pkg::NIS,
    parameter int TX = certree_ni_pkg::TX_LANES,
    parameter int RX = certree_ni_pkg::RX_LANES,
    parameter int READS = certree_ni_pkg::READ_PORTS,
    parameter int WRITES = certree_ni_pkg::WRITE_PORTS,
    parameter int WINDOW = certree_ni_pkg::WINDOW_ROWS,
    parameter int ROW_INDEX_BITS = certree_ni_pkg::ROW_INDEX_BITS,
    parameter int ITERATION_BITS = certree_ni_pkg::ITERATION_BITS,
    parameter int LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int COUNT_BITS = certree_ni_pkg::COUNT_BITS
) (
    input  logic                             clk,
    input  logic                             rst,
    input  logic                             is_starting,  // the next cycle is time 0
    output longint                           now,          // negative before
    // APB: one address, the data of each interface
    input  logic                             penable, pwrite,
    input  logic [NIS-1:0]                   psel,
    input  logic [23:0]                      paddr,
    input  logic [31:0]                      pwdata[NIS],
    output logic [31:0]                      prdata[NIS],
    output logic [NIS-1:0]                   pready, pslverr,
    // what the interfaces show
    output logic [TX-1:0]                    tx_first[NIS], tx_last[NIS],
    output logic [WINDOW-1:0]                fired[NIS], fired_from[NIS],
    output logic [WINDOW*ROW_INDEX_BITS-1:0] fired_row[NIS],
    output logic [WINDOW*ITERATION_BITS-1:0] fired_iteration[NIS],
    output logic [WRITES:0]                  counted[NIS],
    output logic [(WRITES+1)*LINE_BITS-1:0]  counted_line[NIS],
    output logic [(WRITES+1)*COUNT_BITS-1:0] counted_to[NIS],
    output logic [NIS-1:0]                   is_done, has_error,
    // the network, and the data
    output int                               faults,
    input  logic                             is_checking,  // rises when the data are to be checked
    output logic [NIS-1:0]                   has_wrong
);
  localparam int ADDR_BITS = certree_ni_pkg::ADDR_BITS;
  localparam int DATA_BITS = certree_ni_pkg::GRANULE_BITS;
  localparam int HEADER_BITS = certree_ni_pkg::HEADER_BITS;
  localparam int GRANULES = certree_ni_pkg::SUM_GRANULES;

  initial now = -1;
  always @(posedge clk) begin
    if (is_starting) now <= 0;
    else if (now >= 0) now <= now + 1;
  end

  logic [TX-1:0] tx_valid[NIS];
  logic [TX*HEADER_BITS-1:0] tx_header[NIS];
  logic [TX*DATA_BITS-1:0] tx_data[NIS];
  logic [RX-1:0] rx_valid[NIS], rx_first[NIS];
  logic [RX*HEADER_BITS-1:0] rx_header[NIS];
  logic [RX*DATA_BITS-1:0] rx_data[NIS];
  certree_network network (
      .clk, .now, .tx_valid, .tx_first, .tx_header, .tx_data, .rx_valid, .rx_first, .rx_header, .rx_data, .faults
  );

  for (genvar n = 0; n < NIS; n++) begin : g_nodes
    logic [READS-1:0] read_valid;
    logic [READS*ADDR_BITS-1:0] read_addr;
    logic [READS*DATA_BITS-1:0] read_data;
    logic [WRITES-1:0] write_valid;
    logic [WRITES*ADDR_BITS-1:0] write_addr;
    logic [WRITES*DATA_BITS-1:0] write_data;
    logic sum_read_valid, sum_write_valid;
    logic [ADDR_BITS-1:0] sum_read_addr, sum_staged_addr, sum_write_addr;
    logic [GRANULES*DATA_BITS-1:0] sum_read_data, sum_staged_data, sum_write_data;
    logic [GRANULES-1:0] sum_write_granules;
    certree_ni ni (
        .clk, .rst, .psel(psel[n]), .penable, .pwrite, .paddr, .pwdata(pwdata[n]), .prdata(prdata[n]), .pready(pready[n]),
        .pslverr(pslverr[n]), .tx_valid(tx_valid[n]), .tx_first(tx_first[n]), .tx_last(tx_last[n]), .tx_header(tx_header[n]),
        .tx_data(tx_data[n]), .rx_valid(rx_valid[n]), .rx_first(rx_first[n]), .rx_header(rx_header[n]), .rx_data(rx_data[n]),
        .read_valid, .read_ready('1), .read_addr, .read_data, .write_valid, .write_ready('1), .write_addr, .write_data,
        .sum_read_valid, .sum_read_ready(1'b1), .sum_read_addr, .sum_staged_addr, .sum_read_data, .sum_staged_data,
        .sum_write_valid, .sum_write_ready(1'b1), .sum_write_addr, .sum_write_data, .sum_write_granules,
        .is_done(is_done[n]), .has_error(has_error[n]), .fired(fired[n]), .fired_from(fired_from[n]), .fired_row(fired_row[n]),
        .fired_iteration(fired_iteration[n]), .counted(counted[n]), .counted_line(counted_line[n]), .counted_to(counted_to[n])
    );
    certree_node_memory #(.NI(n)) memory (
        .clk, .read_valid, .read_addr, .read_data, .write_valid, .write_addr, .write_data, .sum_read_valid, .sum_read_addr,
        .sum_staged_addr, .sum_read_data, .sum_staged_data, .sum_write_valid, .sum_write_addr, .sum_write_data,
        .sum_write_granules
    );
    // Each result that is due here is what the collective promises.
    int wrong = 0;
    always @(posedge is_checking) begin
      for (int a = 0; a < certree_tb_pkg::RESULT_GRANULES; a++) begin
        if (certree_tb_pkg::is_due(n, a) && memory.cells[a] !== certree_tb_pkg::promised(n, a)) wrong = wrong + 1;
      end
      if (wrong != 0) $display("node %0d: %0d granules are wrong", certree_tb_pkg::NODE_OF[n], wrong);
    end
    assign has_wrong[n] = wrong != 0;
  end
endmodule
