"""Symmetric schedules: base transfers and a group that moves them (`symmetric`), and their files (`symmetric_file`)."""
