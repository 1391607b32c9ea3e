"""Takes in results of MTurk's time: read, mapped to a protocol's forms, and stored as work."""
