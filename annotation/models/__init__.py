"""The rows of what we believe and release."""
