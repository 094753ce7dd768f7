// An error stays until it is written 1 (or CLEAR), and none is lost; an address that cannot be written is refused.
logic was_reset;
initial was_reset = 1'b0;
logic [9:0] held, expected;
logic       was_started;
logic [certree_ni_pkg::LATE_ROWS_BITS-1:0] held_late;
wire  [9:0] cleared = psel && penable && pwrite && paddr == 24'hc ? pwdata[9:0] : 10'd0;
assign expected = psel && penable && pwrite && paddr == 24'h4 && pwdata[1] ? 10'd0 : (held & ~cleared) | errors;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
  was_started <= !rst && !(psel && penable && pwrite && paddr == 24'h4 && pwdata[1]) && !stops && (was_started | start);
  held <= rst ? '0 : expected;
  held_late <= rst || (psel && penable && pwrite && paddr == 24'h4 && pwdata[1])
      ? '0 : held_late + certree_ni_pkg::LATE_ROWS_BITS'(late_rows);
end
`ifdef FORMAL
always @(posedge clk) if (!was_reset) assume (rst);
`endif
`CERTREE_PROPERTY(registers_lose_no_error, error == held)
`CERTREE_PROPERTY(registers_count_late_rows, late == held_late)
`CERTREE_PROPERTY(registers_show_errors, !(psel && !pwrite && paddr == 24'hc) || prdata == 32'(held))
`CERTREE_PROPERTY(registers_start_once, !start || (psel && penable && pwrite && paddr == 24'h4 && pwdata[0] && !was_started))
`CERTREE_PROPERTY(registers_know_whether_it_runs, is_running == was_started)
`CERTREE_PROPERTY(registers_write_one_table, 2'(write_row) + 2'(write_arrival) + 2'(write_route) <= 2'd1)
`CERTREE_PROPERTY(registers_write_no_armed_image, !is_armed || !(write_row || write_arrival || write_route || write_header || write_crc || load || is_word))
`CERTREE_PROPERTY(registers_wait_for_the_loader, !(write_row || write_arrival || write_route || write_header || write_crc) || (is_word && is_taken))
`CERTREE_PROPERTY(registers_refuse_other_addresses, !(psel && penable && pwrite && (paddr == 24'h0 || paddr == 24'h8 || (paddr >= 24'h18 && paddr < 24'h40) || (paddr > 24'h6b && paddr < 24'h100) || (is_armed && paddr >= 24'h40 && paddr < 24'h6c))) || pslverr)
`CERTREE_PROPERTY(registers_take_what_can_be_set, !(psel && penable && pwrite && (paddr == 24'h4 || paddr == 24'hc || paddr == 24'h10 || paddr == 24'h14 || (paddr >= 24'h100 && 32'(paddr) < 256 + 4 * LANES) || (!is_armed && ((paddr >= 24'h40 && paddr < 24'h6c) || (paddr >= 24'h100000 && paddr < 24'h400000))))) || !pslverr)
`CERTREE_PROPERTY(registers_can_be_read, !(psel && penable && !pwrite && paddr <= 24'h24 && paddr[1:0] == 0) || !pslverr)
