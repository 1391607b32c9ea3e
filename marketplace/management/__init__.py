"""Commands for whoever hosts the marketplace."""
