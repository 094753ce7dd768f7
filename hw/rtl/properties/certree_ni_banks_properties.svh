// B3, B4, B5 (TLA+: Load!IsNext, Tick!IsLoaded, OpenImageStays): a bank opens only with an image that is whole and, but for the first,
// of the next epoch; nothing is written to the bank that is open; rows are read ahead only of an image that will open.
logic was_reset;
initial was_reset = 1'b0;
logic        was_armed_right;  // the armed image was whole and of the next epoch when it was armed
logic        is_first_open, its_bank;
logic [15:0] its_epoch, armed_epoch;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst) begin
    was_armed_right <= 1'b0;
    is_first_open <= 1'b0;
    its_bank <= 1'b0;
    its_epoch <= '0;
  end else begin
    if (arm && !is_first_open && (is_loaded || !is_loading)) begin
      is_first_open <= 1'b1;
      its_epoch <= next_epoch;
    end else if (takes_over) begin
      its_bank <= !its_bank;
      its_epoch <= its_epoch + 1'b1;
      was_armed_right <= 1'b0;
    end
    if (arm && is_first_open && !is_armed) begin
      was_armed_right <= is_loaded && next_epoch == its_epoch + 1'b1 && !is_past && !takes_over;
      armed_epoch <= next_epoch;
    end
  end
end
`ifdef FORMAL
always @(posedge clk) begin
  if (!was_reset) assume (rst);
  assume (!takes_over || (is_over && is_ahead));
  assume (!write_header || !(is_armed || arm));  // the port refuses it, and does one thing in a cycle
end
`endif
`CERTREE_PROPERTY(banks_open_one_after_the_other, open_bank == its_bank && epoch == its_epoch && has_tables == is_first_open)
`CERTREE_PROPERTY(banks_arm_whole_images_of_the_next_epoch, is_armed == was_armed_right && (!is_armed || (armed_epoch == its_epoch + 1'b1 && next_epoch == armed_epoch)))
`CERTREE_PROPERTY(banks_read_ahead_of_what_will_open, (!is_ahead || is_armed) && (!is_armed || has_tables) && (!begins || has_tables))
`CERTREE_PROPERTY(banks_load_what_is_not_open, load_bank == (open_bank ^ has_tables))
`CERTREE_PROPERTY(banks_report_what_may_not_open, !arm || is_refused || is_missed || is_armed || !is_first_open || (is_loaded && next_epoch == its_epoch + 1'b1))
`CERTREE_PROPERTY(banks_report_what_did_not_open, !(is_over && is_armed && !is_ahead) || is_missed)
// B7: the numbers of the open bank, and those by which rows are read, are words of the header that was written last before it opened.
localparam int unsigned HEADER_BITS = 10 * 32;
localparam logic [HEADER_BITS-1:0] MEANT = {
  32'({SLOT_BITS{1'b1}}), 32'b0, 32'({COUNT_BITS{1'b1}}), 32'({SLOT_BITS{1'b1}}), 32'({CYCLE_BITS{1'b1}}), 32'({TOTAL_BITS{1'b1}}),
  32'({FIRED_BITS{1'b1}}), 32'({certree_ni_pkg::LINE_BITS+1{1'b1}}), 32'({certree_ni_pkg::ROW_INDEX_BITS+1{1'b1}}), 32'hffff
};
logic [HEADER_BITS-1:0] written, is_written, opened, was_written;  // words, and which bits were written since the reset
always @(posedge clk) begin
  for (int unsigned w = 0; w < 10; w++) begin
    if (write_header && header_word == 4'(w)) begin
      written[32*w+:32] <= word;
      is_written[32*w+:32] <= MEANT[32*w+:32];
    end
  end
  if (takes_over || (arm && !is_first_open && (is_loaded || !is_loading))) begin
    opened <= written;
    was_written <= is_written;
  end
  if (rst) begin
    is_written <= '0;
    was_written <= '0;
  end
end
wire [HEADER_BITS-1:0] waits = {
  32'(next_boundary), 32'b0, 32'(next_repeats), 32'(next_period), 32'(next_slot_cycles), 32'(next_counts), 32'(next_firings),
  32'(next_arrivals), 32'(next_rows), 32'(next_epoch)
};
wire [HEADER_BITS-1:0] shown = {
  32'(boundary), 32'b0, 32'(repeats), 32'(period), 32'(slot_cycles), 32'(counts), 32'(firings), 32'(arrivals), 32'(rows), 32'(epoch)
};
localparam logic [HEADER_BITS-1:0] OF_ROWS = {64'b0, {64{1'b1}}, 64'b0, {32{1'b1}}, 32'b0, {32{1'b1}}, 32'b0};
wire [HEADER_BITS-1:0] read_by = {64'b0, 32'(read_repeats), 32'(read_period), 64'b0, 32'(read_firings), 32'b0, 32'(read_rows), 32'b0};
`CERTREE_PROPERTY(banks_keep_what_is_written, ((waits ^ written) & is_written) == 0)
`CERTREE_PROPERTY(banks_open_with_the_numbers_of_their_header, ((shown ^ opened) & was_written) == 0)
`CERTREE_PROPERTY(banks_read_by_the_numbers_of_their_header, (OF_ROWS & (is_ahead ? (read_by ^ written) & is_written : (read_by ^ opened) & was_written)) == 0)
