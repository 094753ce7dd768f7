"""Symmetric schedules: base transfers and a group that moves them (`symmetric_schedule`), and their files (`symmetric_file`)."""
