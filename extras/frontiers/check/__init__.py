"""`frontier_report`: a verdict as a JSON document and in words."""
