"""Schema history of the marketplace database."""
