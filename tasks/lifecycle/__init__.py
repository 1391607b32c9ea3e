"""Publishing a collection, keeping it going, and what is left to finish."""
