"""Permute programs and their files.

- `permute_program`: steps of permutes, and the tables that say what each device sends, takes and keeps
- `jax_module`: Python modules with such a program, written and read without executing them; `packed`: arrays as text
"""
