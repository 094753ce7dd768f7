"""Commands for the papers: gallery, reproduce."""
