"""Execution of kernels: `pallas_executor` is `certree execute --on pallas`."""
