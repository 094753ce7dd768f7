"""Lower bounds: documents with a witness, re-checked exactly; `witnesses`: one file per kind, `cheap`: bounds without a search;
`classes`: what each of them assumes; `instance`: what they are for; `timed`: bounds on the time of a run, `times`: one file per
kind of their witnesses."""
