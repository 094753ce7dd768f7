"""TLA+ models checked with TLC.

- `tlc`, `tlc_jar`, `tlc_values`: running TLC and reading its answer; `runs`: a module that is generated, and several at once
- `model_file`: `specs/models.toml`; `models`: whether TLC finds what it expects; `mutants`: which property refutes which mutant
- `generated`: data as the constants of a module
- `table_model`, `table_constants`: the tables of a schedule as a model; `counterexample`, `variable_changes`: how a check failed
- `traces`: simulator traces as behaviours of the specification; `symbolic`: the proof for tables of any size
"""
