// Registers and table windows behind an APB port of 32 bits (certree_ni.rdl). An address that does not exist, a write to what can
// only be read, and an image that is written while none may be, is an error.
module certree_ni_registers #(
    parameter int unsigned LANES = certree_ni_pkg::TX_LANES,
    parameter int unsigned NODE_BITS = certree_ni_pkg::NODE_BITS,
    parameter int unsigned CYCLE_BITS = certree_ni_pkg::CYCLE_BITS,
    parameter int unsigned SLOT_BITS = certree_ni_pkg::ABSOLUTE_SLOT_BITS,
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
    output logic                       load,           // a new image begins
    output logic                       arm,            // it may open
    output logic                       start,
    output logic                       clear,          // everything but tables and settings to its state after reset
    output logic [CYCLE_BITS-1:0]      skew,
    output logic [NODE_BITS-1:0]       node,
    output logic [LANES*NODE_BITS-1:0] peer,
    // image: words, those of the header with their number; an entry of a table is written with its last word
    output logic                       is_word,
    output logic                       write_header,
    output logic [3:0]                 header_word,
    output logic                       write_crc,
    output logic                       write_row,
    output logic                       write_arrival,
    output logic                       write_route,
    output logic [15:0]                write_index,
    output logic [certree_ni_pkg::WINDOW_WORDS*32-1:0] write_entry,
    input  logic                       is_taken,
    input  logic                       is_loaded,
    // status
    input  logic                       stops,          // the tables that have opened wait for a start of their own
    input  logic                       is_armed,
    input  logic                       is_open,
    input  logic                       is_done,
    input  logic                       open_bank,
    input  logic [15:0]                epoch,
    input  logic [SLOT_BITS-1:0]       slot,
    input  logic [LATE_BITS-1:0]       late_rows,      // of this cycle
    input  logic [9:0]                 errors,         // of this cycle
    input  logic [NODE_BITS-1:0]       mixed_source    // of a message of another epoch
);
  localparam int unsigned WORDS = certree_ni_pkg::WINDOW_WORDS;
  localparam int unsigned WORD_BITS = $clog2(WORDS);  // WORDS is a power of two
  localparam logic [3:0] CRC_WORD = 4'd10;

  logic                 is_running;
  logic [9:0]           error;
  logic [NODE_BITS-1:0] mixed;
  logic [certree_ni_pkg::LATE_ROWS_BITS-1:0] late;
  logic [WORDS*32-1:0]  words;

  wire is_write = psel && penable && pwrite;
  wire is_stored = is_write && pready;
  wire is_register = paddr[23:8] == 0;
  wire is_control = is_stored && paddr == 24'h4;
  wire is_peer = paddr[23:8] == 1 && 32'(paddr[7:2]) < LANES;
  wire is_header = is_register && paddr[7:6] == 1 && paddr[5:2] <= CRC_WORD;
  wire is_window = paddr[23:20] >= 1 && paddr[23:20] <= 3;
  wire is_image = is_header || is_window;  // which cannot be written while it is armed
  wire [19:0] word = paddr[19:0] >> 2;
  wire is_last_word = 32'(word) % WORDS == WORDS - 1;

  assign header_word = paddr[5:2];
  assign is_word = is_write && !is_armed && is_image;
  assign pready = !is_word || is_taken;
  assign load = is_control && pwdata[3] && !is_armed;
  assign start = is_control && pwdata[0] && !is_running;
  assign arm = is_control && pwdata[2];
  assign clear = is_control && pwdata[1];
  assign write_header = is_stored && !is_armed && is_header && header_word != CRC_WORD;
  assign write_crc = is_stored && !is_armed && is_header && header_word == CRC_WORD;
  assign write_row = is_stored && !is_armed && paddr[23:20] == 1 && is_last_word;
  assign write_arrival = is_stored && !is_armed && paddr[23:20] == 2 && is_last_word;
  assign write_route = is_stored && !is_armed && paddr[23:20] == 3 && is_last_word;
  assign write_index = 16'(word >> WORD_BITS);
  always_comb begin
    write_entry = words;
    write_entry[(WORDS-1)*32+:32] = pwdata;
  end

  logic is_known, is_settable;
  always_comb begin
    prdata = '0;
    is_known = is_peer || is_window || is_header;
    is_settable = is_known;
    if (is_register && !is_header) begin
      is_known = 1'b1;
      case (paddr[7:0])
        8'h00: prdata = certree_ni_pkg::CERTREE_ID;
        8'h04: is_settable = 1'b1;
        8'h08: prdata = {26'b0, open_bank, is_loaded, is_armed, is_done, is_open, is_running};
        8'h0c: begin prdata = 32'(error); is_settable = 1'b1; end
        8'h10, 8'h14: is_settable = 1'b1;
        8'h18: prdata = 32'(late);
        8'h1c: prdata = 32'(slot);
        8'h20: prdata = 32'(epoch);
        8'h24: prdata = 32'(mixed);
        default: is_known = 1'b0;
      endcase
    end
  end
  assign pslverr = psel && penable && (!is_known || (pwrite && (!is_settable || (is_image && is_armed))));

  always_ff @(posedge clk) begin
    if (rst) begin
      is_running <= 1'b0;
      error <= '0;
      mixed <= '0;
      late <= '0;
      words <= '0;
      skew <= '0;
      node <= '0;
      peer <= '1;
    end else begin
      is_running <= (is_running || start) && !clear && !stops;
      late <= clear ? '0 : late + certree_ni_pkg::LATE_ROWS_BITS'(late_rows);
      error <= clear ? '0 : (is_write && paddr == 24'hc ? error & ~pwdata[9:0] : error) | errors;
      if (errors[8] && !error[8]) mixed <= mixed_source;
      if (is_write && is_window) words[(32'(word) % WORDS)*32+:32] <= pwdata;
      if (is_write && is_peer) peer[32'(paddr[7:2])*NODE_BITS+:NODE_BITS] <= pwdata[NODE_BITS-1:0];
      if (is_write && paddr == 24'h10) skew <= pwdata[CYCLE_BITS-1:0];
      if (is_write && paddr == 24'h14) node <= pwdata[NODE_BITS-1:0];
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_registers_properties.svh"
`endif
endmodule
