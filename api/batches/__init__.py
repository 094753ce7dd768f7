"""Verification of many files at once: `paths` finds and verifies them, `reports` writes the results as JUnit XML and SARIF."""
