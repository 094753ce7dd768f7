"""Plots: `figure` says what is drawn, `plots` draws it with matplotlib."""
