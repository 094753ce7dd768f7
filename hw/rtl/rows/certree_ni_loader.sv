// Watches an image as it is written through the port (B3, B7): the CRC-32 of all its words, four bits in a cycle, and the numbers of
// its lines. A word of an image takes eight cycles. With its own CRC behind it an image leaves RESIDUE.
module certree_ni_loader (
    input  logic        clk,
    input  logic        rst,
    input  logic        load,          // a new image begins
    input  logic        drop,          // nothing is loaded any more
    // a word of an image is on the port, until it is taken
    input  logic        is_word,
    input  logic [31:0] word,
    output logic        is_taken,
    // entries of a table that are stored, with their place in it
    input  logic        write_row,
    input  logic        write_arrival,
    input  logic        write_route,
    input  logic [15:0] write_index,
    // numbers of the header
    input  logic [certree_ni_pkg::ROW_INDEX_BITS:0]   rows,
    input  logic [certree_ni_pkg::LINE_BITS:0]        arrivals,
    input  logic [certree_ni_pkg::ROUTE_DEPTH_BITS:0] routes,
    // its last word, the CRC, is on the port
    input  logic        write_crc,
    output logic        is_loading,    // since `load`
    output logic        is_loaded,     // the image is whole
    output logic        is_wrong       // the CRC that is written, or a number, is not that of the image
);
  logic [31:0] crc;
  logic [2:0]  place;  // of the four bits
  logic        is_out_of_order;
  logic [certree_ni_pkg::ROW_INDEX_BITS:0]   rows_written;
  logic [certree_ni_pkg::LINE_BITS:0]        arrivals_written;
  logic [certree_ni_pkg::ROUTE_DEPTH_BITS:0] routes_written;

  localparam logic [31:0] RESIDUE = 32'hdebb20e3;

  // IEEE 802.3, reflected: the least significant bit goes in first.
  logic [31:0] crc_next;
  always_comb begin
    crc_next = crc;
    for (int unsigned i = 0; i < 4; i++) begin
      crc_next = (crc_next[0] ^ word[32'(place)*4+i]) ? (crc_next >> 1) ^ 32'hedb88320 : crc_next >> 1;
    end
  end

  wire is_right = crc_next == RESIDUE && !is_out_of_order && rows_written == rows && arrivals_written == arrivals && routes_written == routes;
  assign is_taken = !is_loading || place == 7;
  assign is_wrong = write_crc && is_loading && !is_right;

  always_ff @(posedge clk) begin
    if (rst || drop || load) begin
      is_loading <= load && !rst && !drop;
      is_loaded <= 1'b0;
      place <= '0;
      crc <= '1;
      is_out_of_order <= 1'b0;
      rows_written <= '0;
      arrivals_written <= '0;
      routes_written <= '0;
    end else if (is_loading) begin
      if (is_word) begin
        crc <= crc_next;
        place <= place + 1'b1;
        is_loaded <= write_crc && is_right;
      end
      if (write_row) rows_written <= rows_written + 1'b1;
      if (write_arrival) arrivals_written <= arrivals_written + 1'b1;
      if (write_route) routes_written <= routes_written + 1'b1;
      if ((write_row && write_index != 16'(rows_written)) || (write_arrival && write_index != 16'(arrivals_written))
          || (write_route && write_index != 16'(routes_written))) is_out_of_order <= 1'b1;
    end
  end

`ifdef CERTREE_CHECK
`include "certree_ni_property.svh"
`include "certree_ni_loader_properties.svh"
`endif
endmodule
