"""Releases and reports of a collection."""
