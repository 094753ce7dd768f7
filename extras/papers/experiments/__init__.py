"""One module for each kind of experiment that a target file can name: `collectives`, `costs`, `endpoints`, `boxes`,
`training`."""
