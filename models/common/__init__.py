"""Helpers for all parts of certree: errors, registries, budgets, files and checked columns; `folders`: outputs that appear whole;
`extras`: what extras add."""
