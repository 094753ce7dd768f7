"""Lower bounds: documents with a witness, which is re-checked exactly. `witnesses` has one file for each kind of witness, `cheap`
the bounds that need no search, `classes` the assumptions of each bound, `instance` the instance that a bound applies to, `timed`
the bounds on the time of a run, and `times` one file for each kind of their witnesses."""
