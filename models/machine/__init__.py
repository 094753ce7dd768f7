"""Hardware parameters: `machine` (links and interfaces), `router`, `endpoint`, and presets as TOML files."""
