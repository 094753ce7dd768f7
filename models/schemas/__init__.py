"""Forms of all files: classes whose annotations say what a document holds, and the JSON schemas that follow from them.

- `form`: JSON schemas from annotations
- `networks`: topology and machine; `schedule_forms`: schedule and symmetric schedule; `evidence_forms`: certificate, deadlock
  and bundle
- `workloads`: layers of a network under training
"""
