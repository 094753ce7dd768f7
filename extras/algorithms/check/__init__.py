"""The conformance suite: what the entries that a module registers must do (`conformance`), by kind (`entry_checks`)."""
