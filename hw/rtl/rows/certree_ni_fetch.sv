// Reads the rows in the order in which they fire, period after period, and hands those that are enabled to the window (E2).
//
// In period q a row serves iteration q - stage, and is disabled unless that is one of the iterations: prologue and epilogue. What a
// row waits for, sums of one flow or one copy (A3, A4), is looked up line by line; arrivals that count meanwhile are seen as well.
module certree_ni_fetch #(
    parameter int unsigned PORTS = certree_ni_pkg::WRITE_PORTS + 1,
    parameter int unsigned LINE_BITS = certree_ni_pkg::LINE_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS,
    parameter int unsigned ROW_BITS = certree_ni_pkg::SLOT_ROW_BITS,
    parameter int unsigned INDEX_BITS = certree_ni_pkg::ROW_INDEX_BITS,
    parameter int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS,
    parameter int unsigned ITERATION_BITS = certree_ni_pkg::ITERATION_BITS,
    parameter int unsigned WAIT_BITS = certree_ni_pkg::WAIT_LINES_BITS,
    parameter int unsigned FIRED_BITS = certree_ni_pkg::FIRED_BITS
) (
    input  logic                        clk,
    input  logic                        rst,
    input  logic                        start,
    input  logic [INDEX_BITS:0]         rows,         // of this node
    input  logic [FIRED_BITS-1:0]       firings,      // rows times iterations
    input  logic [SLOT_BITS-1:0]        period,
    input  logic [COUNT_BITS-1:0]       repeats,
    // table memory
    output logic                        read,
    output logic [INDEX_BITS-1:0]       read_index,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [ROW_BITS-1:0]         row,          // only what decides when it fires
    // verilator lint_on UNUSEDSIGNAL
    input  logic                        parity_error,
    // scoreboard
    input  logic [PORTS-1:0]            arrive,
    input  logic [PORTS*LINE_BITS-1:0]  arrive_line,
    input  logic [PORTS*COUNT_BITS-1:0] arrive_count,
    output logic [LINE_BITS-1:0]        look_line,
    input  logic [COUNT_BITS-1:0]       look_count,
    // window
    input  logic                        is_full,
    output logic                        push,
    output logic                        is_idle,         // all rows are handed over, or there is an error
    output logic [SLOT_BITS-1:0]        push_slot,       // counted from the opening of the bank
    output logic [ITERATION_BITS-1:0]   push_iteration,
    output logic [WAIT_BITS-1:0]        push_missing,    // lines that the row still waits for, after this cycle
    output logic                        has_bad_parity,
    output logic                        has_bad_op
);
  localparam int unsigned STAGE_BITS = certree_ni_pkg::STAGE_BITS;
  localparam int unsigned TURN_BITS = ITERATION_BITS + STAGE_BITS + 1;
  localparam logic [1:0] IDLE = 2'd0, READ = 2'd1, DECODE = 2'd2, LOOK = 2'd3;

  logic [1:0]            state;
  logic [INDEX_BITS-1:0] index;
  logic [TURN_BITS-1:0]  turn;       // q, the number of the period
  logic [SLOT_BITS-1:0]  turn_slot;  // its first slot
  logic [FIRED_BITS-1:0] left;       // rows to push
  logic [WAIT_BITS-1:0]  looked;     // lines looked up
  logic [WAIT_BITS-1:0]  missing;

  wire [STAGE_BITS-1:0] stage = row[certree_ni_pkg::SLOT_ROW_STAGE_LSB+:STAGE_BITS];
  wire [1:0]            op = row[certree_ni_pkg::SLOT_ROW_OP_LSB+:2];
  wire [LINE_BITS-1:0]  first_line = row[certree_ni_pkg::SLOT_ROW_WAIT_LINE_LSB+:LINE_BITS];
  // in `blocks` and `buffers` a row waits for a number of arrivals, not for lines
  wire [WAIT_BITS-1:0]  lines = certree_ni_pkg::PROFILE != 0 ? '0 : row[certree_ni_pkg::SLOT_ROW_WAIT_LINES_LSB+:WAIT_BITS];
  wire [TURN_BITS-1:0]  iteration = turn - TURN_BITS'(stage);
  wire                  is_enabled = iteration < TURN_BITS'(repeats);  // below 0 it is a large number
  wire                  is_known = op == certree_ni_pkg::OP_REDUCE || op == certree_ni_pkg::OP_GATHER;
  wire [COUNT_BITS-1:0] need = COUNT_BITS'(iteration) + 1'b1;
  wire                  is_looking = state == LOOK && looked != lines;
  wire                  is_last = (INDEX_BITS + 1)'(index) + 1'b1 == rows;

  assign is_idle = state == IDLE;
  assign read = state == READ;
  assign read_index = index;
  assign look_line = first_line + LINE_BITS'(looked);
  assign push = state == LOOK && looked == lines && !is_full;
  assign push_slot = turn_slot + SLOT_BITS'(row[certree_ni_pkg::SLOT_ROW_SLOT_LSB+:certree_ni_pkg::SLOT_BITS]);
  assign push_iteration = iteration[ITERATION_BITS-1:0];

  // The line that becomes complete in this cycle, one at most: one looked up before, or that which is looked up now.
  logic                 is_fresh, is_here;
  wire                  has_sum = arrive[PORTS-1] && arrive_count[(PORTS-1)*COUNT_BITS+:COUNT_BITS] == need;
  wire [LINE_BITS-1:0]  sum_place = arrive_line[(PORTS-1)*LINE_BITS+:LINE_BITS] - first_line;
  always_comb begin
    is_fresh = has_sum && 32'(sum_place) < 32'(looked);
    is_here = look_count >= need || (has_sum && 32'(sum_place) == 32'(looked));
    for (int unsigned p = 0; p < PORTS - 1; p++) begin
      if (arrive[p] && arrive_count[p*COUNT_BITS+:COUNT_BITS] == need && arrive_line[p*LINE_BITS+:LINE_BITS] == first_line) begin
        if (looked != 0) is_fresh = 1'b1;
        else is_here = 1'b1;
      end
    end
  end
  wire [WAIT_BITS-1:0] fresh = WAIT_BITS'(is_fresh);
  assign push_missing = missing - fresh;

  assign has_bad_parity = state == DECODE && parity_error;
  assign has_bad_op = state == DECODE && !parity_error && !is_known;

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= IDLE;
      index <= '0;
      turn <= '0;
      turn_slot <= '0;
      left <= '0;
      looked <= '0;
      missing <= '0;
    end else begin
      case (state)
        IDLE: begin
          if (start) begin
            left <= firings;
            if (firings != 0) state <= READ;
          end
        end
        READ: state <= DECODE;
        DECODE: begin
          looked <= '0;
          missing <= '0;
          if (parity_error || !is_known) state <= IDLE;  // the error register has the reason
          else if (is_enabled) state <= LOOK;
        end
        default: begin
          missing <= missing - fresh + WAIT_BITS'(is_looking && !is_here);
          if (is_looking) looked <= looked + 1'b1;
        end
      endcase
      if (push || (state == DECODE && !parity_error && is_known && !is_enabled)) begin
        index <= is_last ? '0 : index + 1'b1;
        if (is_last) begin
          turn <= turn + 1'b1;
          turn_slot <= turn_slot + period;
        end
        state <= READ;
      end
      if (push) begin
        left <= left - 1;
        if (left == 1) state <= IDLE;
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_fetch_properties.svh"
`endif
endmodule
