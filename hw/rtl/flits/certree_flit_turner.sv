// A flit as a router passes it to the next one, after its output port has been read from Next: the fields of a message's route turn by
// one. Where there are two, Next and Eject are exchanged (MultiTree, Section IV-B). Any other flit stays as it is.
module certree_flit_turner #(
    parameter  int unsigned VC_BITS    = 2,
    parameter  int unsigned PORTS      = 8,
    parameter  int unsigned HOPS       = 1,
    parameter  int unsigned DATA_BITS  = 128,
    localparam int unsigned ROUTE_BITS = (HOPS + 1) * PORTS,
    localparam int unsigned FLIT_BITS  = VC_BITS + 3 + DATA_BITS
) (
    input  logic [FLIT_BITS-1:0] flit,
    output logic [FLIT_BITS-1:0] turned
);
  wire [ROUTE_BITS-1:0] route = flit[DATA_BITS-1-:ROUTE_BITS];
  always_comb begin
    turned = flit;
    if (flit[DATA_BITS+:3] == 3'b000) turned[DATA_BITS-1-:ROUTE_BITS] = {route[ROUTE_BITS-PORTS-1:0], route[ROUTE_BITS-1-:PORTS]};
  end
endmodule
