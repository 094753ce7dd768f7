"""Hardware parameters: `machine` (links, interfaces, routers), presets as TOML files; `clocks` of a run."""
