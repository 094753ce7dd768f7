"""Training: iterations of a workload on a network.

- `settings`: what a run is asked for; `timers`: seconds of collectives; `running`: `train`; `changes`: what-if
- `reports`: JSON document, words, and a timeline for Perfetto
"""
