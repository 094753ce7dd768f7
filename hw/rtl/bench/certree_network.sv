// The links between network interfaces, with the latencies, lanes and order of the contract (M2 to M5). For simulation.
//
// A flit that enters its first lane in cycle v is on the pins of its interface in v + 1, and on those of its destination in v + lat.
// verilator lint_off BLKSEQ
// verilator lint_off UNUSEDSIGNAL
module certree_network #(
    parameter int NIS = certree_ni_pkg::NIS,
    parameter int TX = certree_ni_pkg::TX_LANES,
    parameter int RX = certree_ni_pkg::RX_LANES,
    parameter int HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int DATA_BITS = certree_ni_pkg::GRANULE_BITS
) (
    input  logic                       clk,
    input  longint                     now,
    input  logic [TX-1:0]              tx_valid [NIS],
    input  logic [TX-1:0]              tx_first [NIS],
    input  logic [TX*HEADER_BITS-1:0]  tx_header[NIS],
    input  logic [TX*DATA_BITS-1:0]    tx_data  [NIS],
    output logic [RX-1:0]              rx_valid [NIS],
    output logic [RX-1:0]              rx_first [NIS],
    output logic [RX*HEADER_BITS-1:0]  rx_header[NIS],
    output logic [RX*DATA_BITS-1:0]    rx_data  [NIS],
    output int                         faults      // a message found its lane taken, had a wrong route, or there was no room for it
);
  localparam int FLITS = certree_ni_pkg::MESSAGE_FLITS;
  localparam int HOPS = certree_ni_pkg::HOPS;
  localparam int PORT_BITS = certree_ni_pkg::PORT_BITS;
  localparam int MESSAGES = certree_tb_pkg::MESSAGES;

  typedef struct {
    logic                   is_used;
    logic                   is_asking;  // for a lane of `pair`, from `when` on
    int                     pair;
    int                     hop;
    int                     came_by;    // lane of all, by source, destination and number
    longint                 when;
    int                     ni;         // destination, once the last lane is known
    int                     lane;
    longint                 first;      // cycle in which its first flit is on the pins there
    int                     flits;      // flits delivered
    logic [HEADER_BITS-1:0] header;
  } message_t;

  message_t messages[MESSAGES];
  logic [DATA_BITS-1:0] carried[MESSAGES][FLITS];
  longint free_at[certree_tb_pkg::LANES];
  int sending[NIS*TX], sent[NIS*TX];

  initial begin
    faults = 0;
    for (int m = 0; m < MESSAGES; m++) messages[m].is_used = 0;
    for (int l = 0; l < certree_tb_pkg::LANES; l++) free_at[l] = 0;
    for (int n = 0; n < NIS; n++) rx_valid[n] = '0;
  end

  // Whether a message leaves by a port, or has no route.
  function automatic bit is_port_of(int n, logic [PORT_BITS-1:0] port, int pair);
    return port == '1 || (int'(port) < certree_tb_pkg::PORTS
        && certree_tb_pkg::PORT_PAIR[certree_tb_pkg::NODE_OF[n] * certree_tb_pkg::PORTS + int'(port)] == pair);
  endfunction

  // The flits of a message.
  function automatic int flits_of(int m);
    if (certree_ni_pkg::HAS_SIZES == 0) return FLITS;
    return certree_ni_pkg::HEAD_FLITS + int'(messages[m].header[certree_ni_pkg::HEADER_SIZE_LSB+:certree_ni_pkg::SIZE_BITS]);
  endfunction

  // The message gets lane `lane` of its pair in cycle v.
  function automatic void take(int m, int lane, longint v);
    automatic int pair = messages[m].pair, hop = messages[m].hop + 1;
    automatic logic [PORT_BITS-1:0] port = '1;
    free_at[certree_tb_pkg::PAIR_FIRST[pair] + lane] = v + longint'(flits_of(m));
    messages[m].came_by = certree_tb_pkg::PAIR_FIRST[pair] + lane;
    if (hop < HOPS) port = messages[m].header[certree_ni_pkg::HEADER_ROUTE_LSB + (HOPS - 1 - hop) * PORT_BITS +: PORT_BITS];
    messages[m].hop = hop;
    messages[m].is_asking = port != '1;
    messages[m].when = v + longint'(certree_tb_pkg::PAIR_CROSSING[pair]);
    if (port == '1) begin
      messages[m].ni = certree_tb_pkg::NI_OF[certree_tb_pkg::PAIR_DST[pair]];
      messages[m].lane = certree_tb_pkg::PAIR_RX[pair] + lane;
      messages[m].first = messages[m].when + longint'(certree_tb_pkg::END_CYCLES);
    end else begin
      messages[m].pair = certree_tb_pkg::PORT_PAIR[certree_tb_pkg::PAIR_DST[pair] * certree_tb_pkg::PORTS + int'(port)];
    end
  endfunction

  // Of the messages in transit that came before this cycle the one that goes first (M5); -1 where there is none.
  function automatic int next_in_transit();
    next_in_transit = -1;
    for (int m = 0; m < MESSAGES; m++) begin
      if (messages[m].is_used && messages[m].is_asking && messages[m].when < now
          && (next_in_transit < 0 || messages[m].when < messages[next_in_transit].when
              || (messages[m].when == messages[next_in_transit].when && messages[m].came_by < messages[next_in_transit].came_by)))
        next_in_transit = m;
    end
  endfunction

  // It takes the lane with the fewest flits left.
  function automatic void forward(int m);
    automatic int best = 0, first = certree_tb_pkg::PAIR_FIRST[messages[m].pair];
    automatic longint when = messages[m].when;
    for (int l = 1; l < certree_tb_pkg::PAIR_LANES[messages[m].pair]; l++) begin
      if (free_at[first + l] < free_at[first + best] && free_at[first + best] > when) best = l;
    end
    take(m, best, free_at[first + best] > when ? free_at[first + best] : when);
  endfunction

  always @(posedge clk) begin
    for (int m = next_in_transit(); m >= 0; m = next_in_transit()) forward(m);
    for (int n = 0; n < NIS; n++) begin
      for (int l = 0; l < TX; l++) begin
        if (tx_valid[n][l]) begin
          automatic int place = n * TX + l;
          if (tx_first[n][l]) begin
            automatic int m = 0;
            while (m < MESSAGES - 1 && messages[m].is_used) m++;
            if (messages[m].is_used) faults = faults + 1;
            messages[m].is_used = 1;
            messages[m].hop = 0;
            messages[m].flits = 0;
            messages[m].pair = certree_tb_pkg::TX_PAIR[place];
            messages[m].header = tx_header[n][l*HEADER_BITS+:HEADER_BITS];
            // a source route begins with the port of the lane itself
            if (!is_port_of(n, tx_header[n][l*HEADER_BITS+certree_ni_pkg::HEADER_ROUTE_LSB+(HOPS-1)*PORT_BITS+:PORT_BITS], messages[m].pair)) begin
              faults = faults + 1;
            end
            if (free_at[certree_tb_pkg::PAIR_FIRST[messages[m].pair] + certree_tb_pkg::TX_LANE[place]] > now - 1) faults = faults + 1;
            take(m, certree_tb_pkg::TX_LANE[place], now - 1);
            sending[place] = m;
            sent[place] = 0;
          end
          carried[sending[place]][sent[place]] = tx_data[n][l*DATA_BITS+:DATA_BITS];
          sent[place] = sent[place] + 1;
        end
      end
    end
    for (int n = 0; n < NIS; n++) begin
      rx_valid[n] <= '0;
      rx_first[n] <= '0;
    end
    for (int m = 0; m < MESSAGES; m++) begin
      if (messages[m].is_used && !messages[m].is_asking && messages[m].first + longint'(messages[m].flits) == now + 1) begin
        rx_valid[messages[m].ni][messages[m].lane] <= 1'b1;
        rx_first[messages[m].ni][messages[m].lane] <= messages[m].flits == 0;
        rx_header[messages[m].ni][messages[m].lane*HEADER_BITS+:HEADER_BITS] <= messages[m].header;
        rx_data[messages[m].ni][messages[m].lane*DATA_BITS+:DATA_BITS] <= carried[m][messages[m].flits];
        messages[m].flits = messages[m].flits + 1;
        if (messages[m].flits == flits_of(m)) messages[m].is_used = 0;
      end
    end
  end
endmodule
