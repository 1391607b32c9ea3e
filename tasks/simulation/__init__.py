"""Simulated workers: they use the marketplace and the pages as a person's browser would."""
