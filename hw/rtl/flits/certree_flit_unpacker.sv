// The bits of a flit as its fields, those that it has not zero. Ports leave as numbers, PORTS where a field of the route is not used;
// `is_legal` falls where one has several bits, or Next none.
module certree_flit_unpacker #(
    parameter  int unsigned VC_BITS    = 2,
    parameter  int unsigned NODE_BITS  = 4,
    parameter  int unsigned PORTS      = 8,
    parameter  int unsigned HOPS       = 1,
    parameter  int unsigned TREE_BITS  = 4,
    parameter  int unsigned DATA_BITS  = 128,
    localparam int unsigned PORT_BITS  = $clog2(PORTS + 1),
    localparam int unsigned ROUTE_BITS = (HOPS + 1) * PORTS,
    localparam int unsigned FLIT_BITS  = VC_BITS + 3 + DATA_BITS
) (
    input  logic [FLIT_BITS-1:0]          flit,
    output logic [VC_BITS-1:0]            vc,
    output logic [2:0]                    kind,
    output logic [NODE_BITS-1:0]          dest,
    output logic [NODE_BITS-1:0]          src,
    output logic [(HOPS+1)*PORT_BITS-1:0] route,
    output logic [TREE_BITS-1:0]          tree,
    output logic [DATA_BITS-1:0]          data,
    output logic                          is_legal
);
  localparam int unsigned MessageRoom = DATA_BITS - ROUTE_BITS - TREE_BITS;
  localparam int unsigned PacketRoom = DATA_BITS - 2 * NODE_BITS;

  logic [DATA_BITS-1:0] payload;
  assign {vc, kind, payload} = flit;
  wire is_message_head = kind == 3'b000;
  wire is_packet_head = kind == 3'b100 || kind == 3'b111;

  logic [ROUTE_BITS-1:0] ports;
  logic [PORTS-1:0] hot;
  always_comb begin
    {dest, src} = is_packet_head ? payload[DATA_BITS-1-:2*NODE_BITS] : '0;
    {ports, tree} = is_message_head ? payload[DATA_BITS-1-:ROUTE_BITS+TREE_BITS] : '0;
    data = payload;
    if (is_message_head) data = payload & ~({DATA_BITS{1'b1}} << MessageRoom);
    else if (is_packet_head) data = payload & ~({DATA_BITS{1'b1}} << PacketRoom);
    route = '0;
    is_legal = 1'b1;
    hot = '0;
    for (int unsigned h = 0; h <= HOPS; h++) begin
      hot = ports[(HOPS-h)*PORTS+:PORTS];
      if (is_message_head) begin
        route[h*PORT_BITS+:PORT_BITS] = PORT_BITS'(PORTS);
        for (int unsigned p = PORTS; p > 0; p--) if (hot[p-1]) route[h*PORT_BITS+:PORT_BITS] = PORT_BITS'(p - 1);
        if ((hot & (hot - 1'b1)) != 0 || (h == 0 && hot == 0)) is_legal = 1'b0;
      end
    end
  end
endmodule
