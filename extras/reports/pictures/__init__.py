"""Pictures of networks and schedules as SVG: plain text, the same bytes for the same input.

- `svg`: shapes; `colours`; `curves`: lines between nodes
- `layout`: places of nodes, `routers`: those of networks of routers; `places`: what both make
- `network`: a network, with damage and parts of speed; `ground`: a network below what a picture is about; `witness`: of a bound
- `trace_timeline`: a run from its trace
- `schedules`: pictures of schedules and their runs; `timetable`: one iteration of a small schedule
"""
