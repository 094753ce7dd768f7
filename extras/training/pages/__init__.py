"""HTML pages of training runs."""
