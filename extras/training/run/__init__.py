"""Training: iterations of a workload on a network.

- `settings`: what a run is asked for; `timers`: seconds of collectives; `runs`: a run of settings; `what_if`: changes
  of a run, and what each saves; `running`: `train`
- `reports`: JSON document, words, and a timeline for Perfetto
"""
