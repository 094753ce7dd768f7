"""Many files at once: `paths` finds and verifies them, `reports` writes what was found as JUnit XML and SARIF."""
