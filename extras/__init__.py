"""Extras: one folder for each subject. Each stands on the kernel and on the extras before it.

In this order:

- `algorithms`: a builder of schedules, and Python functions as methods
- `workers`: processes of this computer and of clusters, and searches that are spread over them
- `tla`: the TLA+ models, and tables, traces and proofs checked with them
- `opinion`: a second opinion on schedules, by a checker in plain Python that was written separately
- `proved`: the checker with a proof, run next to that of the kernel
- `aggregation`: all-reduces in switches, packet by packet, with windows and loss
- `endpoints`: what collectives cost where they start and end: buses, accelerators, engines
- `flits`: flits of the MultiTree paper as bits, and sizes of tables
- `groups`: collectives of some endpoints, whose data others relay
- `levels`: collectives level by level, for hundreds of endpoints
- `joint`: several collectives at once, in one schedule
- `orders`: schedules whose chunks are all added in one order, and bounds on them
- `improvement`: a faster schedule from a valid one
- `frontiers`: the best schedules of small networks by chunks, steps and rounds, with proofs
- `costs`: cost models of the literature, their parameters, and the methods that choose by them
- `reports`: pictures, plots and HTML reports
- `bundles`: a schedule or frontier with all its evidence in one file
- `runtimes`: programs of communication libraries, and execution with real processes and data
- `xla`: schedules as Python modules for JAX, and execution on its devices
- `pallas`: schedules as kernels for TPUs, and a checker of such kernels over all interleavings
- `goals`: schedules that hardware, TLC or an executor can take, and what that costs
- `clusters`: networks of machines that people have: boxes by name, and descriptions by other tools
- `sweeps`: many networks, sizes and methods at once; the best schedule for each range of sizes
- `training`: iterations of a workload whose collectives overlap with computing
- `designs`: networks compared by performance, failures, training time and cost
- `papers`: figures and tables of papers, computed again

The kernel imports none of them. `extra.py` of each states what it adds, `api.pyi` its names in `certree.api`, and its folder
`command` its commands.
"""
