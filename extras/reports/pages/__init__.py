"""Self-contained HTML reports.

- `report`: the verb; `subjects`: what is reported on, with all results; `facts`: results as rows and words for the page
- `timing`: times over sizes, against bounds and published algorithms; `viewer`: data of the interactive view
- `assets`: the page, its style and its scripts
"""
