"""Self-contained HTML reports.

- `report`: the verb; `subjects`: what is reported on, with all results; `facts`: results as rows and words for the page
- `timing`: times over sizes, against bounds and published algorithms
- `joint_page`: the page on several collectives at once
- `assets`: the pages
"""
