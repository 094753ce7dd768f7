"""Methods for collectives of some endpoints; registered where they are defined."""
