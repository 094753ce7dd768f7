// Counters of tables of `blocks` and `buffers` (A8, B5): one for each line of the list, iteration modulo IN_FLIGHT, and bank.
//
// A row waits until the counter of its cell has reached a number. Each place of the window has a comparator of its own.
module certree_ni_cells #(
    parameter int unsigned PORTS = certree_ni_pkg::WRITE_PORTS + 1,
    parameter int unsigned ROWS = certree_ni_pkg::WINDOW_ROWS,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS,
    parameter int unsigned TURN_BITS = certree_ni_pkg::TURN_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::CELL_COUNT_BITS,
    parameter int unsigned WAIT_BITS = certree_ni_pkg::WAIT_COUNT_BITS,
    parameter int unsigned OF_LINE_BITS = certree_ni_pkg::LINE_COUNT_BITS,
    parameter int unsigned REPEAT_BITS = certree_ni_pkg::COUNT_BITS,
    parameter int unsigned TOTAL_BITS = certree_ni_pkg::TOTAL_BITS,
    parameter int unsigned CELL_BITS = LINE_BITS + TURN_BITS
) (
    input  logic                            clk,
    input  logic                            rst,
    input  logic                            open_bank,    // whose arrivals come
    input  logic                            takes_over,   // the other bank opens with the next cycle
    input  logic [REPEAT_BITS-1:0]          repeats,      // of the open bank
    // while the list is loaded
    input  logic                            set_line,
    input  logic                            line_bank,
    input  logic [LINE_BITS-1:0]            line,
    input  logic [OF_LINE_BITS-1:0]         of_line,      // its arrivals in an iteration
    // arrivals at the end of this cycle
    input  logic [PORTS-1:0]                arrive,
    input  logic [PORTS*LINE_BITS-1:0]      arrive_line,
    input  logic [PORTS*ITERATION_BITS-1:0] arrive_iteration,
    // a row that enters the window: what it waits for
    input  logic                            read_bank,
    input  logic [LINE_BITS-1:0]            push_line,
    input  logic [WAIT_BITS-1:0]            push_wait,    // arrivals of its iteration; 0: it waits for nothing
    input  logic [ITERATION_BITS-1:0]       push_iteration,
    output logic [CELL_BITS-1:0]            push_cell,
    output logic [COUNT_BITS-1:0]           push_need,    // what the counter of that cell has to reach
    // rows in the window
    input  logic [ROWS*CELL_BITS-1:0]       cell_of_row,
    input  logic [ROWS*COUNT_BITS-1:0]      need,
    output logic [ROWS-1:0]                 has_data,
    output logic [TOTAL_BITS-1:0]           total_next,   // of all lines, since the bank opened, after this cycle
    output logic                            is_exceeded   // a cell gets more than it should in all iterations
);
  localparam int unsigned TURNS = certree_ni_pkg::IN_FLIGHT;

  logic [COUNT_BITS-1:0]   count[2 << CELL_BITS];
  logic [OF_LINE_BITS-1:0] its_arrivals[2 << LINE_BITS];
  logic [TOTAL_BITS-1:0]   total;

  assign push_cell = {push_line, TURN_BITS'(32'(push_iteration) % TURNS)};
  assign push_need = push_wait == 0 ? '0
      : COUNT_BITS'((32'(push_iteration) / TURNS) * 32'(its_arrivals[{read_bank, push_line}]) + 32'(push_wait));
  always_comb begin
    for (int unsigned w = 0; w < ROWS; w++) begin
      has_data[w] = count[{read_bank, cell_of_row[w*CELL_BITS+:CELL_BITS]}] >= need[w*COUNT_BITS+:COUNT_BITS];
    end
  end

  // What the counter of each arrival reaches: others for the same cell in this cycle, on lower ports, come first.
  logic [PORTS*CELL_BITS-1:0]  cell_of;
  logic [PORTS*COUNT_BITS-1:0] reached;
  logic [31:0]                 allowed;
  always_comb begin
    total_next = total;
    is_exceeded = 1'b0;
    allowed = '0;
    for (int unsigned p = 0; p < PORTS; p++) begin
      cell_of[p*CELL_BITS+:CELL_BITS] = {
        arrive_line[p*LINE_BITS+:LINE_BITS], TURN_BITS'(32'(arrive_iteration[p*ITERATION_BITS+:ITERATION_BITS]) % TURNS)
      };
      reached[p*COUNT_BITS+:COUNT_BITS] = count[{open_bank, cell_of[p*CELL_BITS+:CELL_BITS]}] + 1'b1;
      for (int unsigned other = 0; other < p; other++) begin
        if (arrive[other] && cell_of[other*CELL_BITS+:CELL_BITS] == cell_of[p*CELL_BITS+:CELL_BITS]) begin
          reached[p*COUNT_BITS+:COUNT_BITS] = reached[other*COUNT_BITS+:COUNT_BITS] + 1'b1;
        end
      end
      // iterations whose cell this is, each with all its arrivals
      allowed = (32'(repeats) + TURNS - 1 - 32'(cell_of[p*CELL_BITS+:TURN_BITS])) / TURNS
          * 32'(its_arrivals[{open_bank, arrive_line[p*LINE_BITS+:LINE_BITS]}]);
      if (arrive[p]) begin
        total_next = total_next + 1'b1;
        if (32'(reached[p*COUNT_BITS+:COUNT_BITS]) > allowed) is_exceeded = 1'b1;
      end
    end
  end

  always_ff @(posedge clk) begin
    for (int unsigned p = 0; p < PORTS; p++) begin
      if (arrive[p]) count[{open_bank, cell_of[p*CELL_BITS+:CELL_BITS]}] <= reached[p*COUNT_BITS+:COUNT_BITS];
    end
    if (set_line) begin
      its_arrivals[{line_bank, line}] <= of_line;
      for (int unsigned t = 0; t < 1 << TURN_BITS; t++) count[{line_bank, line, TURN_BITS'(t)}] <= '0;
    end
    total <= rst || takes_over ? '0 : total_next;
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_cells_properties.svh"
`endif
endmodule
