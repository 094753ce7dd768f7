"""Commands for cost models: cost, fit, measure."""
