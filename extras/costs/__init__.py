"""Costs: times of schedules by cost models of the literature, and methods that choose by them.

- `model`: the models, counts of schedules in their terms, flows that share links, and fits of parameters to measured times
- `make`: GenTree, which picks a plan for each switch by GenModel; `methods`: the synthesis methods of this extra
- `run`: costs of schedules and methods, flows timed on a network, fits and benchmarks on this computer
- `command`: cost, fit, measure, and the engine `flow` of simulate
"""
