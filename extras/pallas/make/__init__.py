"""From a schedule to a kernel plan."""
