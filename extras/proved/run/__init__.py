"""The answer of the proved checker to a schedule."""
