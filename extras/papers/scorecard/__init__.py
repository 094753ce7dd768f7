"""The scorecard: a line for each figure, table, equation, algorithm and claim of the five papers, with what certree finds of it."""
