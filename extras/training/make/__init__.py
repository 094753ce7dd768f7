"""Pictures of training runs: the `timeline` as SVG."""
