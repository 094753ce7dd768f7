// Of the proof of the top: rows stand in the window in the order in which they were read, and so do their slots.
logic was_reset;
initial was_reset = 1'b0;
logic [SLOT_BITS-1:0] pushed, before;  // the slot of the last row that was read; that of the row before, from the oldest on
logic                 is_in_order;
logic [ROWS-1:0]      its_place;
logic                 has_gap;  // a place without a row, from the oldest on
always_comb begin
  is_in_order = first != 0 && (first & (first - 1'b1)) == 0 && next != 0 && (next & (next - 1'b1)) == 0;
  before = '0;
  has_gap = 1'b0;
  its_place = first;
  for (int unsigned age = 0; age < ROWS; age++) begin
    for (int unsigned w = 0; w < ROWS; w++) begin
      if (its_place[w] && is_used[w]) begin
        if (has_gap || due[w*SLOT_BITS+:SLOT_BITS] < before || due[w*SLOT_BITS+:SLOT_BITS] > pushed) is_in_order = 1'b0;
        before = due[w*SLOT_BITS+:SLOT_BITS];
      end
    end
    if ((its_place & is_used) == 0) begin
      if (!has_gap && next != its_place) is_in_order = 1'b0;
      has_gap = 1'b1;
    end
    its_place = ROWS'({its_place, its_place} >> (ROWS - 1));
  end
  if (!has_gap && next != first) is_in_order = 1'b0;
end
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  if (rst) pushed <= '0;
  else if (push) pushed <= push_slot;
  if (!was_reset) assume (rst);  // as of the top
end
`CERTREE_PROPERTY(top_window_is_in_order, is_in_order)
