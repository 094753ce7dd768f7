// Registers and table windows behind an APB port of 32 bits (certree_ni.rdl). No wait states; an address that does not exist, and a
// write to what can only be read, is an error.
module certree_ni_registers #(
    parameter int unsigned LANES = certree_ni_pkg::TX_LANES,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned CYCLE_BITS = certree_ni_pkg::CYCLE_BITS,
    parameter int unsigned FIRED_BITS = certree_ni_pkg::FIRED_BITS,
    parameter int unsigned TOTAL_BITS = certree_ni_pkg::TOTAL_BITS,
    parameter int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS,
    parameter int unsigned COUNT_BITS = certree_ni_pkg::COUNT_BITS,
    parameter int unsigned ADDR_BITS = certree_ni_pkg::ADDR_BITS,
    parameter int unsigned LATE_BITS = $clog2(certree_ni_pkg::WINDOW_ROWS + 1)
) (
    input  logic                       clk,
    input  logic                       rst,
    input  logic                       psel,
    input  logic                       penable,
    input  logic                       pwrite,
    input  logic [23:0]                paddr,
    input  logic [31:0]                pwdata,
    output logic [31:0]                prdata,
    output logic                       pready,
    output logic                       pslverr,
    // control
    output logic                       arm,            // read the first rows
    output logic                       start,
    output logic                       clear,          // everything but tables and settings to its state after reset
    output logic [CYCLE_BITS-1:0]      skew,
    output logic [NODE_BITS-1:0]       node,
    output logic [certree_ni_pkg::ROW_INDEX_BITS:0] rows,
    output logic [certree_ni_pkg::LINE_BITS:0] arrivals,
    output logic [FIRED_BITS-1:0]      firings,
    output logic [TOTAL_BITS-1:0]      counts,
    output logic [CYCLE_BITS-1:0]      slot_cycles,
    output logic [SLOT_BITS-1:0]       period,
    output logic [COUNT_BITS-1:0]      repeats,
    output logic [ADDR_BITS-1:0]       staging_base,
    output logic [LANES*NODE_BITS-1:0] peer,
    // table windows: an entry is written with its last word
    output logic                       write_row,
    output logic                       write_arrival,
    output logic                       write_route,
    output logic [15:0]                write_index,
    output logic [certree_ni_pkg::WINDOW_WORDS*32-1:0] write_entry,
    // status
    input  logic                       is_open,
    input  logic                       is_done,
    input  logic [SLOT_BITS-1:0]       slot,
    input  logic [LATE_BITS-1:0]       late_rows,      // of this cycle
    input  logic [6:0]                 errors          // of this cycle
);
  localparam int unsigned WORDS = certree_ni_pkg::WINDOW_WORDS;
  localparam int unsigned WORD_BITS = $clog2(WORDS);  // WORDS is a power of two

  logic        is_running, is_armed;
  logic [6:0]  error;
  logic [certree_ni_pkg::LATE_ROWS_BITS-1:0] late;
  logic [WORDS*32-1:0] words;

  wire is_write = psel && penable && pwrite;
  wire is_register = paddr[23:8] == 0;
  wire is_peer = paddr[23:8] == 1 && 32'(paddr[7:2]) < LANES;
  wire is_window = paddr[23:20] >= 1 && paddr[23:20] <= 3;
  wire [19:0] word = paddr[19:0] >> 2;
  wire is_last_word = 32'(word) % WORDS == WORDS - 1;

  assign pready = 1'b1;
  assign start = is_write && paddr == 24'h4 && pwdata[0] && !is_running;
  assign arm = is_write && paddr == 24'h4 && pwdata[2] && !is_armed;
  assign clear = is_write && paddr == 24'h4 && pwdata[1];
  assign write_row = is_write && paddr[23:20] == 1 && is_last_word;
  assign write_arrival = is_write && paddr[23:20] == 2 && is_last_word;
  assign write_route = is_write && paddr[23:20] == 3 && is_last_word;
  assign write_index = 16'(word >> WORD_BITS);
  always_comb begin
    write_entry = words;
    write_entry[(WORDS-1)*32+:32] = pwdata;
  end

  logic is_known, is_settable;
  always_comb begin
    prdata = '0;
    is_known = is_peer || is_window;
    is_settable = is_peer || is_window;
    if (is_peer) prdata = 32'(peer[32'(paddr[7:2])*NODE_BITS+:NODE_BITS]);
    if (is_register) begin
      is_known = 1'b1;
      is_settable = 1'b1;
      case (paddr[7:0])
        8'h00: begin prdata = certree_ni_pkg::CERTREE_ID; is_settable = 1'b0; end
        8'h04: prdata = {29'b0, is_armed, 1'b0, is_running};
        8'h08: begin prdata = {29'b0, is_done, is_open, is_running}; is_settable = 1'b0; end
        8'h0c: prdata = {25'b0, error};
        8'h10: prdata = 32'(skew);
        8'h14: prdata = 32'(node);
        8'h18: prdata = 32'(rows);
        8'h1c: prdata = 32'(arrivals);
        8'h20: prdata = 32'(firings);
        8'h24: prdata = 32'(counts);
        8'h28: prdata = 32'(slot_cycles);
        8'h2c: prdata = 32'(period);
        8'h30: prdata = 32'(repeats);
        8'h34: prdata = 32'(staging_base);
        8'h38: begin prdata = 32'(late); is_settable = 1'b0; end
        8'h3c: begin prdata = 32'(slot); is_settable = 1'b0; end
        default: is_known = 1'b0;
      endcase
    end
  end
  assign pslverr = psel && penable && (!is_known || (pwrite && !is_settable));

  always_ff @(posedge clk) begin
    if (rst) begin
      is_running <= 1'b0;
      is_armed <= 1'b0;
      error <= '0;
      late <= '0;
      words <= '0;
      skew <= '0;
      node <= '0;
      rows <= '0;
      arrivals <= '0;
      firings <= '0;
      counts <= '0;
      slot_cycles <= CYCLE_BITS'(certree_ni_pkg::SLOT_CYCLES);
      period <= SLOT_BITS'(certree_ni_pkg::PERIOD);
      repeats <= COUNT_BITS'(certree_ni_pkg::REPEATS);
      staging_base <= '0;
      peer <= '1;
    end else begin
      is_running <= (is_running || start) && !clear;
      is_armed <= (is_armed || arm) && !clear;
      late <= clear ? '0 : late + certree_ni_pkg::LATE_ROWS_BITS'(late_rows);
      error <= clear ? '0 : (is_write && paddr == 24'hc ? error & ~pwdata[6:0] : error) | errors;
      if (is_write && is_window) words[(32'(word) % WORDS)*32+:32] <= pwdata;
      if (is_write && is_peer) peer[32'(paddr[7:2])*NODE_BITS+:NODE_BITS] <= pwdata[NODE_BITS-1:0];
      if (is_write && is_register) begin
        case (paddr[7:0])
          8'h10: skew <= pwdata[CYCLE_BITS-1:0];
          8'h14: node <= pwdata[NODE_BITS-1:0];
          8'h18: rows <= pwdata[certree_ni_pkg::ROW_INDEX_BITS:0];
          8'h1c: arrivals <= pwdata[certree_ni_pkg::LINE_BITS:0];
          8'h20: firings <= pwdata[FIRED_BITS-1:0];
          8'h24: counts <= pwdata[TOTAL_BITS-1:0];
          8'h28: slot_cycles <= pwdata[CYCLE_BITS-1:0];
          8'h2c: period <= pwdata[SLOT_BITS-1:0];
          8'h30: repeats <= pwdata[COUNT_BITS-1:0];
          8'h34: staging_base <= pwdata[ADDR_BITS-1:0];
          default: ;
        endcase
      end
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_registers_properties.svh"
`endif
endmodule
