// An error stays until it is written 1 (or CLEAR), and none is lost; an address that cannot be written is refused.
logic was_reset;
initial was_reset = 1'b0;
logic [6:0] held, expected;
logic [certree_ni_pkg::LATE_ROWS_BITS-1:0] held_late;
wire  [6:0] cleared = psel && penable && pwrite && paddr == 24'hc ? pwdata[6:0] : 7'd0;
assign expected = psel && penable && pwrite && paddr == 24'h4 && pwdata[1] ? 7'd0 : (held & ~cleared) | errors;
always @(posedge clk) begin
  was_reset <= was_reset | rst;
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
`CERTREE_PROPERTY(registers_start_once, !start || (psel && penable && pwrite && paddr == 24'h4 && pwdata[0] && !is_running))
`CERTREE_PROPERTY(registers_write_one_table, 2'(write_row) + 2'(write_arrival) + 2'(write_route) <= 2'd1)
`CERTREE_PROPERTY(registers_refuse_other_addresses, !(psel && penable && pwrite && (paddr == 24'h0 || paddr == 24'h8 || paddr == 24'h38 || paddr == 24'h3c || (paddr > 24'h3f && paddr < 24'h100))) || pslverr)
