"""Schedules as programs of communication runtimes.

- `lowering`: from a schedule to thread blocks that send, receive, and wait for each other; `cells`: where they keep their chunks
- `ranks`: execution by processes; `formats`: what `certree export --format` writes of them, one module each
"""
