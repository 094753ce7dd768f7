"""Programs that write tables of this repository: `matrix` docs/reference/coverage.md, `certified` docs/benchmarks/certified.md,
`deployed` docs/benchmarks/deployed.md, `jax_devices` and `jax_methods` docs/benchmarks/jax.md."""
