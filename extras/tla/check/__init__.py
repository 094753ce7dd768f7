"""TLA+ models, tables and traces checked with TLC.

- `tlc`, `tlc_jar`, `tlc_values`: running TLC and reading its output; `model_runs`: runs of generated modules, several at once
- `model_file`: `specs/models.toml`; `models`: comparison with its expected results
- `generated`: data as the constants of a module
- `table_model`, `table_constants`: the tables of a schedule as model; `counterexample`, `step_table`: failed checks in words
- `paced`: tables whose rows are paced, at any timing
- `routers`: the messages of a schedule in routers, flit by flit
- `traces`: simulator traces as behaviours of the specification; `symbolic`: the proof for tables of any size
"""
