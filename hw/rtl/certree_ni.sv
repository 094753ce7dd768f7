// Network interface that executes the tables of certree in slots, profile `trees` (CONTRACT.md). All widths come from certree_ni_pkg.
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
    input  logic                          psel, penable, pwrite,
    input  logic [23:0]                   paddr,
    input  logic [31:0]                   pwdata,
    output logic [31:0]                   prdata,
    output logic                          pready, pslverr,
    // links out
    output logic [TX-1:0]                 tx_valid, tx_first, tx_last,
    output logic [TX*HEADER_BITS-1:0]     tx_header,
    output logic [TX*DATA_BITS-1:0]       tx_data,
    // links in
    input  logic [RX-1:0]                 rx_valid, rx_first,
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
    output logic [ADDR_BITS-1:0]          sum_read_addr, sum_staged_addr,
    input  logic [GRANULES*DATA_BITS-1:0] sum_read_data,
    input  logic [GRANULES*DATA_BITS-1:0] sum_staged_data,
    output logic                          sum_write_valid,
    input  logic                          sum_write_ready,
    output logic [ADDR_BITS-1:0]          sum_write_addr,
    output logic [GRANULES*DATA_BITS-1:0] sum_write_data,
    output logic [GRANULES-1:0]           sum_write_granules,
    // status, and what happened in the cycle before
    output logic                          is_done, has_error,
    output logic [certree_ni_pkg::WINDOW_ROWS-1:0] fired,       // by place in the window
    output logic [certree_ni_pkg::WINDOW_ROWS-1:0] fired_from,  // the place at which their order begins, one bit for each place
    output logic [certree_ni_pkg::WINDOW_ROWS*certree_ni_pkg::ROW_INDEX_BITS-1:0] fired_row,
    output logic [certree_ni_pkg::WINDOW_ROWS*certree_ni_pkg::ITERATION_BITS-1:0] fired_iteration,
    output logic [RX:0]                   counted,
    output logic [(RX+1)*certree_ni_pkg::LINE_BITS-1:0]  counted_line,
    output logic [(RX+1)*certree_ni_pkg::COUNT_BITS-1:0] counted_to
);
  localparam int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS, INDEX_BITS = certree_ni_pkg::ROW_INDEX_BITS;
  localparam int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS, COUNT_BITS = certree_ni_pkg::COUNT_BITS;
  localparam int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS, KEY_BITS = certree_ni_pkg::ARRIVAL_BITS;
  localparam int unsigned FLOW_BITS = certree_ni_pkg::FLOW_BITS, SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS;
  localparam int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS, WAIT_BITS = certree_ni_pkg::WAIT_LINES_BITS;
  localparam int unsigned BACKLOG_BITS = certree_ni_pkg::BACKLOG_BITS, ROUTE_BITS = certree_ni_pkg::ROUTE_BITS;
  localparam int unsigned ROUTE_DEPTH_BITS = certree_ni_pkg::ROUTE_DEPTH_BITS, CYCLE_BITS = certree_ni_pkg::CYCLE_BITS;
  localparam int unsigned FIRED_BITS = certree_ni_pkg::FIRED_BITS, TOTAL_BITS = certree_ni_pkg::TOTAL_BITS;
  localparam int unsigned LATE_BITS = $clog2(ROWS + 1);
  // What a message says but for its line and source, and what the window keeps of a row: its number and lanes; in bundles, where lanes
  // are chosen when it fires, its messages as well.
  localparam int unsigned COMMON_BITS = ROUTE_BITS + ADDR_BITS + 1 + 2 + FLOW_BITS;
  localparam bit IS_SINGLE = certree_ni_pkg::BUNDLE_LANES == 1;
  localparam int unsigned ENTRY_BITS = INDEX_BITS + TX + (IS_SINGLE ? 0 : COMMON_BITS + TX * LINE_BITS);

  // Registers, the image that is loaded, and the banks.
  logic load, arm, start, clear, is_word, write_header, write_crc, write_row, write_arrival, write_route;
  logic is_taken, is_loading, is_loaded, is_wrong, is_armed, is_ahead, is_refused, is_missed, goes_ahead, begins, is_idle;
  logic open_bank, load_bank, is_over, takes_over, is_open, is_first;
  logic [3:0] header_word;
  logic [CYCLE_BITS-1:0] skew, slot_cycles;
  logic [NODE_BITS-1:0] node, mixed_source;
  logic [TX*NODE_BITS-1:0] peer;
  logic [15:0] epoch;
  logic [INDEX_BITS:0] next_rows, read_rows;
  logic [LINE_BITS:0] arrivals, next_arrivals;
  logic [ROUTE_DEPTH_BITS:0] next_routes;
  logic [FIRED_BITS-1:0] firings, read_firings, rows_fired, rows_fired_next;
  logic [TOTAL_BITS-1:0] counts, total_next;
  logic [SLOT_BITS-1:0] boundary, read_period, slot;
  logic [COUNT_BITS-1:0] repeats, read_repeats;
  logic [LATE_BITS-1:0] late_rows, rows_now;
  // verilator lint_off UNUSEDSIGNAL
  logic [15:0] write_index;
  logic [certree_ni_pkg::WINDOW_WORDS*32-1:0] write_entry;
  // verilator lint_on UNUSEDSIGNAL
  logic [9:0] errors;
  wire restart = rst || clear;

  certree_ni_registers registers (
      .clk, .rst, .psel, .penable, .pwrite, .paddr, .pwdata, .prdata, .pready, .pslverr,
      .load, .arm, .start, .clear, .skew, .node, .peer,
      .is_word, .write_header, .header_word, .write_crc, .write_row, .write_arrival, .write_route, .write_index, .write_entry,
      .is_taken, .is_loaded, .is_armed, .is_open, .is_done, .open_bank, .epoch, .slot, .late_rows, .errors, .mixed_source
  );
  certree_ni_loader loader (
      .clk, .rst(restart), .load, .drop(takes_over), .is_word, .word(pwdata), .is_taken, .write_row, .write_arrival, .write_route,
      .write_index, .rows(next_rows), .arrivals(next_arrivals), .routes(next_routes), .write_crc, .is_loading, .is_loaded, .is_wrong
  );
  certree_ni_banks banks (
      .clk, .rst(restart), .arm, .write_header, .header_word, .word(pwdata), .is_loading, .is_loaded,
      .is_finished(is_idle && rows_fired == firings), .is_over, .takes_over, .open_bank, .load_bank, .is_armed, .is_ahead, .goes_ahead, .begins,
      .is_refused, .is_missed, .epoch, .arrivals, .firings, .counts, .slot_cycles, .repeats, .boundary, .next_rows, .next_arrivals,
      .next_routes, .read_rows, .read_firings, .read_period, .read_repeats
  );
  wire read_bank = open_bank ^ is_ahead;

  certree_ni_slots slots (
      .clk, .rst(restart), .start, .skew, .slot_cycles, .boundary, .is_ready(is_ahead), .is_open, .is_first, .slot,
      .is_over, .takes_over
  );

  // Arrivals of this cycle: copies by lane, then the sum.
  logic [RX-1:0] comes, is_complete, is_reduce, place, is_unexpected, is_mixed, is_overrun, is_staged, has_two, has_more;
  logic [RX*LINE_BITS-1:0] line;
  logic [RX*NODE_BITS-1:0] source;
  logic [RX*ADDR_BITS-1:0] addr;
  logic                         is_summed, is_exceeded;
  logic [LINE_BITS-1:0]         summed_line, look_line;
  logic [COUNT_BITS-1:0]        look_count;
  logic [(RX+1)*COUNT_BITS-1:0] arrive_count;
  wire [RX:0]                   arrive = {is_summed, is_complete & ~is_reduce};
  wire [(RX+1)*LINE_BITS-1:0]   arrive_line = {summed_line, line};
  wire [RX:0]                   seen = is_ahead ? '0 : arrive;  // by the rows that are read, which are of another bank when ahead
  certree_ni_scoreboard scoreboard (
      .clk, .rst(restart), .open_bank, .takes_over, .repeats, .set_zero(write_arrival), .zero_bank(load_bank),
      .zero_line(write_index[LINE_BITS-1:0]), .begins(comes & ~is_reduce), .arrive(arrive[RX-1:0]), .line,
      .count(arrive_count[RX*COUNT_BITS-1:0]), .sum_arrive(is_summed), .sum_line(summed_line),
      .sum_count(arrive_count[RX*COUNT_BITS+:COUNT_BITS]), .look_bank(read_bank), .look_line, .look_count, .total_next, .is_exceeded
  );

  // Rows: read in order, kept in the window until they fire.
  logic read, parity_error, push, is_full, has_bad_parity, has_bad_op;
  logic [INDEX_BITS-1:0] read_index;
  // verilator lint_off UNUSEDSIGNAL
  logic [certree_ni_pkg::SLOT_ROW_BITS-1:0] table_row;
  // verilator lint_on UNUSEDSIGNAL
  logic [SLOT_BITS-1:0] push_slot;
  logic [ITERATION_BITS-1:0] push_iteration;
  logic [WAIT_BITS-1:0] push_missing;
  certree_ni_table #(.DEPTH(2 << INDEX_BITS), .BITS(certree_ni_pkg::SLOT_ROW_BITS), .INDEX_BITS(INDEX_BITS + 1)) row_table (
      .clk, .write(write_row), .write_index({load_bank, write_index[INDEX_BITS-1:0]}),
      .write_entry(write_entry[certree_ni_pkg::SLOT_ROW_BITS-1:0]), .read, .read_index({read_bank, read_index}), .entry(table_row),
      .parity_error
  );
  certree_ni_fetch fetch (
      .clk, .rst(restart || goes_ahead), .start(begins), .rows(read_rows), .firings(read_firings), .period(read_period), .repeats(read_repeats),
      .read, .read_index, .row(table_row), .parity_error, .arrive(seen), .arrive_line, .arrive_count, .look_line, .look_count,
      .is_full, .push, .is_idle, .push_slot, .push_iteration, .push_missing, .has_bad_parity, .has_bad_op
  );

  // What a row needs when it fires is worked out once, when it enters the window: the address in its iteration (D5), and the source
  // route, a line for the rows whose destination is not a neighbour; the others eject at once.
  logic [ROUTE_BITS-1:0] routes[2 << ROUTE_DEPTH_BITS];
  wire [certree_ni_pkg::ROUTE_INDEX_BITS-1:0] route = table_row[certree_ni_pkg::SLOT_ROW_ROUTE_LSB+:certree_ni_pkg::ROUTE_INDEX_BITS];
  wire [ROUTE_BITS-1:0] push_route = route == '1 ? '1 : routes[{read_bank, ROUTE_DEPTH_BITS'(route)}];
  wire [ADDR_BITS-1:0] push_addr = ADDR_BITS'(table_row[certree_ni_pkg::SLOT_ROW_ADDR_LSB+:certree_ni_pkg::TABLE_ADDR_BITS])
      + ADDR_BITS'(push_iteration) * ADDR_BITS'(certree_ni_pkg::STRIDE);
  always_ff @(posedge clk) if (write_route) routes[{load_bank, write_index[ROUTE_DEPTH_BITS-1:0]}] <= write_entry[ROUTE_BITS-1:0];

  wire [COMMON_BITS-1:0] push_common = {push_route, push_addr, epoch[0] ^ is_ahead, table_row[certree_ni_pkg::SLOT_ROW_OP_LSB+:2],
      table_row[certree_ni_pkg::SLOT_ROW_FLOW_LSB+:FLOW_BITS]};
  wire [TX*LINE_BITS-1:0] push_line = table_row[certree_ni_pkg::SLOT_ROW_LINE_LSB+:TX*LINE_BITS];
  wire [TX-1:0] push_lanes = table_row[certree_ni_pkg::SLOT_ROW_LANE_LSB+:TX];

  logic [ROWS-1:0] first, has_lanes, fire, is_late;
  logic [ROWS*ENTRY_BITS-1:0] entry;
  logic [ROWS*TX-1:0] row_lanes, sends;
  logic [ROWS*INDEX_BITS-1:0] row_number;
  logic [ROWS*ITERATION_BITS-1:0] iteration;
  certree_ni_window #(.ROW_BITS(ENTRY_BITS)) window (
      .clk, .rst(restart), .is_open(is_open && !is_ahead), .is_first, .slot, .push,
      .push_row(ENTRY_BITS'({push_common, push_line, push_lanes, table_row[certree_ni_pkg::SLOT_ROW_ROW_LSB+:INDEX_BITS]})),
      .push_slot, .push_iteration, .push_line(table_row[certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS]),
      .push_lines(table_row[certree_ni_pkg::SLOT_ROW_WAIT_LINES_LSB+:WAIT_BITS]), .push_missing, .is_full, .arrive(seen), .arrive_line,
      .arrive_count, .first, .has_lanes, .fire, .is_late, .row(entry), .iteration
  );
  for (genvar w = 0; w < ROWS; w++) begin : g_rows
    assign {row_lanes[w*TX+:TX], row_number[w*INDEX_BITS+:INDEX_BITS]} = entry[w*ENTRY_BITS+:TX+INDEX_BITS];
  end

  logic [TX*BACKLOG_BITS-1:0] backlog;
  logic [TX-1:0] lane_is_full;
  certree_ni_allocator allocator (
      .first, .goes_to(row_lanes), .peer, .backlog, .is_full(lane_is_full), .has_lanes, .chosen(sends)
  );

  // Messages are written to their lane when the row enters the window, in bundles when it fires.
  for (genvar l = 0; l < TX; l++) begin : g_lanes
    logic [COMMON_BITS-1:0] common;
    logic [LINE_BITS-1:0] its_line;
    logic write, enqueue;
    always_comb begin
      enqueue = 1'b0;
      for (int unsigned w = 0; w < ROWS; w++) enqueue = enqueue || (fire[w] && sends[w*TX+l]);
    end
    if (IS_SINGLE) begin : g_early
      assign write = push && push_lanes[l];
      assign {common, its_line} = {push_common, push_line[l*LINE_BITS+:LINE_BITS]};
    end else begin : g_late
      assign write = enqueue;
      always_comb begin
        {common, its_line} = '0;
        for (int unsigned w = 0; w < ROWS; w++) begin
          if (fire[w] && sends[w*TX+l]) {common, its_line} = {
            entry[w*ENTRY_BITS+ENTRY_BITS-1-:COMMON_BITS], entry[w*ENTRY_BITS+INDEX_BITS+TX+l*LINE_BITS+:LINE_BITS]
          };
        end
      end
    end
    certree_ni_lane lane (
        .clk, .rst(restart), .node, .write, .header({common[COMMON_BITS-1-:ROUTE_BITS], its_line, common[COMMON_BITS-ROUTE_BITS-1:0]}),
        .enqueue, .is_full(lane_is_full[l]), .backlog(backlog[l*BACKLOG_BITS+:BACKLOG_BITS]),
        .read_valid(read_valid[l]), .read_ready(read_ready[l]), .read_addr(read_addr[l*ADDR_BITS+:ADDR_BITS]),
        .read_data(read_data[l*DATA_BITS+:DATA_BITS]),
        .tx_valid(tx_valid[l]), .tx_first(tx_first[l]), .tx_last(tx_last[l]),
        .tx_header(tx_header[l*HEADER_BITS+:HEADER_BITS]), .tx_data(tx_data[l*DATA_BITS+:DATA_BITS])
    );
  end

  // List of expected arrivals: what each line is.
  logic [KEY_BITS-1:0] keys[2 << LINE_BITS];
  always_ff @(posedge clk) if (write_arrival) keys[{load_bank, write_index[LINE_BITS-1:0]}] <= write_entry[KEY_BITS-1:0];

  for (genvar l = 0; l < RX; l++) begin : g_receivers
    logic [LINE_BITS-1:0] key_line;
    certree_ni_receiver #(.LANE(l)) receiver (
        .clk, .rst(restart), .arrivals, .epoch(epoch[0]), .takes_over,
        .rx_valid(rx_valid[l]), .rx_first(rx_first[l]), .rx_header(rx_header[l*HEADER_BITS+:HEADER_BITS]),
        .rx_data(rx_data[l*DATA_BITS+:DATA_BITS]), .look_line(key_line), .look_key(keys[{open_bank, key_line}]),
        .write_valid(write_valid[l]), .write_ready(write_ready[l]), .write_addr(write_addr[l*ADDR_BITS+:ADDR_BITS]),
        .write_data(write_data[l*DATA_BITS+:DATA_BITS]),
        .begins(comes[l]), .is_complete(is_complete[l]), .is_reduce(is_reduce[l]), .line(line[l*LINE_BITS+:LINE_BITS]),
        .source(source[l*NODE_BITS+:NODE_BITS]), .addr(addr[l*ADDR_BITS+:ADDR_BITS]), .place(place[l]),
        .is_unexpected(is_unexpected[l]), .is_mixed(is_mixed[l]), .is_overrun(is_overrun[l])
    );
    assign is_staged[l] = write_valid[l] && is_reduce[l];
  end

  certree_ni_reducer reducer (
      .clk, .rst(restart || takes_over), .push(is_complete & is_reduce), .push_line(line), .push_addr(addr), .push_place(place),
      .read_valid(sum_read_valid), .read_ready(sum_read_ready), .read_addr(sum_read_addr), .read_staged_addr(sum_staged_addr),
      .read_data(sum_read_data), .read_staged_data(sum_staged_data),
      .write_valid(sum_write_valid), .write_ready(sum_write_ready), .write_addr(sum_write_addr), .write_data(sum_write_data),
      .write_granules(sum_write_granules), .is_done(is_summed), .done_line(summed_line), .has_two, .has_more
  );

  // Errors, and events for whoever watches.
  wire [RX-1:0] mixed = is_mixed | (takes_over ? has_more : '0);
  always_comb begin
    late_rows = '0;
    rows_now = '0;
    for (int unsigned w = 0; w < ROWS; w++) begin
      late_rows = late_rows + LATE_BITS'(is_late[w]);
      rows_now = rows_now + LATE_BITS'(fire[w]);
    end
    mixed_source = '0;
    for (int unsigned l = RX; l > 0; l--) if (mixed[l-1]) mixed_source = source[(l-1)*NODE_BITS+:NODE_BITS];
  end
  assign errors = {
    is_missed, |mixed, is_wrong || is_refused, (is_staged & has_two) != 0, |is_overrun, is_exceeded, |is_unexpected, has_bad_op,
    has_bad_parity, |is_late
  };
  assign rows_fired_next = rows_fired + FIRED_BITS'(rows_now);

  always_ff @(posedge clk) begin
    if (restart) begin
      rows_fired <= '0;
      is_done <= 1'b0;
      has_error <= 1'b0;
      fired <= '0;
      counted <= '0;
    end else begin
      rows_fired <= takes_over ? '0 : rows_fired_next;
      is_done <= rows_fired_next == firings && total_next == counts;
      has_error <= has_error || errors != 0;
      fired <= fire;
      counted <= arrive;
    end
    fired_from <= first;
    fired_row <= row_number;
    fired_iteration <= iteration;
    counted_line <= arrive_line;
    counted_to <= arrive_count;
  end
endmodule
