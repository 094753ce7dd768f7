"""The makers: topology -> schedule."""
