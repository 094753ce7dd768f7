"""Methods that make schedules of one order; registered where they are defined."""
