"""Pictures of a schedule.

- `uses`: which channel carries which transfer when, and the iterations that a picture shows
- `spacetime`: channels over time; `joint_spacetime`: the same of several collectives at once; `rows`: what both draw
- `load`: channels by how busy they are; `trees`: the tree of each chunk
- `reductions`: the reduction units over time; `violation`: the step in which a rule is broken; `waits`: where messages waited
"""
