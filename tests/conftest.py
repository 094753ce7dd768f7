"""Profiles of property tests: none fails because the machine is busy; `make test` draws the same examples in every run."""

from hypothesis import HealthCheck, settings

settings.register_profile("certree", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("certree"), derandomize=False, max_examples=2000, print_blob=True)
settings.load_profile("certree")
