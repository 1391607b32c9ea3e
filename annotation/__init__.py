"""What we believe, and what we release."""
