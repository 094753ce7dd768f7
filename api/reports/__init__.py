"""Results as JSON documents and in words: `schedules`, `frontiers`, `runs`; `text`: sizes, gaps and names in words."""
