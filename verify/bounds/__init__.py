"""Lower bounds: documents with a witness, re-checked exactly; `witnesses`: one file per kind, `cheap`: bounds without a search."""
