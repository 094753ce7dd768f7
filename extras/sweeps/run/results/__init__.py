"""Results: `table`, rows as CSV, Parquet and DataFrames; `figures`, plots by axis; `compared`, methods that were compared."""
