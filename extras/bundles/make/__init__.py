"""Making of bundles: evidence is collected, written, read back and re-checked."""
