"""Permute programs and their files, and StableHLO.

- `permute_program`: steps of permutes, and the tables that say what each device sends, takes and keeps
- `jax_module`: Python modules with such a program; `template_module`: modules that are a template with other constants, written and
  read without executing them; `packed`: arrays as text
- `hlo`: StableHLO modules as plain data; `hlo_reader`: from text and bytecode, by the parser of jaxlib
  in a process of its own, which is `hlo_child`
- `child_process`: processes of scripts of this extra
"""
