"""The formats jax and stablehlo of `certree export`."""
