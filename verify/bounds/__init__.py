"""Lower bounds: documents with a witness, re-checked exactly; `witnesses` has one file per kind, `cheap` those without a search."""
