"""Template filters of the worker site."""
