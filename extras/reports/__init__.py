"""Reports: what people look at.

- `pictures`: networks and schedules as SVG; `make`: views of schedules, bounds and runs, plots, and their files
- `pages`: self-contained HTML reports
- `command`: draw, report
"""
