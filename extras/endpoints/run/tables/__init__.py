"""Runs of tables with endpoints, in the one machine of `simulate`: endpoints of a system, iterations, runs that bound others, and
the machine that parameters of endpoints describe.
"""
