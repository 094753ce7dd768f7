"""TLA+ models checked with TLC.

- `tlc`, `tlc_jar`, `tlc_values`: running TLC and reading its answer
- `model_list`, `models`, `mutants`: the models of `specs/` and what they must show
- `table_model`, `table_constants`: the tables of a schedule as a model; `counterexample`, `variable_changes`: how a check failed
- `traces`: simulator traces as behaviours of the specification; `symbolic`: the proof for tables of any size
"""
