"""Search for lower bounds: `find` collects the best witness of each kind, `tolls` finds those of directed links, `weights` lengths
for all-to-alls, `by_loads` quickly from a schedule for a demand; `quickest` bounds the time of a run."""
