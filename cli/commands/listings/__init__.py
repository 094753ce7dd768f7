"""Commands that list what there is: list, topology."""
