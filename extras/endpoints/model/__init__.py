"""Parameters of endpoints, presets as TOML files in `presets`, and traces of their engines."""
