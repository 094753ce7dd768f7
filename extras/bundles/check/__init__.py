"""Re-checking of bundles: `checking`: verify_bundle; `documents`: its result as JSON and in words."""
