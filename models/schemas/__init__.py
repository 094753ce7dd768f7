"""Forms of files: classes whose annotations say what a document holds, and the JSON schemas that follow from them.

- `form`: JSON schemas from annotations
- `networks`: topology and machine; `schedule_forms`: schedule and symmetric schedule; `evidence_forms`: certificate and
  deadlock
"""
