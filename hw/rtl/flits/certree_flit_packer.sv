// The fields of a flit as its bits: VC, Type, then the Packet Info of a head, then data (MultiTree, Fig. 8). Ports come as numbers and
// leave one-hot; the number PORTS leaves no bit, in a field of the route that is not used. Data above the room that a head leaves are
// not sent.
module certree_flit_packer #(
    parameter  int unsigned VC_BITS    = 2,
    parameter  int unsigned NODE_BITS  = 4,
    parameter  int unsigned PORTS      = 8,    // of a router: output lanes, then ejection ports
    parameter  int unsigned HOPS       = 1,    // Next fields of a message's head
    parameter  int unsigned TREE_BITS  = 4,
    parameter  int unsigned DATA_BITS  = 128,
    localparam int unsigned PORT_BITS  = $clog2(PORTS + 1),
    localparam int unsigned ROUTE_BITS = (HOPS + 1) * PORTS,
    localparam int unsigned FLIT_BITS  = VC_BITS + 3 + DATA_BITS
) (
    input  logic [VC_BITS-1:0]            vc,
    input  logic [2:0]                    kind,   // Table II
    input  logic [NODE_BITS-1:0]          dest,   // of a normal packet
    input  logic [NODE_BITS-1:0]          src,
    input  logic [(HOPS+1)*PORT_BITS-1:0] route,  // of a message, Next in the lowest bits
    input  logic [TREE_BITS-1:0]          tree,
    input  logic [DATA_BITS-1:0]          data,
    output logic [FLIT_BITS-1:0]          flit
);
  localparam int unsigned MessageRoom = DATA_BITS - ROUTE_BITS - TREE_BITS;
  localparam int unsigned PacketRoom = DATA_BITS - 2 * NODE_BITS;

  wire is_message_head = kind == 3'b000;
  wire is_packet_head = kind == 3'b100 || kind == 3'b111;

  logic [ROUTE_BITS-1:0] ports;
  always_comb begin
    ports = '0;
    for (int unsigned h = 0; h <= HOPS; h++) begin
      for (int unsigned p = 0; p < PORTS; p++) begin
        ports[(HOPS-h)*PORTS+p] = 32'(route[h*PORT_BITS+:PORT_BITS]) == p;
      end
    end
  end

  logic [DATA_BITS-1:0] payload;
  always_comb begin
    payload = data;
    if (is_message_head) begin
      payload = (DATA_BITS'({ports, tree}) << MessageRoom) | (data & ~({DATA_BITS{1'b1}} << MessageRoom));
    end else if (is_packet_head) begin
      payload = (DATA_BITS'({dest, src}) << PacketRoom) | (data & ~({DATA_BITS{1'b1}} << PacketRoom));
    end
  end
  assign flit = {vc, kind, payload};
endmodule
