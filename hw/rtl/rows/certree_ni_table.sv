// Memory of a table: one write port for loading, one synchronous read port, a parity bit for every entry.
module certree_ni_table #(
    parameter int unsigned DEPTH = 4,
    parameter int unsigned BITS = 8,
    parameter int unsigned INDEX_BITS = 2
) (
    input  logic                  clk,
    input  logic                  write,
    input  logic [INDEX_BITS-1:0] write_index,
    input  logic [BITS-1:0]       write_entry,
    input  logic                  read,
    input  logic [INDEX_BITS-1:0] read_index,
    output logic [BITS-1:0]       entry,         // in the cycle after `read`, and until the next one
    output logic                  parity_error   // of `entry`
);
  logic [BITS:0] memory[DEPTH];
  logic [BITS:0] stored;

  always_ff @(posedge clk) begin
    if (write) memory[write_index] <= {^write_entry, write_entry};
    if (read) stored <= memory[read_index];
  end

  assign entry = stored[BITS-1:0];
  assign parity_error = ^stored;
endmodule
