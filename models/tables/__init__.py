"""Schedule tables: the rows that network interfaces execute.

- `tables`: the rows and arrivals of all nodes; `table_columns`: their columns, with the checks of shapes and ranges
- `table_form`: checks of rows and arrivals by themselves; `table_memory`: where chunks are in the memory of a node
"""
