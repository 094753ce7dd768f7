"""Lowerings of schedules, one in each file; consumers find them by the parts of forms that they remove."""
