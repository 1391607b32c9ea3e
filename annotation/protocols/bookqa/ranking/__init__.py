"""Passages of a book ranked for questions, and what rankers learn from."""
