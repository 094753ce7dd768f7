"""Commands that run something: simulate, inject, endpoints, aggregate."""
