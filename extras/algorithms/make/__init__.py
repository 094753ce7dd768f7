"""The builder of schedules (`builder`), its rows (`written_rows`), Python functions as methods (`python_methods`), data frames."""
