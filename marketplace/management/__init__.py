"""Commands for the host of the marketplace."""
