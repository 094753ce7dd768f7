"""Results as JSON documents and in words: `schedules`, `frontiers`; `text`: sizes, gaps and names in words."""
