"""Verdicts on what workers made, the requester's pages, and releases of the dataset."""
