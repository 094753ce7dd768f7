"""Reports: what people look at.

- `pictures`: networks and schedules as SVG; `make`: views of schedules, bounds and runs, plots, and their files
- `explorer`: the interactive view of a schedule; `pages`: self-contained HTML reports
- `command`: draw, report
"""
