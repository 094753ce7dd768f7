"""Programs that write tables of this repository: `matrix` docs/reference/coverage.md, `certified` docs/benchmarks/certified.md,
`deployed` docs/benchmarks/deployed.md."""
