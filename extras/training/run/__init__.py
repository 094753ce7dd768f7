"""Training: iterations of a workload on a network.

- `settings`: what a run is asked for; `timers`: seconds of collectives; `runs`: a run of settings; `what_if`: changes
  of a run, and what each saves; `running`: `train`
- `joint_lists`: the collectives of an iteration, of all groups of ranks, for joint schedules
- `reports`: JSON document, words, and a timeline for Perfetto
"""
