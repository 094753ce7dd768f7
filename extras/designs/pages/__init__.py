"""The interactive page of a comparison of designs; `assets` has its template, style and script."""
