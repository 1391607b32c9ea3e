"""The first page, signing in, and coming in with a code."""
