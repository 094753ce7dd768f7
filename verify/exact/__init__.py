"""Questions of existence on small networks.

- `question`: the question and the abstract network; `scratch`: buffers next to accumulators; `rows`: from chosen transfers to rows
- `run_question`: the question about runs in fine slots, in cycles
- `arcs`: paths of single transfers; `rivals`: the points that could be as good as another
- `formula`, `encoding`: the trusted formula; `rup`: proofs that it has no model; `refutations`: all kinds of refutation
"""
