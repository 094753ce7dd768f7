"""Programs for those who change the TLA+ modules: `python -m tools.specs kills`, and `edits` and `guards` of modules.

- `mutants`: which property refutes which mutant of the models, `specs/KILLS.md`
- `definitions`: the definitions of a module that its steps are made of
- `single_edits`: the edits of a definition, by a fixed seed
- `guard_edits`: every edit of guards, updates, fairness and initial values
- `guard_page`: what finds each of those, `specs/EDITS.md`
- `together`: many edits in one module, checked in one run of TLC
- `survey`: all edits of the modules against the models of their families; survivors with the arguments of `specs/edits.toml`
"""
