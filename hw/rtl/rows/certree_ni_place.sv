// The address of a chunk in an iteration (D5): a work cell comes back after IN_FLIGHT iterations, any other moves on.
module certree_ni_place #(
    parameter int unsigned TABLE_BITS = certree_ni_pkg::TABLE_ADDR_BITS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS
) (
    input  logic [TABLE_BITS-1:0]     table_addr,  // of iteration 0
    input  logic [ITERATION_BITS-1:0] iteration,
    output logic [ADDR_BITS-1:0]      addr
);
  localparam int unsigned WORK_BASE = certree_ni_pkg::WORK_BASE, TURNS = certree_ni_pkg::IN_FLIGHT;
  localparam int unsigned STRIDE = certree_ni_pkg::STRIDE, WORK_STRIDE = certree_ni_pkg::WORK_STRIDE;
  wire is_work = 32'(table_addr) >= WORK_BASE;
  assign addr = ADDR_BITS'(table_addr)
      + (is_work ? ADDR_BITS'((32'(iteration) % TURNS) * WORK_STRIDE) : ADDR_BITS'(32'(iteration) * STRIDE));
endmodule
