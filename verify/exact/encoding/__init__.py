"""The trusted encoder: `encode` picks the formula, `spread` and `sums` build it, `chunk_order` breaks one symmetry."""
