"""The answer of `certree verify --second-opinion`."""
