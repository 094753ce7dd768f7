"""Accelerators and how long they compute.

- `accelerator`: shapes of layers, and what an accelerator is
- `systolic`: cycles of a layer on systolic arrays, in closed form
- `chips`: chips by their published peaks; `presets/` has one file for each
- `reading`: accelerators by name, from files, and with changed fields
"""
