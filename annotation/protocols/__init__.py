"""The protocols: one folder each, found by file name."""
