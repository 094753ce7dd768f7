"""Commands that show something: draw, report."""
