"""Verification of exported tables: `table_checker` verifies the rows, `dependencies` has the rules for what rows of `trees` wait
for, `counts` those for rows that wait for numbers of arrivals."""
