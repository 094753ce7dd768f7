"""The trusted encoder: `encode` selects the formula, `spread` and `sums` build it, `chunk_order` breaks one symmetry; `run_encoder`
is that of runs in fine slots."""
