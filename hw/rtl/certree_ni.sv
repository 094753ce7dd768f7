// Network interface that executes the tables of certree, in slots or in lockstep (CONTRACT.md). Profile, control and all widths come from
// certree_ni_pkg.
module certree_ni #(
    parameter int unsigned TX = certree_ni_pkg::TX_LANES,
    parameter int unsigned RX = certree_ni_pkg::RX_LANES,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned DATA_BITS = certree_ni_pkg::GRANULE_BITS,
    parameter int unsigned HEADER_BITS = certree_ni_pkg::HEADER_BITS,
    parameter int unsigned GRANULES = certree_ni_pkg::SUM_GRANULES,
    parameter int unsigned READS = certree_ni_pkg::READ_PORTS,
    parameter int unsigned WRITES = certree_ni_pkg::WRITE_PORTS
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
    // memory: what the outgoing lanes and then the copy unit read, what that unit and then the incoming lanes write
    output logic [READS-1:0]              read_valid,
    input  logic [READS-1:0]              read_ready,
    output logic [READS*ADDR_BITS-1:0]    read_addr,
    input  logic [READS*DATA_BITS-1:0]    read_data,
    output logic [WRITES-1:0]             write_valid,
    input  logic [WRITES-1:0]             write_ready,
    output logic [WRITES*ADDR_BITS-1:0]   write_addr,
    output logic [WRITES*DATA_BITS-1:0]   write_data,
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
    output logic [WRITES:0]               counted,
    output logic [(WRITES+1)*certree_ni_pkg::LINE_BITS-1:0]  counted_line,
    output logic [(WRITES+1)*certree_ni_pkg::COUNT_BITS-1:0] counted_to  // the iteration from 1 on
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
  localparam bit IS_COUNTED = certree_ni_pkg::PROFILE != 0, HAS_SIZES = certree_ni_pkg::HAS_SIZES != 0;
  localparam bit HAS_BUFFERS = certree_ni_pkg::HEADER_BUFFER_LSB != 0;
  localparam int unsigned COPIES = certree_ni_pkg::COPY_UNITS;
  localparam int unsigned BUFFER_BITS = certree_ni_pkg::BUFFER_BITS, SIZE_BITS = certree_ni_pkg::SIZE_BITS;
  localparam int unsigned NAMED_BITS = (HAS_SIZES ? SIZE_BITS : 0) + (IS_COUNTED ? ITERATION_BITS : 0) + (HAS_BUFFERS ? BUFFER_BITS : 0);
  localparam int unsigned COMMON_BITS = ROUTE_BITS + ADDR_BITS + NAMED_BITS + 1 + 2 + FLOW_BITS;
  localparam int unsigned CELL_BITS = LINE_BITS + certree_ni_pkg::TURN_BITS, NEED_BITS = certree_ni_pkg::CELL_COUNT_BITS;
  localparam bit IS_SINGLE = certree_ni_pkg::BUNDLE_LANES == 1;
  localparam int unsigned NEED_LSB = INDEX_BITS + TX, MESSAGE_LSB = NEED_LSB + (IS_COUNTED ? CELL_BITS + NEED_BITS : 0);
  localparam int unsigned MESSAGE_BITS = COMMON_BITS + TX * LINE_BITS, ENTRY_BITS = MESSAGE_LSB + (IS_SINGLE ? 0 : MESSAGE_BITS);

  // Registers, the image that is loaded, and the banks.
  logic load, arm, start, clear, is_word, write_header, write_crc, write_row, write_arrival, write_route;
  logic is_taken, is_loading, is_loaded, is_wrong, is_armed, is_ahead, is_refused, is_missed, goes_ahead, begins, is_idle;
  logic open_bank, load_bank, is_over, takes_over, stops, is_open, is_first;
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
  logic [SLOT_BITS-1:0] read_period, slot;
  logic [COUNT_BITS-1:0] repeats, read_repeats;
  logic [LATE_BITS-1:0] late_rows, rows_now;
  // verilator lint_off UNUSEDSIGNAL
  logic has_row, is_adding, is_moving;  // the last two in lockstep
  logic [SLOT_BITS-1:0] row_slot, boundary;
  logic [15:0] write_index;
  logic [certree_ni_pkg::WINDOW_WORDS*32-1:0] write_entry;
  // verilator lint_on UNUSEDSIGNAL
  logic [9:0] errors;
  wire restart = rst || clear;

  certree_ni_registers registers (
      .clk, .rst, .psel, .penable, .pwrite, .paddr, .pwdata, .prdata, .pready, .pslverr,
      .load, .arm, .start, .clear, .skew, .node, .peer,
      .is_word, .write_header, .header_word, .write_crc, .write_row, .write_arrival, .write_route, .write_index, .write_entry,
      .is_taken, .is_loaded, .stops, .is_armed, .is_open, .is_done, .open_bank, .epoch, .slot, .late_rows, .errors, .mixed_source
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

  // What tells rows when to fire. In lockstep there is no boundary: the next tables open when the node is done with its own.
  logic [TX*BACKLOG_BITS-1:0] backlog;
  if (certree_ni_pkg::IS_LOCKSTEP != 0) begin : g_lockstep
    certree_ni_lockstep lockstep (
        .clk, .rst(restart), .start, .skew, .step_cycles(slot_cycles), .has_row, .row_step(row_slot), .backlog, .is_adding, .is_moving,
        .is_ready(is_ahead), .is_done, .takes_over, .is_open, .step(slot)
    );
    assign {is_first, is_over, stops} = {1'b1, takes_over, takes_over};
  end else begin : g_slots
    certree_ni_slots slots (
        .clk, .rst(restart), .start, .skew, .slot_cycles, .boundary, .is_ready(is_ahead), .is_open, .is_first, .slot,
        .is_over, .takes_over
    );
    assign stops = 1'b0;
  end

  // Arrivals of this cycle: copies by lane, those within the node first, then the sum.
  logic [WRITES-1:0] comes, is_complete, is_reduce, is_unexpected, is_mixed, is_overrun, is_staged, is_crowded, has_more;
  logic [WRITES*certree_ni_pkg::STAGED_CHUNK_BITS-1:0] place;
  logic [WRITES*LINE_BITS-1:0] line;
  logic [WRITES*ITERATION_BITS-1:0] its_iteration;
  logic [WRITES*NODE_BITS-1:0] source;
  logic [WRITES*ADDR_BITS-1:0] addr;
  logic                         is_summed, is_exceeded;
  logic [LINE_BITS-1:0]         summed_line, look_line;
  logic [ITERATION_BITS-1:0]    summed_iteration;
  logic [COUNT_BITS-1:0]        look_count;
  logic [(WRITES+1)*COUNT_BITS-1:0] arrive_count;
  logic [ROWS-1:0]              has_data;
  // verilator lint_off UNUSEDSIGNAL
  logic [CELL_BITS-1:0]         push_cell;
  logic [NEED_BITS-1:0]         push_need;
  // verilator lint_on UNUSEDSIGNAL
  logic [ROWS*CELL_BITS-1:0]    cell_of_row;
  logic [ROWS*NEED_BITS-1:0]    need;
  wire [WRITES:0]               arrive = {is_summed, is_complete & ~is_reduce};
  wire [(WRITES+1)*LINE_BITS-1:0] arrive_line = {summed_line, line};
  wire [(WRITES+1)*ITERATION_BITS-1:0] arrive_iteration = {summed_iteration, its_iteration};
  wire [WRITES:0]               seen = is_ahead || IS_COUNTED ? '0 : arrive;  // by the rows that are read, which are of another bank when ahead
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
  logic [ADDR_BITS-1:0] push_addr;
  certree_ni_place place_of_row (
      .table_addr(table_row[certree_ni_pkg::SLOT_ROW_ADDR_LSB+:certree_ni_pkg::TABLE_ADDR_BITS]), .iteration(push_iteration), .addr(push_addr)
  );
  always_ff @(posedge clk) if (write_route) routes[{load_bank, write_index[ROUTE_DEPTH_BITS-1:0]}] <= write_entry[ROUTE_BITS-1:0];

  wire [ADDR_BITS+NAMED_BITS-1:0] push_named;
  if (!IS_COUNTED) begin : g_of_trees
    assign push_named = push_addr;
  end else if (HAS_SIZES) begin : g_of_sizes
    assign push_named = {push_addr, table_row[certree_ni_pkg::SLOT_ROW_SIZE_LSB+:SIZE_BITS], push_iteration};
  end else if (HAS_BUFFERS) begin : g_of_buffers
    assign push_named = {push_addr, push_iteration, table_row[certree_ni_pkg::SLOT_ROW_DST_BUFFER_LSB+:BUFFER_BITS]};
  end else begin : g_of_blocks
    assign push_named = {push_addr, push_iteration};
  end
  wire [COMMON_BITS-1:0] push_common = {push_route, push_named, epoch[0] ^ is_ahead, table_row[certree_ni_pkg::SLOT_ROW_OP_LSB+:2],
      table_row[certree_ni_pkg::SLOT_ROW_FLOW_LSB+:FLOW_BITS]};
  wire [TX*LINE_BITS-1:0] push_line = table_row[certree_ni_pkg::SLOT_ROW_LINE_LSB+:TX*LINE_BITS];
  wire [TX-1:0] push_lanes = table_row[certree_ni_pkg::SLOT_ROW_LANE_LSB+:TX];

  logic [ROWS-1:0] first, has_lanes, has_all, fire, is_late;
  logic [ROWS*ENTRY_BITS-1:0] entry;
  logic [ROWS*MESSAGE_BITS-1:0] message;
  logic [ROWS*TX-1:0] row_lanes, sends;
  logic [ROWS*INDEX_BITS-1:0] row_number;
  logic [ROWS*ITERATION_BITS-1:0] iteration;
  logic [ENTRY_BITS-1:0] push_entry;
  if (IS_COUNTED) begin : g_need
    assign push_entry = ENTRY_BITS'({push_common, push_line, push_need, push_cell, push_lanes, table_row[certree_ni_pkg::SLOT_ROW_ROW_LSB+:INDEX_BITS]});
  end else begin : g_no_need
    assign push_entry = ENTRY_BITS'({push_common, push_line, push_lanes, table_row[certree_ni_pkg::SLOT_ROW_ROW_LSB+:INDEX_BITS]});
  end
  certree_ni_window #(.ROW_BITS(ENTRY_BITS)) window (
      .clk, .rst(restart), .is_open(is_open && !is_ahead), .is_first, .slot, .push,
      .push_row(push_entry),
      .push_slot, .push_iteration, .push_line(table_row[certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS]),
      .push_lines(IS_COUNTED ? '0 : table_row[certree_ni_pkg::SLOT_ROW_WAIT_LINES_LSB+:WAIT_BITS]), .push_missing, .is_full, .arrive(seen), .arrive_line,
      .arrive_count, .first, .has_row, .row_slot, .has_lanes(has_all), .fire, .is_late, .row(entry), .iteration
  );
  for (genvar w = 0; w < ROWS; w++) begin : g_rows
    assign {row_lanes[w*TX+:TX], row_number[w*INDEX_BITS+:INDEX_BITS]} = entry[w*ENTRY_BITS+:TX+INDEX_BITS];
    if (IS_SINGLE) begin : g_early
      assign message[w*MESSAGE_BITS+:MESSAGE_BITS] = '0;  // it was written when the row came
    end else begin : g_late
      assign message[w*MESSAGE_BITS+:MESSAGE_BITS] = entry[w*ENTRY_BITS+MESSAGE_LSB+:MESSAGE_BITS];
    end
    if (IS_COUNTED) begin : g_cell
      assign {need[w*NEED_BITS+:NEED_BITS], cell_of_row[w*CELL_BITS+:CELL_BITS]} = entry[w*ENTRY_BITS+NEED_LSB+:CELL_BITS+NEED_BITS];
    end else begin : g_no_cell
      assign {need[w*NEED_BITS+:NEED_BITS], cell_of_row[w*CELL_BITS+:CELL_BITS]} = '0;
    end
  end

  certree_ni_counters counters (
      .clk, .rst(restart), .open_bank, .takes_over, .repeats, .set_line(write_arrival), .line_bank(load_bank),
      .set_index(write_index[LINE_BITS-1:0]), .entry(write_entry[KEY_BITS-1:0]), .begins(comes & ~is_reduce), .arrive, .arrive_line,
      .arrive_iteration, .arrive_count, .read_bank, .look_line, .look_count,
      .push_line(table_row[certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS]),
      .push_wait(table_row[certree_ni_pkg::SLOT_ROW_NEED_LSB+:certree_ni_pkg::WAIT_COUNT_BITS]), .push_iteration, .push_cell, .push_need,
      .cell_of_row, .need, .has_data, .total_next, .is_exceeded
  );

  logic [TX-1:0] lane_is_full;
  certree_ni_allocator allocator (
      .first, .goes_to(row_lanes), .peer, .backlog, .is_full(lane_is_full), .has_lanes, .chosen(sends)
  );

  // Rows that name no lane move data within the node.
  logic copies_are_full;
  logic [ROWS-1:0] is_local;
  always_comb begin
    for (int unsigned w = 0; w < ROWS; w++) is_local[w] = row_lanes[w*TX+:TX] == 0;
  end
  assign has_all = has_lanes & has_data & ~(is_local & {ROWS{copies_are_full}});

  // Messages go to their lanes and to the copy unit, whose flits come back in the same cycle.
  // verilator lint_off UNUSEDSIGNAL
  logic is_moved, moved_first;
  logic [HEADER_BITS-1:0] moved_header;
  logic [DATA_BITS-1:0] moved_data;
  // verilator lint_on UNUSEDSIGNAL
  certree_ni_outputs #(.COMMON_BITS(COMMON_BITS)) outputs (
      .clk, .rst(restart), .node, .push, .push_common, .push_line, .push_lanes, .fire, .sends, .is_local, .message, .lane_is_full,
      .copies_are_full, .backlog, .is_moving, .read_valid, .read_ready, .read_addr, .read_data, .tx_valid, .tx_first, .tx_last, .tx_header,
      .tx_data, .is_moved, .moved_first, .moved_header, .moved_data
  );
  logic [WRITES-1:0] in_valid, in_first;
  logic [WRITES*HEADER_BITS-1:0] in_header;
  logic [WRITES*DATA_BITS-1:0] in_data;
  if (COPIES != 0) begin : g_copies
    assign {in_valid, in_first} = {rx_valid, is_moved, rx_first, moved_first};
    assign {in_header, in_data} = {rx_header, moved_header, rx_data, moved_data};
  end else begin : g_no_copies
    assign {in_valid, in_first, in_header, in_data} = {rx_valid, rx_first, rx_header, rx_data};
  end

  // What a sum is for is kept as its line and its iteration.
  localparam int unsigned SUM_BITS = ITERATION_BITS + LINE_BITS;
  logic [WRITES*SUM_BITS-1:0] sum_of;
  certree_ni_inputs #(.PORTS(WRITES)) inputs (
      .clk, .rst(restart), .arrivals, .epoch(epoch[0]), .open_bank, .takes_over, .set_line(write_arrival), .line_bank(load_bank),
      .set_index(write_index[LINE_BITS-1:0]), .key(write_entry[KEY_BITS-1:0]), .in_valid, .in_first, .in_header, .in_data,
      .write_valid, .write_ready, .write_addr, .write_data, .comes, .is_complete, .is_reduce, .is_staged, .line,
      .iteration(its_iteration), .sum_of, .source, .addr, .place, .is_unexpected, .is_mixed, .is_overrun
  );
  certree_ni_reducer #(.LINE_BITS(SUM_BITS)) reducer (
      .clk, .rst(restart || takes_over), .push(is_complete & is_reduce), .push_line(sum_of), .push_addr(addr), .push_place(place),
      .read_valid(sum_read_valid), .read_ready(sum_read_ready), .read_addr(sum_read_addr), .read_staged_addr(sum_staged_addr),
      .read_data(sum_read_data), .read_staged_data(sum_staged_data),
      .write_valid(sum_write_valid), .write_ready(sum_write_ready), .write_addr(sum_write_addr), .write_data(sum_write_data),
      .write_granules(sum_write_granules), .is_done(is_summed), .done_line({summed_iteration, summed_line}), .is_adding, .is_full(is_crowded), .has_more
  );

  // Errors, and events for observers.
  wire [WRITES-1:0] mixed = is_mixed | (takes_over ? has_more : '0);
  always_comb begin
    late_rows = '0;
    rows_now = '0;
    for (int unsigned w = 0; w < ROWS; w++) begin
      late_rows = late_rows + LATE_BITS'(is_late[w]);
      rows_now = rows_now + LATE_BITS'(fire[w]);
    end
    mixed_source = '0;
    for (int unsigned l = WRITES; l > 0; l--) if (mixed[l-1]) mixed_source = source[(l-1)*NODE_BITS+:NODE_BITS];
  end
  assign errors = {
    is_missed, |mixed, is_wrong || is_refused, (is_staged & is_crowded) != 0, |is_overrun, is_exceeded, |is_unexpected, has_bad_op,
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
      is_done <= !takes_over && rows_fired_next == firings && total_next == counts;
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

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
logic was_reset;
initial was_reset = 1'b0;
always @(posedge clk) was_reset <= was_reset | rst;
`include "certree_ni_done_properties.svh"
`endif
`ifdef CERTREE_TOP
`include "certree_ni_property.svh"
`include "certree_ni_top_properties.svh"
`include "certree_ni_done_properties.svh"
`endif
`ifdef CERTREE_TAKEOVER
`include "certree_ni_property.svh"
`include "certree_ni_takeover_properties.svh"
`include "certree_ni_done_properties.svh"
`endif
endmodule
