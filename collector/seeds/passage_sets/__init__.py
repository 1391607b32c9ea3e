"""Draws sets of one to three passages that belong together, of documents without hyperlinks."""
