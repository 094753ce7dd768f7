"""Checks of schedules and of everything that is on a path.

- `checking`: verify, certify, bound; `exactness`: comparison with the best that exists; `verdicts`: outcomes of the check of a
  schedule; `proofs`: proofs of infeasibility as files
- `path_verdicts`: verify_all, many files at once; `reports`: its results for other programs
"""
