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
