"""Pictures: `drawing` of networks and results as files; `figure` says what a plot shows, `plots` draws it with matplotlib,
`plotting` says whether that is installed."""
