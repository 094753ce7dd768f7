"""Hardware parameters: `machine` (links, interfaces, routers), `endpoint`, presets as TOML files; `clocks` of a run."""
