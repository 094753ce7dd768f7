"""Hardware parameters: `machine` (links and interfaces), `router`, `endpoint`, presets as TOML files; `clocks` of a run."""
