// Network interface that plays the tables of certree in slots, profile `trees` (CONTRACT.md). All widths come from certree_ni_pkg.
module certree_ni #(
    parameter int unsigned TX = certree_ni_pkg::TX_LANES,
    parameter int unsigned RX = certree_ni_pkg::RX_LANES,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned GRANULES = certree_ni_pkg::SUM_GRANULES
) (
    input  logic                          clk,
    input  logic                          rst,  // synchronous
    // APB: registers and table windows
    input  logic                          psel,
    input  logic                          penable,
    input  logic                          pwrite,
    input  logic [23:0]                   paddr,
    input  logic [31:0]                   pwdata,
    output logic [31:0]                   prdata,
    output logic                          pready,
    output logic                          pslverr,
    // links out
    output logic [TX-1:0]                 tx_valid,
    output logic [TX-1:0]                 tx_first,
    output logic [TX-1:0]                 tx_last,
    output logic [TX*HEADER_BITS-1:0]     tx_header,
    output logic [TX*DATA_BITS-1:0]       tx_data,
    // links in
    input  logic [RX-1:0]                 rx_valid,
    input  logic [RX-1:0]                 rx_first,
    input  logic [RX*HEADER_BITS-1:0]     rx_header,
    input  logic [RX*DATA_BITS-1:0]       rx_data,
    // memory: what the outgoing lanes read, what the incoming lanes write
    output logic [TX-1:0]                 read_valid,
    input  logic [TX-1:0]                 read_ready,
    output logic [TX*ADDR_BITS-1:0]       read_addr,
    input  logic [TX*DATA_BITS-1:0]       read_data,
    output logic [RX-1:0]                 write_valid,
    input  logic [RX-1:0]                 write_ready,
    output logic [RX*ADDR_BITS-1:0]       write_addr,
    output logic [RX*DATA_BITS-1:0]       write_data,
    // memory: the reduction unit
    output logic                          sum_read_valid,
    input  logic                          sum_read_ready,
    output logic [ADDR_BITS-1:0]          sum_read_addr,
    output logic [ADDR_BITS-1:0]          sum_staged_addr,
    input  logic [GRANULES*DATA_BITS-1:0] sum_read_data,
    input  logic [GRANULES*DATA_BITS-1:0] sum_staged_data,
    output logic                          sum_write_valid,
    input  logic                          sum_write_ready,
    output logic [ADDR_BITS-1:0]          sum_write_addr,
    output logic [GRANULES*DATA_BITS-1:0] sum_write_data,
    output logic [GRANULES-1:0]           sum_write_granules,
    // status, and what happened in the cycle before
    output logic                          is_done,
    output logic                          has_error,
    output logic [certree_ni_pkg::WINDOW_ROWS-1:0] fired,
    output logic [certree_ni_pkg::WINDOW_ROWS*certree_ni_pkg::ROW_INDEX_BITS-1:0] fired_row,
    output logic [certree_ni_pkg::WINDOW_ROWS*certree_ni_pkg::ITERATION_BITS-1:0] fired_iteration,
    output logic [RX:0]                   counted,
    output logic [(RX+1)*certree_ni_pkg::LINE_BITS-1:0]  counted_line,
    output logic [(RX+1)*certree_ni_pkg::COUNT_BITS-1:0] counted_to
);
  localparam int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS;
  localparam int unsigned ROW_BITS = certree_ni_pkg::SLOT_ROW_BITS;
  localparam int unsigned INDEX_BITS = certree_ni_pkg::ROW_INDEX_BITS;
  localparam int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS;
  localparam int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS;
  localparam int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS;
  localparam int unsigned KEY_BITS = certree_ni_pkg::ARRIVAL_BITS;
  localparam int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS;
  localparam int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS;
  localparam int unsigned WAIT_BITS = certree_ni_pkg::WAIT_LINES_BITS;
  localparam int unsigned BACKLOG_BITS = certree_ni_pkg::BACKLOG_BITS;
  localparam int unsigned ROUTE_BITS = certree_ni_pkg::ROUTE_BITS;
  localparam int unsigned CHILDREN = certree_ni_pkg::CHILDREN;
  localparam int unsigned ENTRY_BITS = ROUTE_BITS + ADDR_BITS + CHILDREN * TX + ROW_BITS;
  localparam int unsigned CYCLE_BITS = certree_ni_pkg::CYCLE_BITS;
  localparam int unsigned FIRED_BITS = certree_ni_pkg::FIRED_BITS;
  localparam int unsigned TOTAL_BITS = certree_ni_pkg::TOTAL_BITS;
  localparam int unsigned LATE_BITS = $clog2(ROWS + 1);

  logic arm, start, clear, write_row, write_arrival, write_route;
  logic [CYCLE_BITS-1:0] skew, slot_cycles;
  logic [INDEX_BITS:0] rows;
  logic [LINE_BITS:0] arrivals;
  logic [FIRED_BITS-1:0] firings, rows_fired;
  logic [TOTAL_BITS-1:0] counts, total;
  logic [SLOT_BITS-1:0] period;
  logic [COUNT_BITS-1:0] repeats;
  logic [ADDR_BITS-1:0] staging_base;
  logic [NODE_BITS-1:0] node;
  logic [LATE_BITS-1:0] late_rows, rows_now;
  logic [TX*NODE_BITS-1:0] peer;
  // verilator lint_off UNUSEDSIGNAL
  logic [15:0] write_index;
  logic [certree_ni_pkg::WINDOW_WORDS*32-1:0] write_entry;
  // verilator lint_on UNUSEDSIGNAL
  logic is_open, is_first;
  logic [SLOT_BITS-1:0] slot;
  logic [6:0] errors;
  wire restart = rst || clear;

  certree_ni_registers registers (
      .clk, .rst, .psel, .penable, .pwrite, .paddr, .pwdata, .prdata, .pready, .pslverr,
      .arm, .start, .clear, .skew, .node, .rows, .arrivals, .firings, .counts, .slot_cycles, .period, .repeats, .staging_base, .peer,
      .write_row, .write_arrival, .write_route, .write_index, .write_entry,
      .is_open, .is_done, .slot, .late_rows, .errors
  );

  certree_ni_slots slots (.clk, .rst(restart), .start, .skew, .slot_cycles, .is_open, .is_first, .slot);

  // Arrivals of this cycle: copies by lane, then the sum.
  logic [RX:0]                arrive;
  logic [(RX+1)*LINE_BITS-1:0]  arrive_line;
  logic [(RX+1)*COUNT_BITS-1:0] arrive_count;
  logic [LINE_BITS-1:0]       look_line;
  logic [COUNT_BITS-1:0]      look_count;
  logic                       is_exceeded;
  certree_ni_scoreboard scoreboard (
      .clk, .rst(restart), .repeats, .set_zero(write_arrival), .zero_line(write_index[LINE_BITS-1:0]), .arrive, .arrive_line, .count(arrive_count), .look_line, .look_count, .total, .is_exceeded
  );

  logic read, parity_error, push, is_full, has_bad_parity, has_bad_op;
  logic [INDEX_BITS-1:0] read_index;
  logic [ROW_BITS-1:0] table_row;
  logic [SLOT_BITS-1:0] push_slot;
  logic [ITERATION_BITS-1:0] push_iteration;
  logic [WAIT_BITS-1:0] push_missing;
  certree_ni_table #(.DEPTH(certree_ni_pkg::ROWS), .BITS(ROW_BITS), .INDEX_BITS(INDEX_BITS)) row_table (
      .clk, .write(write_row), .write_index(write_index[INDEX_BITS-1:0]), .write_entry(write_entry[ROW_BITS-1:0]),
      .read, .read_index, .entry(table_row), .parity_error
  );
  certree_ni_fetch fetch (
      .clk, .rst(restart), .start(arm), .rows, .firings, .period, .repeats, .read, .read_index, .row(table_row), .parity_error,
      .arrive, .arrive_line, .arrive_count, .look_line, .look_count,
      .is_full, .push, .push_slot, .push_iteration, .push_missing, .has_bad_parity, .has_bad_op
  );

  logic [ROWS-1:0] has_lanes, may_fire, fire, is_late;
  // What a row needs when it fires is worked out once, when it enters the window: lanes to its destinations, the address in its
  // iteration (D5), and the source route, a line for the rows whose destination is not a neighbour; the others eject at once.
  logic [CHILDREN*TX-1:0] push_lanes;
  logic [ADDR_BITS-1:0] push_addr;
  logic [ROUTE_BITS-1:0] routes[certree_ni_pkg::ROUTES];
  logic [ROUTE_BITS-1:0] push_route;
  wire [certree_ni_pkg::ROUTE_INDEX_BITS-1:0] route = table_row[certree_ni_pkg::SLOT_ROW_ROUTE_LSB+:certree_ni_pkg::ROUTE_INDEX_BITS];
  always_ff @(posedge clk) if (write_route) routes[write_index[certree_ni_pkg::ROUTE_DEPTH_BITS-1:0]] <= write_entry[ROUTE_BITS-1:0];
  always_comb begin
    for (int unsigned c = 0; c < CHILDREN; c++) begin
      for (int unsigned l = 0; l < TX; l++) begin
        push_lanes[c*TX+l] = table_row[certree_ni_pkg::SLOT_ROW_NEXT_LSB+c*NODE_BITS+:NODE_BITS] == peer[l*NODE_BITS+:NODE_BITS]
            && peer[l*NODE_BITS+:NODE_BITS] != '1;
      end
    end
    push_addr = ADDR_BITS'(table_row[certree_ni_pkg::SLOT_ROW_ADDR_LSB+:certree_ni_pkg::TABLE_ADDR_BITS])
        + ADDR_BITS'(push_iteration) * ADDR_BITS'(certree_ni_pkg::STRIDE);
    push_route = route == '1 ? '1 : routes[certree_ni_pkg::ROUTE_DEPTH_BITS'(route)];
  end

  logic [ROWS*ENTRY_BITS-1:0] entry;
  logic [ROWS*ROW_BITS-1:0] row;
  logic [ROWS*CHILDREN*TX-1:0] goes_to;
  logic [ROWS*ADDR_BITS-1:0] row_addr;
  logic [ROWS*ROUTE_BITS-1:0] row_route;
  logic [ROWS*ITERATION_BITS-1:0] iteration;
  for (genvar w = 0; w < ROWS; w++) begin : g_rows
    assign {row_route[w*ROUTE_BITS+:ROUTE_BITS], row_addr[w*ADDR_BITS+:ADDR_BITS], goes_to[w*CHILDREN*TX+:CHILDREN*TX],
            row[w*ROW_BITS+:ROW_BITS]} = entry[w*ENTRY_BITS+:ENTRY_BITS];
  end
  certree_ni_window #(.ROW_BITS(ENTRY_BITS)) window (
      .clk, .rst(restart), .is_open, .is_first, .slot, .push, .push_row({push_route, push_addr, push_lanes, table_row}), .push_slot, .push_iteration, .push_missing,
      .is_full, .arrive, .arrive_line, .arrive_count, .has_lanes, .may_fire, .fire, .is_late, .row(entry), .iteration
  );

  logic [TX*BACKLOG_BITS-1:0] backlog;
  logic [TX-1:0] lane_is_full;
  logic [TX*ROWS-1:0] lane_row;
  logic [TX*LINE_BITS-1:0] lane_line;
  certree_ni_allocator allocator (
      .row, .goes_to, .may_fire, .peer, .backlog, .is_full(lane_is_full), .has_lanes, .lane_row, .lane_line
  );

  // The header of each row's messages, all but the source, which is this node.
  for (genvar l = 0; l < TX; l++) begin : g_lanes
    logic [HEADER_BITS-NODE_BITS-1:0] header;
    logic enqueue;
    always_comb begin
      header = '0;
      enqueue = 1'b0;
      for (int unsigned w = 0; w < ROWS; w++) begin
        if (lane_row[l*ROWS+w] && fire[w]) begin
          enqueue = 1'b1;
          header = {
            row_route[w*ROUTE_BITS+:ROUTE_BITS],
            lane_line[l*LINE_BITS+:LINE_BITS],
            row_addr[w*ADDR_BITS+:ADDR_BITS],
            row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_OP_LSB+:2],
            row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_FLOW_LSB+:certree_ni_pkg::FLOW_BITS]
          };
        end
      end
    end
    certree_ni_lane lane (
        .clk, .rst(restart), .node, .enqueue, .header, .is_full(lane_is_full[l]), .backlog(backlog[l*BACKLOG_BITS+:BACKLOG_BITS]),
        .read_valid(read_valid[l]), .read_ready(read_ready[l]), .read_addr(read_addr[l*ADDR_BITS+:ADDR_BITS]),
        .read_data(read_data[l*DATA_BITS+:DATA_BITS]),
        .tx_valid(tx_valid[l]), .tx_first(tx_first[l]), .tx_last(tx_last[l]),
        .tx_header(tx_header[l*HEADER_BITS+:HEADER_BITS]), .tx_data(tx_data[l*DATA_BITS+:DATA_BITS])
    );
  end

  // List of expected arrivals: what each line is.
  logic [KEY_BITS-1:0] keys[certree_ni_pkg::ARRIVALS];
  always_ff @(posedge clk) if (write_arrival) keys[write_index[LINE_BITS-1:0]] <= write_entry[KEY_BITS-1:0];

  logic [RX-1:0] is_complete, is_reduce, place, is_unexpected, is_overrun, push_sum;
  logic [RX*LINE_BITS-1:0] line;
  logic [RX*ADDR_BITS-1:0] addr;
  assign push_sum = is_complete & is_reduce;
  for (genvar l = 0; l < RX; l++) begin : g_receivers
    logic [LINE_BITS-1:0] key_line;
    certree_ni_receiver #(.LANE(l)) receiver (
        .clk, .rst(restart), .staging_base, .arrivals,
        .rx_valid(rx_valid[l]), .rx_first(rx_first[l]), .rx_header(rx_header[l*HEADER_BITS+:HEADER_BITS]),
        .rx_data(rx_data[l*DATA_BITS+:DATA_BITS]), .look_line(key_line), .look_key(keys[key_line]),
        .write_valid(write_valid[l]), .write_ready(write_ready[l]), .write_addr(write_addr[l*ADDR_BITS+:ADDR_BITS]),
        .write_data(write_data[l*DATA_BITS+:DATA_BITS]),
        .is_complete(is_complete[l]), .is_reduce(is_reduce[l]), .line(line[l*LINE_BITS+:LINE_BITS]),
        .addr(addr[l*ADDR_BITS+:ADDR_BITS]), .place(place[l]), .is_unexpected(is_unexpected[l]), .is_overrun(is_overrun[l])
    );
  end

  logic is_summed, sum_overrun;
  logic [LINE_BITS-1:0] summed_line;
  certree_ni_reducer reducer (
      .clk, .rst(restart), .staging_base, .push(push_sum), .push_line(line), .push_addr(addr),
      .push_place(place),
      .read_valid(sum_read_valid), .read_ready(sum_read_ready), .read_addr(sum_read_addr), .read_staged_addr(sum_staged_addr),
      .read_data(sum_read_data), .read_staged_data(sum_staged_data),
      .write_valid(sum_write_valid), .write_ready(sum_write_ready), .write_addr(sum_write_addr), .write_data(sum_write_data),
      .write_granules(sum_write_granules), .is_done(is_summed), .done_line(summed_line), .is_overrun(sum_overrun)
  );
  assign arrive = {is_summed, is_complete & ~is_reduce};
  assign arrive_line = {summed_line, line};

  // Errors, and events for whoever watches.
  always_comb begin
    late_rows = '0;
    rows_now = '0;
    for (int unsigned w = 0; w < ROWS; w++) begin
      late_rows = late_rows + LATE_BITS'(is_late[w]);
      rows_now = rows_now + LATE_BITS'(fire[w]);
    end
  end
  assign errors = {sum_overrun, |is_overrun, is_exceeded, |is_unexpected, has_bad_op, has_bad_parity, |is_late};
  assign is_done = rows_fired == firings && total == counts;

  always_ff @(posedge clk) begin
    if (restart) begin
      rows_fired <= '0;
      has_error <= 1'b0;
      fired <= '0;
      fired_row <= '0;
      fired_iteration <= '0;
      counted <= '0;
      counted_line <= '0;
      counted_to <= '0;
    end else begin
      rows_fired <= rows_fired + FIRED_BITS'(rows_now);
      has_error <= has_error || errors != 0;
      fired <= fire;
      for (int unsigned w = 0; w < ROWS; w++) begin
        fired_row[w*INDEX_BITS+:INDEX_BITS] <= row[w*ROW_BITS+certree_ni_pkg::SLOT_ROW_ROW_LSB+:INDEX_BITS];
      end
      fired_iteration <= iteration;
      counted <= arrive;
      counted_line <= arrive_line;
      counted_to <= arrive_count;
    end
  end
endmodule
