"""From a schedule to the answer of the proved checker."""
