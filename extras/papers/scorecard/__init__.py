"""The scorecard: a line for each figure, table, equation, algorithm and claim of the five papers, with what certree finds of it.

- `checks`: functions that compute what a paper states and no target has, a module for each paper
"""
