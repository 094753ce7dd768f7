"""Search for lower bounds: `find` collects the best witness of each kind; `tolls` finds those of directed links, `weights` lengths
for all-to-alls, `by_loads` lengths for a demand from a schedule; `quickest` bounds the time of a run."""
