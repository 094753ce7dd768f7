"""The interactive view of a schedule: its transfers over time, by step, chunk, channel and node, in pictures and reports.

- `document`: data of the view; `packing`: columns of numbers in it
- `page`: the view as a page of its own; `cell`: in a notebook
- `templates`: templates and other assets of pages
- `assets`: the view, its style and its scripts
"""
