"""Training: iterations of a workload on a network.

- `settings`: what a run is asked for; `timers`: seconds of collectives; `runs`: a run of settings; `changes`: what-if;
  `running`: `train`
- `reports`: JSON document, words, and a timeline for Perfetto
"""
