"""Execution on devices of JAX.

- `calls`: `ct.jax`, collectives of a schedule on arrays of this process; `modules`: modules of schedules, imported from memory
- `public`: `calls` under the name that the API has for it
- `jax_executor`: `certree execute --on jax`, in a process of its own, which is `jax_child`; `arrays`: inputs and results as arrays
"""
