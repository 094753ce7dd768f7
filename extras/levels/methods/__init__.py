"""Methods that go level by level; registered where they are defined."""
