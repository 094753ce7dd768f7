"""Questions of existence on small networks.

- `question`: the question and the abstract network; `scratch`: buffers beside accumulators; `rows`: from chosen transfers to rows
- `arcs`: ways of transfers
- `formula`, `encoding`: the trusted formula; `rup`: proofs that it has no model; `refutations`: all kinds of refutation
"""
