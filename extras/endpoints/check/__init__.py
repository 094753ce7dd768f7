"""Traces of engines as behaviours of `AceEngine.tla`, with the messages of the schedule that ran."""
