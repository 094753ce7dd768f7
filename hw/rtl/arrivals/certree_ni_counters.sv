// Counters of arrivals: of lines in `trees`, where a row waits for lines (A7); of cells elsewhere, where it waits for a number (A8).
// verilator lint_off UNUSEDSIGNAL
module certree_ni_counters #(
    parameter int unsigned PORTS = certree_ni_pkg::WRITE_PORTS + 1,
    parameter int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned KEY_BITS = certree_ni_pkg::ARRIVAL_BITS,
    parameter int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS,
    parameter int unsigned TOTAL_BITS = certree_ni_pkg::TOTAL_BITS,
    parameter int unsigned CELL_BITS = LINE_BITS + certree_ni_pkg::TURN_BITS,
    parameter int unsigned NEED_BITS = certree_ni_pkg::CELL_COUNT_BITS
) (
    input  logic                            clk,
    input  logic                            rst,
    input  logic                            open_bank,
    input  logic                            takes_over,
    input  logic [COUNT_BITS-1:0]           repeats,
    // the list, while it is loaded
    input  logic                            set_line,
    input  logic                            line_bank,
    input  logic [LINE_BITS-1:0]            set_index,
    input  logic [KEY_BITS-1:0]             entry,
    // arrivals of this cycle: copies by lane, then the sum
    input  logic [PORTS-2:0]                begins,        // the header of a copy comes
    input  logic [PORTS-1:0]                arrive,
    input  logic [PORTS*LINE_BITS-1:0]      arrive_line,
    input  logic [PORTS*ITERATION_BITS-1:0] arrive_iteration,
    output logic [PORTS*COUNT_BITS-1:0]     arrive_count,  // the iteration from 1 on
    // lines that a row of `trees` waits for
    input  logic                            read_bank,
    input  logic [LINE_BITS-1:0]            look_line,
    output logic [COUNT_BITS-1:0]           look_count,
    // the cell that any other row waits for, as it enters the window, and those of rows in the window
    input  logic [LINE_BITS-1:0]            push_line,
    input  logic [certree_ni_pkg::WAIT_COUNT_BITS-1:0] push_wait,
    input  logic [ITERATION_BITS-1:0]       push_iteration,
    output logic [CELL_BITS-1:0]            push_cell,
    output logic [NEED_BITS-1:0]            push_need,
    input  logic [ROWS*CELL_BITS-1:0]       cell_of_row,
    input  logic [ROWS*NEED_BITS-1:0]       need,
    output logic [ROWS-1:0]                 has_data,
    output logic [TOTAL_BITS-1:0]           total_next,
    output logic                            is_exceeded
);
  if (certree_ni_pkg::PROFILE != 0) begin : g_cells
    certree_ni_cells of_cells (
        .clk, .rst, .open_bank, .takes_over, .repeats, .set_line, .line_bank, .line(set_index),
        .of_line(entry[certree_ni_pkg::ARRIVAL_COUNT_LSB+:certree_ni_pkg::LINE_COUNT_BITS]), .arrive, .arrive_line, .arrive_iteration,
        .read_bank, .push_line, .push_wait, .push_iteration, .push_cell, .push_need, .cell_of_row, .need, .has_data, .total_next,
        .is_exceeded
    );
    for (genvar p = 0; p < PORTS; p++) begin : g_counts
      assign arrive_count[p*COUNT_BITS+:COUNT_BITS] = COUNT_BITS'(arrive_iteration[p*ITERATION_BITS+:ITERATION_BITS]) + 1'b1;
    end
    assign look_count = '0;
  end else begin : g_lines
    certree_ni_scoreboard of_lines (
        .clk, .rst, .open_bank, .takes_over, .repeats, .set_zero(set_line), .zero_bank(line_bank), .zero_line(set_index), .begins,
        .arrive(arrive[PORTS-2:0]), .line(arrive_line[(PORTS-1)*LINE_BITS-1:0]), .count(arrive_count[(PORTS-1)*COUNT_BITS-1:0]),
        .sum_arrive(arrive[PORTS-1]), .sum_line(arrive_line[(PORTS-1)*LINE_BITS+:LINE_BITS]),
        .sum_count(arrive_count[(PORTS-1)*COUNT_BITS+:COUNT_BITS]), .look_bank(read_bank), .look_line, .look_count, .total_next,
        .is_exceeded
    );
    assign {push_cell, push_need} = '0;
    assign has_data = '1;
  end
endmodule
// verilator lint_on UNUSEDSIGNAL
