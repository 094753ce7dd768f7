// `is_done` is about the tables that are open (B4, B8). The bank's numbers change with a take-over, and when the first image opens: reading
// begins in the cycle behind, the only one in which it may be about nothing; when rows of the next image are read,
// it is about the old one still. In lockstep tables take over from those whose rows have all fired and whose arrivals have all counted.
`CERTREE_PROPERTY(done_is_about_the_open_tables, !is_done || (begins && !is_ahead) || rows_fired == firings)
`CERTREE_PROPERTY(done_before_others_take_over, certree_ni_pkg::IS_LOCKSTEP == 0 || !takes_over || (rows_fired == firings && total_next == counts))
