// Memory of a node: first what tables use, then the staging area. A read sees what is written in its own cycle; the data come in the cycle after. For simulation.
// verilator lint_off BLKSEQ
module certree_node_memory #(
    parameter int NI = 0,
    parameter int READS = certree_ni_pkg::READ_PORTS,
    parameter int WRITES = certree_ni_pkg::WRITE_PORTS,
    parameter int ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int GRANULES = certree_ni_pkg::SUM_GRANULES
) (
    input  logic                          clk,
    input  logic [READS-1:0]              read_valid,
    input  logic [READS*ADDR_BITS-1:0]    read_addr,
    output logic [READS*DATA_BITS-1:0]    read_data,
    input  logic [WRITES-1:0]             write_valid,
    input  logic [WRITES*ADDR_BITS-1:0]   write_addr,
    input  logic [WRITES*DATA_BITS-1:0]   write_data,
    input  logic                          sum_read_valid,
    input  logic [ADDR_BITS-1:0]          sum_read_addr,
    input  logic [ADDR_BITS-1:0]          sum_staged_addr,
    output logic [GRANULES*DATA_BITS-1:0] sum_read_data,
    output logic [GRANULES*DATA_BITS-1:0] sum_staged_data,
    input  logic                          sum_write_valid,
    input  logic [ADDR_BITS-1:0]          sum_write_addr,
    input  logic [GRANULES*DATA_BITS-1:0] sum_write_data,
    input  logic [GRANULES-1:0]           sum_write_granules
);
  localparam int DEPTH = certree_tb_pkg::MEMORY_DEPTH;

  // The cell at an address: the top bit says that it is in the staging area.
  function automatic int at(logic [ADDR_BITS-1:0] addr, int offset);
    return (addr[ADDR_BITS-1] ? certree_ni_pkg::MEMORY_GRANULES : 0) + int'(addr[ADDR_BITS-2:0]) + offset;
  endfunction

  logic [DATA_BITS-1:0] cells[DEPTH];

  initial for (int a = 0; a < DEPTH; a++) cells[a] = certree_tb_pkg::initial_granule(NI, a);

  always @(posedge clk) begin
    for (int l = 0; l < WRITES; l++) if (write_valid[l]) cells[at(write_addr[l*ADDR_BITS+:ADDR_BITS], 0)] = write_data[l*DATA_BITS+:DATA_BITS];
    for (int g = 0; g < GRANULES; g++) begin
      if (sum_write_valid && sum_write_granules[g]) cells[at(sum_write_addr, g)] = sum_write_data[g*DATA_BITS+:DATA_BITS];
    end
    for (int l = 0; l < READS; l++) if (read_valid[l]) read_data[l*DATA_BITS+:DATA_BITS] <= cells[at(read_addr[l*ADDR_BITS+:ADDR_BITS], 0)];
    for (int g = 0; g < GRANULES; g++) begin
      if (sum_read_valid) begin
        sum_read_data[g*DATA_BITS+:DATA_BITS] <= cells[at(sum_read_addr, g)];
        sum_staged_data[g*DATA_BITS+:DATA_BITS] <= cells[at(sum_staged_addr, g)];
      end
    end
  end
endmodule
